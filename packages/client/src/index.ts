/**
 * Links accounts through Latchkey: exchange a code for a grant, use it, revoke it.
 *
 * @module client
 */

export type {
  Account,
  FullGrant,
  GrantDescription,
  ParameterIssue,
  RevokedGrant,
} from '@latchkey/schema';
export type { ErrorCode } from './error-code.ts';
export * from './errors.ts';
export type { Fetch, FetchInit, FetchResponse } from './fetch.ts';
export { isLatchkeyError } from './is-latchkey-error.ts';
export { Latchkey } from './latchkey.ts';
export type { LogDetails, Logger } from './logger.ts';
export type { CallOptions, ConvertOptions, LatchkeyOptions } from './options.ts';
export type { WithRequestId } from './request-id.ts';
