import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode, OperationName } from '@latchkey/schema';

/** One call of a procedure. */
export interface ProcedureCall {
  /** Undefined for a name that we don't know. */
  readonly operation: { readonly name: OperationName } | undefined;
  /** Undefined until there is one. */
  readonly outcome: { status: number; error_code?: ErrorCode } | undefined;
}

/** One request and its answer, with what the log will say of it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Base of the links in answers, without a slash at its end. */
  readonly publicUrl: string;
  /** Where the request came from: the caller's address, as far as a trusted proxy tells it. */
  readonly address: string | undefined;
  /** What of the two may be kept: without a credential that the caller put there. */
  readonly recorded: { request_id: string; address: string | null };
  /** The caller announced its body and waits for leave to send it (RFC 9110, section 10.1.1). */
  readonly expectsContinue: boolean;
  /** Whether the server is closing: then every answer is the last of its connection. */
  readonly closing: () => boolean;
  /** Does what an operation is for, through whatever stands around the calls. */
  readonly perform: (operation: OperationName, work: () => Promise<object>) => Promise<object>;
  /**
   * What was called: a route's template or the names of procedures, never the path as it came,
   * which could hold a credential. Null where nothing matched.
   */
  route: string | null;
  /** The operation that was found, or the template of a route that is none. */
  operation?: string;
  /** The calls of a request to tRPC, and what came of each. */
  procedures?: readonly ProcedureCall[];
  /** The answer closes the connection: what else came on it is not taken. */
  isLast?: boolean;
  application_id?: string;
  grant_id?: string | undefined;
  error_code?: ErrorCode;
}
