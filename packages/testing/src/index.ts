/**
 * The Latchkey service inside a test of your own: the real one, on a store in memory, with a clock
 * that you move.
 *
 * @module testing
 */

export type { Account, IssuedCode, OperationName } from '@latchkey/schema';
export type { TestAccount } from './accounts.ts';
export type { Failure } from './faults.ts';
export { type CodeRequest, createTestServer, type TestServer } from './test-server.ts';
