import type { OperationName } from '@latchkey/schema';

/** A call that is about to be done: its caller is authenticated, and its input is valid. */
export interface InterceptedCall {
  operation: OperationName;
  /**
   * Breaks the connection that the call came on, so that its caller gets no answer. What was begun
   * is done all the same.
   */
  breakConnection(): void;
}

/**
 * Stands around every call of an operation, on either wire. For tests, which let a call fail or its
 * answer get lost.
 *
 * @param perform - does what the operation is for, within the limits; returns the object of the
 *   wire, or throws a DomainError
 */
export type Intercept = (call: InterceptedCall, perform: () => Promise<object>) => Promise<object>;

export const passOn: Intercept = (_call, perform) => perform();
