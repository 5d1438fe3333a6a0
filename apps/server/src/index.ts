/**
 * The Latchkey service, for programs that start it themselves. Most operators run `latchkey serve`
 * instead.
 *
 * @module
 */

export type { Clock } from './clock.ts';
export { DomainError } from './domain-error.ts';
export type { Delivering } from './events/deliverer.ts';
export type { DeliverySettings } from './events/events.ts';
export { RateLimited } from './limits/rate-limited.ts';
export { createLog, type Log } from './log/log.ts';
export type { Intercept, InterceptedCall } from './operations/call.ts';
export { callOperation, type OperatorOperation } from './operations/call-operation.ts';
export { loadSettings, type Settings } from './settings.ts';
export {
  CannotListen,
  type RunningServer,
  type StartOptions,
  startServer,
} from './start-server.ts';
