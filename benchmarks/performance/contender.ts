import type { HttpAnswer, HttpRequest } from './connection.ts';
import type { ServerProcess } from './server-process.ts';

/** A grant as its application holds it. */
export interface Grant {
  /** Empty where the server gives it none. */
  id: string;
  secret: string;
}

/** How one operation is called, and how its answer is checked. */
export interface Call<Input, Output> {
  request(input: Input): HttpRequest;
  /** @throws Error for any answer that is not the right one */
  result(answer: HttpAnswer, input: Input): Output;
}

/** The operations of a server. What it doesn't have, or is not measured in, is left out. */
export interface Wire {
  convert: Call<string, Grant>;
  authenticate?: Call<Grant, void>;
  revoke?: Call<Grant, void>;
}

/** A contender that runs. */
export interface Running {
  server: ServerProcess;
  url: URL;
  wire: Wire;
  /** Makes codes for the application, outside of what is measured. */
  issue(count: number): Promise<string[]>;
  /** From the start of its process to its first answer, in milliseconds. */
  startMilliseconds: number;
}

/** What a contender is started with. */
export interface Place {
  /** An empty folder of its own. */
  folder: string;
  /** Further arguments of its Node. */
  nodeArguments: readonly string[];
  /** A MongoDB; undefined where there is none. */
  mongodbUrl: string | undefined;
}

/** A server that is measured. */
export interface Contender {
  name: string;
  /** What part of the requests it gets: slow ones get fewer, so that a round ends. */
  share: number;
  /** How many it gets at most, where it would get slower by having more. */
  most?: number;
  start(place: Place): Promise<Running>;
}

/** Thrown for an answer that is not the right one: such a run does not count. */
export function wrongAnswer(what: string, { status, body }: HttpAnswer): Error {
  return new Error(`${what} was answered ${status}: ${body.slice(0, 500)}`);
}
