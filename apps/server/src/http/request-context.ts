import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Location } from '@latchkey/rules/linking/redirect';
import type { Shown } from '@latchkey/rules/vouchers';
import type { CallSummary } from '../operations/call.ts';
import type { Challenge } from './challenge.ts';

/** Where a browser goes by itself is no text: `redirect.ts` of the rules says who may be led there. */
export type Headers = Record<string, string | string[]> & {
  [Name in 'Location' | 'location']?: Location;
} & { [Name in 'Refresh' | 'refresh']?: `0;url=${Location}` };

/** A tRPC batch makes several calls, every other request one. */
export interface RequestedCall extends CallSummary {
  operation: string | null;
  status: number | null;
}

export interface RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly publicUrl: () => string;
  /** As a trusted proxy reports it: any text. The log takes the one in `redacted`. */
  readonly address: string | undefined;
  /** For the log and the audit: contains no credential. */
  readonly redacted: { request_id: string; address: string | null };
  readonly expectsContinue: boolean;
  readonly isClosing: () => boolean;
  /** In milliseconds. */
  readonly responseTimeout: number;
  wire: 'rest' | 'trpc';
  /** A template or names of procedures, never the path as sent: it could contain a credential. */
  route: string | null;
  calls: RequestedCall[];
  arrivedWhole: boolean;
  waitedForBody: boolean;
  challenge: Challenge | null;
  /** An OAuth library makes the request: it sends its secret in a form, or as Basic. */
  asksForForm: boolean;
  routeHeaders: Headers;
  /** Nothing behind the response is accepted. */
  closesConnection: boolean;
  errorPage: ErrorPageDetails;
}

/** Aborted once the client has hung up, or has its response. */
export function goneOf({ response }: RequestContext): AbortSignal {
  const gone = new AbortController();
  if (response.closed) gone.abort();
  response.once('close', () => gone.abort());
  return gone.signal;
}

export interface ErrorPageDetails {
  locale?: string | null;
  ui_locales?: string | null;
  application?: Pick<Shown, 'name' | 'host'> | null;
  back_url?: string | null;
  /** Where the person tries again: the page of the form, or the same request. */
  again_path?: string;
  refused_uri?: string | null;
  /** The page itself, without PUBLIC_URL, if the request for it was no navigation. */
  own_address?: string;
  refused_client?: string | null;
}
