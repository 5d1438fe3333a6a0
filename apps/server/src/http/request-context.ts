import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CallRecord } from '../operations/call.ts';
import type { Challenge } from './challenge.ts';

/** The header fields of a response beyond those that every response has. */
export type Headers = Record<string, string | string[]>;

/** One call that a request makes: a tRPC batch makes several, every other request makes one. */
export interface RequestedCall extends CallRecord {
  /** The operation, or the template of a route that is no operation. Null if nothing matched. */
  operation: string | null;
  /** Null until there is a response. */
  status: number | null;
}

/** One request and its response. */
export interface RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Base of the links in responses, without a trailing slash. */
  readonly publicUrl: string;
  /**
   * The client's address, as far as a trusted proxy reports it: whatever stands in its header. The log
   * takes the one in `recorded`.
   */
  readonly address: string | undefined;
  /** The parts of both that may be kept: neither contains a credential. */
  readonly recorded: { request_id: string; address: string | null };
  /** The client sends its body only after a 100 response (RFC 9110, section 10.1.1). */
  readonly expectsContinue: boolean;
  /** Whether the server is shutting down: then every response closes its connection. */
  readonly isClosing: () => boolean;
  wire: 'rest' | 'trpc';
  /**
   * The template of the route, or the names of the procedures. Null if nothing matched. Never the
   * path as it was sent, which could contain a credential.
   */
  route: string | null;
  calls: RequestedCall[];
  /** Whether the last byte of the request came with its headers. */
  arrivedWhole: boolean;
  /** Whether the body that was read arrived while the request was handled. */
  waitedForBody: boolean;
  /** How the caller is told to authenticate; null if its credentials were in a form. */
  challenge: Challenge | null;
  /** The header fields that every response of the route has. */
  routeHeaders: Headers;
  /** The response closes the connection: nothing behind it is accepted. */
  closesConnection: boolean;
  /** What the page of an error is made with, if the route answers with pages. */
  errorPage: ErrorPageDetails;
}

/** What an error page is made with, as far as it is known when it is sent. */
export interface ErrorPageDetails {
  /** Languages of the person besides those of Accept-Language. */
  locale?: string | null;
  ui_locales?: string | null;
  /** The application that the page is about; null if it is about the account alone. */
  application_name?: string | null;
  /** Where a person can go from here. */
  back_url?: string | null;
}
