import type { Clock, Milliseconds } from '../clock.ts';
import type { OutboundRequest } from '../outbound/request.ts';
import { isAddressOf } from './address.ts';
import { type ClientDocument, readDocument } from './document.ts';
import { fetchJson } from './fetch-json.ts';
import type { DocumentHosts } from './hosts.ts';
import { createKeptResponses } from './kept-responses.ts';
import { createPlaces } from './places.ts';

const MAX_DOCUMENT_BYTES = 10_240;

export interface ClientDocumentOptions {
  clock: Clock;
  hosts: DocumentHosts;
  userAgent: string;
  /** Of OUTBOUND_ALLOW. */
  allowPrivate: boolean;
  /** Then a program on this machine asks, and private addresses are those of its own tests. */
  isOnLoopback: boolean;
  timeout?: Milliseconds;
  patience?: Milliseconds;
  resolve?: OutboundRequest['resolve'];
}

/** The documents of applications that nobody registered. */
export function createClientDocuments({
  clock,
  hosts,
  userAgent,
  allowPrivate,
  isOnLoopback,
  timeout,
  patience,
  resolve,
}: ClientDocumentOptions) {
  const places = createPlaces(patience === undefined ? {} : { patience });
  const documents = createKeptResponses<ClientDocument>({
    clock,
    places,
    fetch: (address) =>
      fetchJson(address, {
        userAgent,
        maxBytes: MAX_DOCUMENT_BYTES,
        // A name of `any` or with a star could lead into the operator's network.
        allowPrivate: allowPrivate && (isOnLoopback || hosts.names(address.hostname)),
        ...(timeout === undefined ? {} : { timeout }),
        ...(resolve === undefined ? {} : { resolve }),
      }),
    read: (address, body) => readDocument(address, body, { allowPrivate }),
  });
  return {
    /** Whether the document of an address is taken here. Nothing is fetched. */
    isAddress: (text: string) =>
      isAddressOf(text, { allowPrivate }) && hosts.has(new URL(text).hostname),

    /** @throws NoPlace, FetchFailure or BadDocument */
    find: documents.find,
  };
}

export type ClientDocuments = ReturnType<typeof createClientDocuments>;
