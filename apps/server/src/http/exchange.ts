import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '@latchkey/schema';

/** One request and its answer, with what the log will say of it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Base of the links in answers, without a slash at its end. */
  readonly publicUrl: string;
  /** Where the request came from: the caller's address, as far as a trusted proxy tells it. */
  readonly address: string | undefined;
  /** The caller announced its body and waits for leave to send it (RFC 9110, section 10.1.1). */
  readonly expectsContinue: boolean;
  /** Whether the server is closing: then every answer is the last of its connection. */
  readonly closing: () => boolean;
  /**
   * What was called: a route's template or the names of procedures, never the path as it came,
   * which could hold a credential. Null where nothing matched.
   */
  route: string | null;
  /** The answer closes the connection: what else came on it is not taken. */
  isLast?: boolean;
  application_id?: string;
  grant_id?: string;
  error_code?: ErrorCode;
}
