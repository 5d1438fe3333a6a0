/**
 * The operator's side of Latchkey: sign-in pages that finish a link, connected applications, and every
 * other operation of `/admin`.
 *
 * @module client/admin
 */

export type {
  Account,
  AccountEntry,
  AccountErasure,
  AccountExport,
  Application,
  ApplicationProfile,
  ApplicationSecret,
  Attempt,
  CancelledCode,
  CodeEntry,
  CompleteList,
  Connection,
  Delivery,
  Endpoint,
  EventCounts,
  ExportedChange,
  ExportedRefusal,
  GrantCounts,
  GrantEntry,
  GrantHistory,
  GrantHistoryEntry,
  GrantRevocations,
  IssuedCode,
  Key,
  LinkApplication,
  LinkCounts,
  LinkIdentification,
  LinkRedirect,
  LinkRequest,
  LinkStatus,
  List,
  NewApplication,
  NewApplicationSecret,
  NewEndpoint,
  NewKey,
  Page,
  PagesEnded,
  RedirectKind,
  Refusal,
  Replay,
  Resource,
  RevokedGrant,
  Scope,
  Self,
  Setting,
  Settings,
  Summary,
  SummaryStep,
} from '@latchkey/schema';
export type { CallOptions, ConnectionOptions } from '../options.ts';
export type { WithResponse } from '../response-details.ts';
export { LatchkeyAdmin } from './latchkey-admin.ts';
export type { ListPromise } from './list-promise.ts';
export * from './operations.ts';
export type { LatchkeyAdminOptions } from './options.ts';
