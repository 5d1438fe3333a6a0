import { expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import type * as events from './events.ts';
import type * as objects from './objects.ts';
import type { OperationOutput, Operations } from './operations.ts';
import type * as types from './types.ts';

// Compiled, not run: `types.ts` is generated, and these are the same types as TypeScript infers them.

type Schemas = typeof objects & Omit<typeof events, 'eventTypes'>;
type Inferred = { -readonly [Name in keyof Schemas]: z.output<Schemas[Name]> };
interface Generated {
  account: types.Account;
  fullGrant: types.FullGrant;
  grantDescription: types.GrantDescription;
  revokedGrant: types.RevokedGrant;
  grantEntry: types.GrantEntry;
  applicationSecret: types.ApplicationSecret;
  newApplicationSecret: types.NewApplicationSecret;
  application: types.Application;
  newApplication: types.NewApplication;
  issuedCode: types.IssuedCode;
  cancelledCode: types.CancelledCode;
  accountEntry: types.AccountEntry;
  accountErasure: types.AccountErasure;
  codeEntry: types.CodeEntry;
  exportedChange: types.ExportedChange;
  exportedRefusal: types.ExportedRefusal;
  refusal: types.Refusal;
  refusalList: types.List<types.Refusal>;
  grantHistoryEntry: types.GrantHistoryEntry;
  grantHistory: types.GrantHistory;
  grantRevocations: types.GrantRevocations;
  summary: types.Summary;
  summaryStep: types.SummaryStep;
  linkCounts: types.LinkCounts;
  grantCounts: types.GrantCounts;
  accountExport: types.AccountExport;
  applicationProfile: types.ApplicationProfile;
  connection: types.Connection;
  page: types.Page;
  linkStatus: types.LinkStatus;
  redirectKind: types.RedirectKind;
  linkApplication: types.LinkApplication;
  linkedResource: types.LinkedResource;
  linkRequest: types.LinkRequest;
  linkRedirect: types.LinkRedirect;
  linkIdentification: types.LinkIdentification;
  pagesEnded: types.PagesEnded;
  introspection: types.Introspection;
  tokenResponse: types.TokenResponse;
  parameterIssue: types.ParameterIssue;
  errorBody: types.ErrorBody;
  scopeDescription: types.Scope;
  applicationList: types.List<types.Application>;
  grantList: types.List<types.GrantEntry>;
  accountList: types.List<types.AccountEntry>;
  key: types.Key;
  newKey: types.NewKey;
  keyList: types.CompleteList<types.Key>;
  self: types.Self;
  setting: types.Setting;
  settings: types.Settings;
  resource: types.Resource;
  resourceList: types.CompleteList<types.Resource>;
  scopeList: types.CompleteList<types.Scope>;
  connectionList: types.CompleteList<types.Connection>;
  revokedGrantList: types.CompleteList<types.RevokedGrant>;
  emptyObject: Record<string, never>;
  endReason: types.EndReason;
  grantCreatedData: types.GrantCreatedData;
  grantRevokedData: types.GrantRevokedData;
  applicationData: types.ApplicationData;
  pingData: types.PingData;
  grantCreated: types.GrantCreatedEvent;
  grantRevoked: types.GrantRevokedEvent;
  accountUpdated: types.AccountUpdatedEvent;
  applicationDisabled: types.ApplicationDisabledEvent;
  applicationEnabled: types.ApplicationEnabledEvent;
  ping: types.PingEvent;
  event: types.LatchkeyEvent;
}

test('every type equals its schema', () => {
  expectTypeOf<Generated>().toEqualTypeOf<Inferred>();
});

test('the output types follow from the table', () => {
  expectTypeOf<OperationOutput<'grants.convert'>>().toEqualTypeOf<types.FullGrant>();
  expectTypeOf<OperationOutput<'grants.recover'>>().toEqualTypeOf<types.FullGrant>();
  expectTypeOf<OperationOutput<'grants.revoke'>>().toEqualTypeOf<types.RevokedGrant>();
  expectTypeOf<OperationOutput<'account.get'>>().toEqualTypeOf<types.Account>();
  expectTypeOf<OperationOutput<'account.grant'>>().toEqualTypeOf<types.GrantDescription>();
  expectTypeOf<Operations['account.get']['method']>().toEqualTypeOf<'GET'>();
});
