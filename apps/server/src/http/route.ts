import type { OperationName } from '@latchkey/schema';
import type { Exchange } from './exchange.ts';

/** The members of a path template, by name, as they stand in the path. */
export type PathParameters = Record<string, string>;

/** A method and a path that the service answers. */
export interface Route {
  readonly method: string;
  /** A template: a segment in braces matches any one segment. */
  readonly path: string;
  /** What it offers, if that is an operation. */
  readonly operation?: OperationName;
  /** Answers, or throws a DomainError. */
  handle(exchange: Exchange, parameters: PathParameters, query: string): Promise<void> | void;
}
