/**
 * Links accounts through Latchkey: convert a code into a grant, use the grant, revoke it.
 *
 * @module client
 */

export type {
  Account,
  FullGrant,
  GrantDescription,
  Introspection,
  LinkStatus,
  ParameterIssue,
  RevokedGrant,
} from '@latchkey/schema';
export type { Authorization } from './authorization-url.ts';
export * from './errors.ts';
export type { Fetch, FetchInit, FetchResponse } from './fetch.ts';
export { Latchkey } from './latchkey.ts';
export type { LogDetails, Logger } from './logger.ts';
export type {
  AuthorizationUrlOptions,
  CallOptions,
  ConnectionOptions,
  ConvertOptions,
  FinishLinkingOptions,
  LatchkeyOptions,
} from './options.ts';
export type { ResponseDetails, WithResponse } from './response-details.ts';
