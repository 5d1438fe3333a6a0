/**
 * The operator's side of Latchkey: sign-in pages that finish a link, connected applications, and every
 * other operation of `/admin`.
 *
 * @module client/admin
 */

export type { CallOptions, ConnectionOptions } from '../options.ts';
export type { WithResponse } from '../response-details.ts';
export { LatchkeyAdmin } from './latchkey-admin.ts';
export type { ListPromise } from './list-promise.ts';
export * from './operations.ts';
export type { LatchkeyAdminOptions } from './options.ts';
