import type { Claimed } from '@latchkey/domain/claimed';
import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import type { DocumentedClient } from '@latchkey/store/records';
import { siteOf } from '../limits/limit.ts';
import type { OutboundRequest } from '../outbound/request.ts';
import { createScheduler } from '../outbound/scheduler.ts';
import type { VouchedAddress, Vouchers } from '../vouchers.ts';
import { isAddressOf } from './address.ts';
import { type ClientDocument, readDocument, readInlineKeys, readKeysAlone } from './document.ts';
import { DocumentFailure } from './faults.ts';
import { fetchJson } from './fetch-json.ts';
import type { DocumentHosts } from './hosts.ts';
import {
  createKeptResponses,
  type FetchResult,
  fetchResults,
  type Wanted,
} from './kept-responses.ts';
import type { PublicKey } from './keys.ts';
import type { ClientSchemes } from './redirect-uris.ts';

const MAX_DOCUMENT_BYTES = 10_240;
const MAX_KEYS_BYTES = 65_536;
// A set may be six times as large as a document.
const KEY_SETS_KEPT = 200;
/** Of sets and of documents each. Keys that are read take five times as much. */
const KEY_BYTES_OF_STRANGERS = 2_097_152;

export const DOCUMENT_PLACES = 8;
/** Of these, for addresses that have an application or that the setting names. */
export const PLACES_OF_KNOWN = 2;
export const KEY_PLACES = 4;
/** Of these, for addresses that the operator vouches for: a stranger's own approval makes an application. */
const KEY_PLACES_OF_VOUCHED = 2;
/** That run, and as many more that wait. No more run of a site of IPv6. */
export const FETCHES_OF_CALLER = 2;
/** How long a link waits for a place. */
const PATIENCE: Milliseconds = 5_000;

export interface ClientDocumentOptions {
  clock: Clock;
  hosts: DocumentHosts;
  vouchers: Pick<Vouchers, 'ofAddress'>;
  /** Whether an address is of a client that registered itself: nothing there is fetched. */
  isOwn(address: string): boolean;
  /** Of CLIENT_SCHEMES. */
  schemes: ClientSchemes;
  userAgent: string;
  /** Of OUTBOUND_ALLOW. */
  allowPrivate: boolean;
  /** Then a program on this machine asks, and private addresses are those of its own tests. */
  isOnLoopback: boolean;
  /** See {@link FETCHES_OF_CALLER}. Not where RATE_LIMIT is off. */
  limitsCallers: boolean;
  timeout?: Milliseconds;
  patience?: Milliseconds;
  resolve?: OutboundRequest['resolve'] | undefined;
}

export interface AskedBy {
  caller: string;
  hasApplication: boolean;
}

/** The documents of applications that nobody registered. */
export function createClientDocuments({
  clock,
  hosts,
  vouchers,
  isOwn,
  schemes,
  userAgent,
  allowPrivate,
  isOnLoopback,
  limitsCallers,
  timeout,
  patience = PATIENCE,
  resolve,
}: ClientDocumentOptions) {
  const shared = {
    clock,
    patience,
    isLate: (error: unknown) => error instanceof DocumentFailure && error.fault === 'document_late',
  };
  const ofCallers = limitsCallers ? { perAsker: FETCHES_OF_CALLER } : {};
  const scheduler = createScheduler({
    ...shared,
    places: DOCUMENT_PLACES,
    placesOfKnown: PLACES_OF_KNOWN,
    ...ofCallers,
  });
  const keyScheduler = createScheduler({
    ...shared,
    ...ofCallers,
    places: KEY_PLACES,
    placesOfKnown: KEY_PLACES_OF_VOUCHED,
  });
  const results = Object.fromEntries(fetchResults.map((result) => [result, 0])) as Record<
    FetchResult,
    number
  >;
  const fetchWithin = (maxBytes: number) => async (from: VouchedAddress) => {
    if (isOwn(from.address)) throw new DocumentFailure('document_address_refused');
    return fetchJson(from, {
      userAgent,
      maxBytes,
      // A name of `any` or with a star could lead into the operator's network.
      allowPrivate: allowPrivate && (isOnLoopback || from.voucher === 'operator'),
      ...(timeout === undefined ? {} : { timeout }),
      ...(resolve === undefined ? {} : { resolve }),
    });
  };
  const documents = createKeptResponses<ClientDocument>({
    clock,
    scheduler,
    limitsJoined: limitsCallers,
    fetch: fetchWithin(MAX_DOCUMENT_BYTES),
    read({ address, voucher }, body) {
      const allowed = voucher === 'operator' ? 'all' : schemes;
      return readDocument(address, body, { allowPrivate, schemes: allowed });
    },
    onResult(result) {
      results[result] += 1;
    },
  });
  const ofKeys = {
    clock,
    scheduler: keyScheduler,
    limitsJoined: limitsCallers,
    mostBytesOfStrangers: KEY_BYTES_OF_STRANGERS,
  };
  const keySets = createKeptResponses<PublicKey[]>({
    ...ofKeys,
    fetch: fetchWithin(MAX_KEYS_BYTES),
    read: (_from, body) => readKeysAlone(body),
    most: KEY_SETS_KEPT,
    servesLateWithoutPlace: true,
  });
  // Apart from the documents, which a search for new keys leaves as they are.
  const inlineKeys = createKeptResponses<PublicKey[]>({
    ...ofKeys,
    fetch: fetchWithin(MAX_DOCUMENT_BYTES),
    read: (_from, body) => readInlineKeys(body),
  });
  return {
    /** Whether the document of an address is taken here. Nothing is fetched. */
    isAddress: (text: string) => isAddressOf(text, { allowPrivate }) && hosts.has(text),

    /**
     * @param caller - the address that asks
     * @throws NoPlace, HostFailing or DocumentFailure
     */
    find(address: string, { caller, hasApplication }: AskedBy) {
      const from = vouchers.ofAddress(address);
      const isKnown = hasApplication || from.voucher === 'operator';
      return documents.find({ ...from, asker: caller, site: siteOf(caller), isKnown });
    },

    /**
     * Of an application with the method `private_key_jwt`.
     *
     * @param caller - the address that asks
     */
    keysOf({ uri, jwks_uri }: DocumentedClient, caller: string): ClientKeys {
      const wanted = (address: Claimed<string>): Wanted => {
        const from = vouchers.ofAddress(address);
        const hasOwnPlaces = from.voucher === 'operator';
        return { ...from, asker: caller, site: siteOf(caller), isKnown: true, hasOwnPlaces };
      };
      if (jwks_uri !== null) {
        return {
          find: () => keySets.find(wanted(jwks_uri)),
          refresh: () => keySets.refresh(wanted(jwks_uri)),
        };
      }
      const document = wanted(uri);
      return {
        async find() {
          const known = inlineKeys.peek(document) ?? documents.peek(document)?.keys;
          if (known) return known;
          try {
            return await inlineKeys.find(document);
          } catch (error) {
            const isFinal = error instanceof DocumentFailure && !error.isTemporary;
            const late = documents.peek(document, { mayBeLate: true })?.keys;
            if (late && !isFinal) return late;
            throw error;
          }
        },
        refresh: () => inlineKeys.refresh(document),
      };
    },

    /** How many fetches of documents have ended in which way. */
    results: (): Readonly<Record<FetchResult, number>> => results,

    load: () => ({ documents: scheduler.load(), keys: keyScheduler.load() }),
  };
}

export interface ClientKeys {
  /** @throws NoPlace or DocumentFailure if there are none */
  find(): Promise<Claimed<PublicKey[]>>;
  /** Looks again, at most once a minute; null if that brought nothing. */
  refresh(): Promise<Claimed<PublicKey[]> | null>;
}

export type ClientDocuments = ReturnType<typeof createClientDocuments>;
