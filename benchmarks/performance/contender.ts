import type { HttpRequest, HttpResponse } from './connection.ts';
import type { ServerProcess } from './server-process.ts';

/** A grant as its application holds it. */
export interface Grant {
  /** Empty if the server has no ids for grants. */
  id: string;
  secret: string;
}

/** How an operation is called, and how its response is checked. */
export interface Endpoint<Input, Output> {
  request(input: Input): HttpRequest;
  /** @throws Error for any response but the expected one */
  result(response: HttpResponse, input: Input): Output;
}

/** The operations that are measured on a server. */
export interface Wire {
  convert: Endpoint<string, Grant>;
  authenticate?: Endpoint<Grant, void>;
  revoke?: Endpoint<Grant, void>;
}

/** What a load needs of a server. */
export interface MeasuredServer {
  process: Pick<ServerProcess, 'cpuSeconds'>;
  url: URL;
  wire: Wire;
  /** Issues codes for the application. Not measured. */
  issue(count: number): Promise<string[]>;
}

export interface RunningServer extends MeasuredServer {
  process: ServerProcess;
  /** From the start of the process to its first response. */
  startMilliseconds: number;
}

export interface StartOptions {
  /** An empty folder for this server alone. */
  folder: string;
  nodeArguments: readonly string[];
  /** An empty database; undefined for a file of SQLite. */
  databaseUrl: string | undefined;
}

/** A server that is measured. */
export interface Contender {
  name: string;
  /** The fraction of the requests that it gets. Slow ones get fewer, so that a round ends. */
  share: number;
  start(options: StartOptions): Promise<RunningServer>;
}

/** Ends a run: a server that responds wrongly is not measured. */
export function unexpectedResponse(what: string, { status, body }: HttpResponse): Error {
  return new Error(`${what} responded with ${status}: ${body.slice(0, 500)}`);
}
