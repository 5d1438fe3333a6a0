/**
 * The inside of the service, for `@latchkey/testing` alone. It changes without notice.
 *
 * @module
 */

// First: an older Node is told so before anything fails on it.
import './supported-node.ts';

export type { Clock } from './clock.ts';
export { DomainError } from './domain-error.ts';
export type { Delivering } from './events/deliverer.ts';
export type { DeliverySettings } from './events/events.ts';
export { RateLimited } from './limits/rate-limited.ts';
export { openLog } from './open-log.ts';
export type { Intercept } from './operations/call.ts';
export { callOperation, type OperatorOperation } from './operations/call-operation.ts';
export { loadSettings } from './settings.ts';
export { CannotListen, type OpenServer, startServer } from './start-server.ts';
