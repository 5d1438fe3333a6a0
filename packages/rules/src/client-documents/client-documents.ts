import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import type { DocumentedClient } from '@latchkey/store/records';
import type { OutboundRequest } from '../outbound/request.ts';
import type { Vouchers } from '../vouchers.ts';
import { isAddressOf } from './address.ts';
import { type ClientDocument, readDocument, readInlineKeys, readKeysAlone } from './document.ts';
import { fetchJson } from './fetch-json.ts';
import type { DocumentHosts } from './hosts.ts';
import { createKeptResponses } from './kept-responses.ts';
import type { PublicKey } from './keys.ts';
import { createPlaces } from './places.ts';
import type { ClientSchemes } from './redirect-uris.ts';

const MAX_DOCUMENT_BYTES = 10_240;
const MAX_KEYS_BYTES = 65_536;
// A set may be six times as large as a document.
const KEY_SETS_KEPT = 200;

export interface ClientDocumentOptions {
  clock: Clock;
  hosts: DocumentHosts;
  vouchers: Pick<Vouchers, 'ofClient'>;
  /** Of CLIENT_SCHEMES. */
  schemes: ClientSchemes;
  userAgent: string;
  /** Of OUTBOUND_ALLOW. */
  allowPrivate: boolean;
  /** Then a program on this machine asks, and private addresses are those of its own tests. */
  isOnLoopback: boolean;
  timeout?: Milliseconds;
  patience?: Milliseconds;
  resolve?: OutboundRequest['resolve'] | undefined;
}

/** The documents of applications that nobody registered. */
export function createClientDocuments({
  clock,
  hosts,
  vouchers,
  schemes,
  userAgent,
  allowPrivate,
  isOnLoopback,
  timeout,
  patience,
  resolve,
}: ClientDocumentOptions) {
  const places = createPlaces(patience === undefined ? {} : { patience });
  const fetchWithin = (maxBytes: number) => (address: URL) =>
    fetchJson(address, {
      userAgent,
      maxBytes,
      // A name of `any` or with a star could lead into the operator's network.
      allowPrivate: allowPrivate && (isOnLoopback || hosts.names(address.hostname)),
      ...(timeout === undefined ? {} : { timeout }),
      ...(resolve === undefined ? {} : { resolve }),
    });
  const shared = { clock, places };
  const documents = createKeptResponses<ClientDocument>({
    ...shared,
    fetch: fetchWithin(MAX_DOCUMENT_BYTES),
    read(address, body) {
      const isListed = vouchers.ofClient({ document: { uri: address } }) === 'operator';
      return readDocument(address, body, { allowPrivate, schemes: isListed ? 'all' : schemes });
    },
  });
  const keySets = createKeptResponses<PublicKey[]>({
    ...shared,
    fetch: fetchWithin(MAX_KEYS_BYTES),
    read: (_address, body) => readKeysAlone(body),
    most: KEY_SETS_KEPT,
  });
  // Apart from the documents, which a search for new keys leaves as they are.
  const inlineKeys = createKeptResponses<PublicKey[]>({
    ...shared,
    fetch: fetchWithin(MAX_DOCUMENT_BYTES),
    read: (_address, body) => readInlineKeys(body),
  });
  return {
    /** Whether the document of an address is taken here. Nothing is fetched. */
    isAddress: (text: string) =>
      isAddressOf(text, { allowPrivate }) && hosts.has(new URL(text).hostname),

    /** @throws NoPlace, FetchFailure or BadDocument */
    find: documents.find,

    /** Of an application with the method `private_key_jwt`. */
    keysOf({ uri, jwks_uri }: DocumentedClient): ClientKeys {
      if (jwks_uri !== null) {
        return {
          find: () => keySets.find(jwks_uri),
          refresh: () => keySets.refresh(jwks_uri),
        };
      }
      return {
        async find() {
          const known = inlineKeys.peek(uri) ?? documents.peek(uri)?.keys;
          if (known) return known;
          try {
            return await inlineKeys.find(uri);
          } catch (error) {
            const late = documents.peek(uri, { mayBeLate: true })?.keys;
            if (late) return late;
            throw error;
          }
        },
        refresh: () => inlineKeys.refresh(uri),
      };
    },
  };
}

export interface ClientKeys {
  /** @throws NoPlace, FetchFailure or BadDocument if there are none */
  find(): Promise<PublicKey[]>;
  /** Looks again, at most once a minute; null if that brought nothing. */
  refresh(): Promise<PublicKey[] | null>;
}

export type ClientDocuments = ReturnType<typeof createClientDocuments>;
