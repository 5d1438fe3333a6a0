/**
 * The inside of the service, for `@latchkey/testing` alone. It changes without notice.
 *
 * @module
 */

// First: an older Node is told so before anything fails on it.
import './supported-node.ts';

export type { Clock } from '@latchkey/domain/clock';
export { DomainError } from '@latchkey/domain/domain-error';
export type { Delivering } from '@latchkey/rules/events/deliverer';
export type { DeliverySettings } from '@latchkey/rules/events/events';
export { RateLimited } from '@latchkey/rules/limits/rate-limited';
export { openLog } from './open-log.ts';
export type { Intercept } from './operations/call.ts';
export { callOperation, type OperatorOperation } from './operations/call-operation.ts';
export { loadSettings } from './settings.ts';
export { CannotListen, type OpenServer, startServer } from './start-server.ts';
