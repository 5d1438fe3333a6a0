/**
 * The Latchkey service, to be started from a program of one's own. Most run it by its command,
 * `latchkey serve`.
 *
 * @module
 */

export { callOperation, type OperatorOperation } from './cli/call-operation.ts';
export type { Clock } from './clock.ts';
export { DomainError } from './domain-error.ts';
export type { Intercept, InterceptedCall } from './http/intercept.ts';
export type { AppRouter } from './http/trpc/router.ts';
export { RateLimited } from './limits/rate-limited.ts';
export { createLog, type Log } from './log.ts';
export { loadSettings, type Settings } from './settings.ts';
export { type RunningServer, type StartOptions, startServer } from './start-server.ts';
