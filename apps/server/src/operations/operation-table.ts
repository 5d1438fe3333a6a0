import type { OperationName, OperationOutput, Operations, ValidatedInput } from '@latchkey/schema';
import type { ColumnsFor } from './action.ts';

export type OperationRow<Name extends OperationName> = ColumnsFor<
  ValidatedInput<Name>,
  OperationOutput<Name>
> &
  (Operations[Name]['caller'] extends 'grant' ? { readonly account: ReadAccount } : unknown);

/** The account as it is now, or as it was when the code was issued. */
export type ReadAccount = 'current' | 'at_issue';

const linkRequestIds = {
  link_id: 'id',
  application_id: 'application.id',
  account_id: 'account_id',
  grant_id: 'grant_id',
} as const;

/** `outputIds` has only what neither the input nor the caller has. */
export const operationTable = {
  'grants.convert': {
    counts: 'exchanges',
    audited: 'always',
    inputIds: {},
    outputIds: { grant_id: 'grant_id' },
  },
  'grants.revoke': {
    counts: 'requests',
    audited: 'always',
    inputIds: { grant_id: 'grant_id' },
    outputIds: {},
  },
  'grants.revokeToken': { counts: 'requests', audited: 'always', inputIds: {}, outputIds: {} },
  'grants.introspect': {
    counts: 'requests',
    audited: 'always',
    inputIds: {},
    outputIds: { grant_id: 'grant_id' },
  },
  'grants.recover': {
    counts: 'requests',
    audited: 'always',
    inputIds: { grant_id: 'grant_id' },
    outputIds: {},
  },
  'account.get': {
    account: 'current',
    counts: 'requests',
    audited: 'first_use',
    inputIds: {},
    outputIds: {},
  },
  'account.grant': {
    account: 'at_issue',
    counts: 'requests',
    audited: 'first_use',
    inputIds: {},
    outputIds: {},
  },
  'admin.applications.create': {
    counts: 'nothing',
    audited: 'always',
    inputIds: {},
    outputIds: { application_id: 'id' },
  },
  'admin.applications.list': {
    counts: 'nothing',
    audited: 'refusals',
    inputIds: {},
    outputIds: {},
  },
  'admin.applications.get': {
    counts: 'nothing',
    audited: 'refusals',
    inputIds: { application_id: 'application_id' },
    outputIds: {},
  },
  'admin.applications.update': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { application_id: 'application_id' },
    outputIds: {},
  },
  'admin.applications.secrets.create': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { application_id: 'application_id' },
    outputIds: { secret_id: 'id' },
  },
  'admin.applications.secrets.revoke': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { application_id: 'application_id', secret_id: 'secret_id' },
    outputIds: {},
  },
  'admin.applications.disable': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { application_id: 'application_id' },
    outputIds: {},
  },
  'admin.applications.enable': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { application_id: 'application_id' },
    outputIds: {},
  },
  'admin.applications.delete': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { application_id: 'application_id' },
    outputIds: {},
  },
  'admin.accounts.put': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { account_id: 'account_id' },
    outputIds: {},
  },
  'admin.accounts.get': {
    counts: 'nothing',
    audited: 'refusals',
    inputIds: { account_id: 'account_id' },
    outputIds: {},
  },
  'admin.accounts.list': { counts: 'nothing', audited: 'refusals', inputIds: {}, outputIds: {} },
  'admin.accounts.erase': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { account_id: 'account_id' },
    outputIds: {},
  },
  'admin.accounts.export': {
    counts: 'nothing',
    audited: 'refusals',
    inputIds: { account_id: 'account_id' },
    outputIds: {},
  },
  'admin.codes.issue': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { application_id: 'application_id', account_id: 'account_id' },
    outputIds: { grant_id: 'grant_id' },
  },
  'admin.codes.cancel': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { grant_id: 'grant_id' },
    outputIds: { application_id: 'application_id', account_id: 'account_id' },
  },
  'admin.scopes.put': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { scope: 'scope' },
    outputIds: {},
  },
  'admin.scopes.list': { counts: 'nothing', audited: 'refusals', inputIds: {}, outputIds: {} },
  'admin.scopes.delete': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { scope: 'scope' },
    outputIds: {},
  },
  'admin.resources.create': {
    counts: 'nothing',
    audited: 'always',
    inputIds: {},
    outputIds: { resource_id: 'id' },
  },
  'admin.resources.list': { counts: 'nothing', audited: 'refusals', inputIds: {}, outputIds: {} },
  'admin.resources.update': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { resource_id: 'resource_id' },
    outputIds: {},
  },
  'admin.resources.delete': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { resource_id: 'resource_id' },
    outputIds: {},
  },
  'admin.connections.list': {
    counts: 'nothing',
    audited: 'refusals',
    inputIds: { account_id: 'account_id' },
    outputIds: {},
  },
  'admin.connections.revoke': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { account_id: 'account_id', application_id: 'application_id' },
    outputIds: {},
  },
  'admin.pages.create': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { account_id: 'account_id' },
    outputIds: {},
  },
  'admin.pages.end': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { account_id: 'account_id' },
    outputIds: {},
  },
  'admin.links.read': {
    counts: 'nothing',
    audited: 'always',
    inputIds: {},
    outputIds: linkRequestIds,
  },
  'admin.links.identify': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { account_id: 'account_id' },
    outputIds: linkRequestIds,
  },
  'admin.links.approve': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { account_id: 'account_id' },
    outputIds: linkRequestIds,
  },
  'admin.links.deny': {
    counts: 'nothing',
    audited: 'always',
    inputIds: {},
    outputIds: linkRequestIds,
  },
  'admin.grants.list': {
    counts: 'nothing',
    audited: 'refusals',
    inputIds: { account_id: 'account_id', application_id: 'application_id' },
    outputIds: {},
  },
  'admin.grants.revoke': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { grant_id: 'grant_id' },
    outputIds: {},
  },
  'admin.grants.revokeAll': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { account_id: 'account_id', application_id: 'application_id' },
    outputIds: {},
  },
  'admin.grants.history': {
    counts: 'nothing',
    audited: 'refusals',
    inputIds: { grant_id: 'grant_id' },
    outputIds: {},
  },
  'admin.refusals.list': {
    counts: 'nothing',
    audited: 'refusals',
    inputIds: {
      application_id: 'application_id',
      account_id: 'account_id',
      grant_id: 'grant_id',
    },
    outputIds: {},
  },
  'admin.summary.get': { counts: 'nothing', audited: 'refusals', inputIds: {}, outputIds: {} },
  'admin.endpoints.create': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { application_id: 'application_id' },
    outputIds: { endpoint_id: 'id' },
  },
  'admin.endpoints.list': {
    counts: 'nothing',
    audited: 'refusals',
    inputIds: { application_id: 'application_id' },
    outputIds: {},
  },
  'admin.endpoints.get': {
    counts: 'nothing',
    audited: 'refusals',
    inputIds: { endpoint_id: 'endpoint_id' },
    outputIds: {},
  },
  'admin.endpoints.update': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { endpoint_id: 'endpoint_id' },
    outputIds: { application_id: 'application_id' },
  },
  'admin.endpoints.delete': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { endpoint_id: 'endpoint_id' },
    outputIds: { application_id: 'application_id' },
  },
  'admin.endpoints.rotate': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { endpoint_id: 'endpoint_id' },
    outputIds: { application_id: 'application_id' },
  },
  'admin.endpoints.ping': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { endpoint_id: 'endpoint_id' },
    outputIds: { delivery_id: 'id' },
  },
  'admin.endpoints.replay': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { endpoint_id: 'endpoint_id' },
    outputIds: {},
  },
  'admin.deliveries.list': {
    counts: 'nothing',
    audited: 'refusals',
    inputIds: { endpoint_id: 'endpoint_id', grant_id: 'grant_id' },
    outputIds: {},
  },
  'admin.deliveries.retry': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { delivery_id: 'delivery_id' },
    outputIds: {
      endpoint_id: 'endpoint_id',
      grant_id: 'grant_id',
      account_id: 'account_id',
    },
  },
  'admin.keys.create': {
    counts: 'nothing',
    audited: 'always',
    inputIds: {},
    outputIds: { key_id: 'id' },
  },
  'admin.keys.list': { counts: 'nothing', audited: 'refusals', inputIds: {}, outputIds: {} },
  'admin.keys.delete': {
    counts: 'nothing',
    audited: 'always',
    inputIds: { key_id: 'key_id' },
    outputIds: {},
  },
  'admin.self.get': { counts: 'nothing', audited: 'refusals', inputIds: {}, outputIds: {} },
  'admin.settings.get': { counts: 'nothing', audited: 'refusals', inputIds: {}, outputIds: {} },
} as const satisfies { readonly [Name in OperationName]: OperationRow<Name> };
