import type { Claimed } from '@latchkey/domain/claimed';
import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import type { DocumentedClient, KeptDocument } from '@latchkey/store/records';
import { addressKey } from '../limits/limit.ts';
import type { OutboundRequest } from '../outbound/request.ts';
import { createScheduler, type Turn } from '../outbound/scheduler.ts';
import { openClaim, type VouchedAddress, type Vouchers } from '../vouchers.ts';
import { isAddressOf } from './address.ts';
import { type ClientDocument, readDocument, readInlineKeys, readKeysAlone } from './document.ts';
import { DocumentFailure, isFinal } from './faults.ts';
import { type Fetched, fetchJson } from './fetch-json.ts';
import type { DocumentHosts } from './hosts.ts';
import {
  createKeptResponses,
  type FetchResult,
  fetchResults,
  SERVED_LATE,
  type Wanted,
} from './kept-responses.ts';
import type { PublicKey } from './keys.ts';
import { type ClientSchemes, mayRedirectTo } from './redirect-uris.ts';

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
export const KEY_PLACES_OF_VOUCHED = 1;
/** That run, and as many more that wait. No more run of a site of IPv6. */
export const FETCHES_OF_CALLER = 2;
/** How long a link waits for a place. */
const PATIENCE: Milliseconds = 5_000;

export interface ClientDocumentOptions {
  clock: Clock;
  /** Default: of this machine */
  monotonic?: Clock | undefined;
  hosts: Pick<DocumentHosts, 'has'>;
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
  /** Aborted once the caller has hung up. */
  gone?: AbortSignal | undefined;
  hasApplication: boolean;
  /** What the database has of an address that has an application. Default: there is none */
  kept?: KeptDocument | null | undefined;
  /** Ends that: a fetch for this brought a final answer. */
  end?: (() => Promise<void>) | undefined;
}

type FetchedDocument = Fetched & { document: ClientDocument };

/** As it was fetched. */
interface Held {
  document: ClientDocument;
  /** For the database, until that has it. */
  unwritten: KeptDocument | null;
}

/** The documents of applications that nobody registered. */
export function createClientDocuments({
  clock,
  monotonic,
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
    monotonic,
    patience,
    perAsker: limitsCallers ? FETCHES_OF_CALLER : undefined,
    isLate: (error: unknown) => error instanceof DocumentFailure && error.fault === 'document_late',
  };
  const scheduler = createScheduler({
    ...shared,
    places: DOCUMENT_PLACES,
    placesOfKnown: PLACES_OF_KNOWN,
  });
  const keyScheduler = createScheduler({
    ...shared,
    places: KEY_PLACES,
    placesOfKnown: KEY_PLACES_OF_VOUCHED,
  });
  const results = Object.fromEntries(fetchResults.map((result) => [result, 0])) as Record<
    FetchResult,
    number
  >;
  const fetchWithin = (maxBytes: number) => async (from: VouchedAddress, turn: Turn) => {
    if (isOwn(from.address)) throw new DocumentFailure('document_address_refused');
    return fetchJson(from, {
      userAgent,
      maxBytes,
      ...turn,
      // A name of `any` or with a star could lead into the operator's network.
      allowPrivate: allowPrivate && (isOnLoopback || from.isNamed),
      ...(timeout === undefined ? {} : { timeout }),
      ...(resolve === undefined ? {} : { resolve }),
    });
  };
  const read = ({ address, voucher }: VouchedAddress, body: Uint8Array): ClientDocument => {
    const allowed = voucher === 'operator' ? 'all' : schemes;
    return readDocument(address, body, { allowPrivate, schemes: allowed });
  };
  const fetchBytes = fetchWithin(MAX_DOCUMENT_BYTES);
  /** Of a document, whatever it is fetched for. A final answer ends it and its keys. */
  async function fetchDocument(wanted: Wanted<unknown>, turn: Turn): Promise<FetchedDocument> {
    try {
      const fetched = await fetchBytes(wanted, turn);
      return { ...fetched, document: read(wanted, fetched.body) };
    } catch (error) {
      if (isFinal(error)) {
        for (const ofDocument of [documents, inlineKeys]) ofDocument.end(wanted);
        await wanted.end?.();
      }
      throw error;
    }
  }
  const readKept = (from: VouchedAddress, { document }: Pick<KeptDocument, 'document'>) =>
    read(from, Buffer.from(openClaim(document, from.voucher)));
  const documents = createKeptResponses<Held, FetchedDocument>({
    clock,
    monotonic,
    scheduler,
    fetch: fetchDocument,
    read(from, { document, body, keep }) {
      const now = clock();
      const unwritten = {
        document_uri: from.address,
        document: body.toString(),
        kept_at: now,
        kept_until: now + keep + SERVED_LATE,
      };
      return { document, unwritten };
    },
    onResult(result) {
      results[result] += 1;
    },
  });
  const ofKeys = {
    clock,
    monotonic,
    scheduler: keyScheduler,
    mostBytesOfStrangers: KEY_BYTES_OF_STRANGERS,
    servesLateWithoutPlace: true,
  };
  const keySets = createKeptResponses<PublicKey[]>({
    ...ofKeys,
    fetch: fetchWithin(MAX_KEYS_BYTES),
    read: (_from, { body }) => readKeysAlone(body),
    most: KEY_SETS_KEPT,
    isTheSameForAll: true,
  });
  // Apart from the documents, which a search for new keys that finds some leaves as they are.
  const inlineKeys = createKeptResponses<PublicKey[], FetchedDocument>({
    ...ofKeys,
    fetch: fetchDocument,
    // Of one that has another method by now, they still count.
    read: ({ voucher }, { document: { keys }, body }) =>
      keys === null ? readInlineKeys(body) : openClaim(keys, voucher),
  });
  /** Null if the rules of now do not take it, or if it is over. */
  function lateOf(from: VouchedAddress, kept: KeptDocument) {
    if (kept.kept_until === null || clock() >= kept.kept_until) return null;
    try {
      const value: Held = { document: readKept(from, kept), unwritten: null };
      return { value, until: kept.kept_until - SERVED_LATE };
    } catch (error) {
      if (error instanceof DocumentFailure) return null;
      throw error;
    }
  }

  return {
    /** Whether a text can be the address of a document. */
    isWritten: (text: string) => isAddressOf(text, { allowPrivate }),

    /** Whether the document of such an address is taken here. Nothing is fetched. */
    isTaken: (address: string) => hosts.has(address),

    /**
     * With whether it is news to the database: fetched for this, or later than what that has.
     *
     * @param caller - the address that asks
     * @throws NoPlace, HostFailing or DocumentFailure
     */
    async find(address: string, { caller: asker, hasApplication, kept, ...asked }: AskedBy) {
      const from = vouchers.ofAddress(address);
      const isKnown = hasApplication || from.voucher === 'operator';
      const late = kept && (lateOf(from, kept) ?? undefined);
      const wanted = { ...from, ...asked, asker, site: addressKey(asker, 48), isKnown, kept: late };
      const before = documents.peek(wanted, { mayBeLate: true });
      const held = await documents.find(wanted);
      const { document, unwritten } = held;
      // Without one in the database, another process may have ended it since.
      const isNews =
        unwritten !== null &&
        (held !== before || (kept != null && unwritten.kept_at > kept.kept_at));
      return { document, isNews };
    },

    /** @throws DocumentFailure if the rules of now do not take it */
    read: (kept: KeptDocument): ClientDocument =>
      readKept(vouchers.ofAddress(kept.document_uri), kept),

    /** As it is read once it is pinned. @throws DocumentFailure */
    readVouched(address: string, document: string): ClientDocument {
      const body = Buffer.from(document);
      if (body.length > MAX_DOCUMENT_BYTES) throw new DocumentFailure('document_too_large');
      return readDocument(address, body, { allowPrivate, schemes: 'all' });
    },

    /** For operators, also where the rules of now do not take it. */
    describe({ document_uri, document, kept_until }: KeptDocument) {
      const { voucher } = vouchers.ofAddress(document_uri);
      const allowed = kept_until === null || voucher === 'operator' ? 'all' : schemes;
      const body = Buffer.from(openClaim(document, voucher));
      try {
        const read = readDocument(document_uri, body, { allowPrivate: true, schemes: 'all' });
        const redirect_uris = read.redirect_uris.filter((uri) => mayRedirectTo(uri, allowed));
        return { name: read.name, redirect_uris, method: read.method };
      } catch (error) {
        if (!(error instanceof DocumentFailure)) throw error;
        const name = new URL(document_uri).hostname;
        return { name, redirect_uris: [], method: 'none' as const };
      }
    },

    /** Calls with what the database does not have of an address. */
    async write(address: string, keep: (document: KeptDocument) => Promise<void>): Promise<void> {
      const place = { ...vouchers.ofAddress(address), isKnown: true };
      const held = documents.peek(place, { mayBeLate: true });
      if (held === null || held.unwritten === null) return;
      await keep(held.unwritten);
      held.unwritten = null;
    },

    /** The next link fetches. */
    forget(address: string): void {
      const place = { ...vouchers.ofAddress(address), isKnown: true };
      for (const ofDocument of [documents, inlineKeys]) ofDocument.forget(place);
    },

    /**
     * Of an application with the method `private_key_jwt`.
     *
     * @param caller - the address that asks
     * @param kept - what the database has of its document
     * @param end - ends that
     */
    keysOf(
      document: DocumentedClient,
      caller: string,
      { kept, end, gone }: Pick<AskedBy, 'kept' | 'end' | 'gone'> = {},
    ): ClientKeys {
      const { uri, jwks_uri } = document;
      const asker = { asker: caller, site: addressKey(caller, 48), isKnown: true };
      const wanted = (address: Claimed<string>): Wanted<PublicKey[]> => {
        const from = vouchers.ofAddress(address, { document });
        return { ...from, ...asker, gone, hasOwnPlaces: from.voucher === 'operator' };
      };
      if (jwks_uri !== null) {
        return {
          find: () => keySets.find(wanted(jwks_uri)),
          refresh: () => keySets.refresh(wanted(jwks_uri)),
        };
      }
      const own = { ...wanted(uri), end };
      if (kept?.kept_until === null) {
        return { find: async () => readKept(own, kept).keys ?? [], refresh: async () => null };
      }
      return {
        async find() {
          const known = inlineKeys.peek(own) ?? documents.peek(own)?.document.keys;
          if (known) return known;
          // As documents: what is late is the latest, and without one in the database, another process may have ended it.
          const late = kept && lateOf(own, kept);
          const keys = late?.value.document.keys;
          const value = keys && openClaim(keys, own.voucher);
          const latest = late && (value ? { value, until: late.until } : undefined);
          return inlineKeys.find({ ...own, kept: latest });
        },
        refresh: () => inlineKeys.refresh(own),
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
