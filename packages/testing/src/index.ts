/**
 * The real Latchkey service inside your own test, with an in-memory store and a clock that you move.
 *
 * @module testing
 */

export type {
  Account,
  AccountEntry,
  ClientDocument,
  FullGrant,
  IssuedCode,
  LatchkeyEvent,
  NewEndpoint,
  OperationName,
} from '@latchkey/schema';
export type { TestAccount } from './accounts.ts';
export { type EventToSign, type SignEventOptions, type SignedEvent, signEvent } from './events.ts';
export type { Failure } from './faults.ts';
export type { LinkAnswer, LinkOutcome, LinkRequestOptions, TestLink } from './play-application.ts';
export type { EndpointOptions, TestEvents } from './test-events.ts';
export {
  type CodeRequest,
  createTestServer,
  type TestDocuments,
  type TestServer,
  type TestServerOptions,
} from './test-server.ts';
