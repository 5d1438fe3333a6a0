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
export const operationTable: { readonly [Name in OperationName]: OperationRow<Name> } = {
  'grants.convert': {
    counts: 'exchanges',
    recorded: 'always',
    inputIds: {},
    outputIds: { grant_id: 'grant_id' },
  },
  'grants.revoke': {
    counts: 'requests',
    recorded: 'always',
    inputIds: { grant_id: 'grant_id' },
    outputIds: {},
  },
  'grants.revokeToken': { counts: 'requests', recorded: 'always', inputIds: {}, outputIds: {} },
  'grants.introspect': {
    counts: 'requests',
    recorded: 'always',
    inputIds: {},
    outputIds: { grant_id: 'grant_id' },
  },
  'grants.recover': {
    counts: 'requests',
    recorded: 'always',
    inputIds: { grant_id: 'grant_id' },
    outputIds: {},
  },
  'account.get': {
    account: 'current',
    counts: 'requests',
    recorded: 'first_use',
    inputIds: {},
    outputIds: { account_id: 'id' },
  },
  'account.grant': {
    account: 'at_issue',
    counts: 'requests',
    recorded: 'first_use',
    inputIds: {},
    outputIds: {},
  },
  'admin.applications.create': {
    counts: 'nothing',
    recorded: 'always',
    inputIds: {},
    outputIds: { application_id: 'id' },
  },
  'admin.applications.list': {
    counts: 'nothing',
    recorded: 'refusals',
    inputIds: {},
    outputIds: {},
  },
  'admin.applications.get': {
    counts: 'nothing',
    recorded: 'refusals',
    inputIds: { application_id: 'application_id' },
    outputIds: {},
  },
  'admin.applications.update': {
    counts: 'nothing',
    recorded: 'always',
    inputIds: { application_id: 'application_id' },
    outputIds: {},
  },
  'admin.applications.secrets.create': {
    counts: 'nothing',
    recorded: 'always',
    inputIds: { application_id: 'application_id' },
    outputIds: { secret_id: 'id' },
  },
  'admin.applications.secrets.revoke': {
    counts: 'nothing',
    recorded: 'always',
    inputIds: { application_id: 'application_id', secret_id: 'secret_id' },
    outputIds: {},
  },
  'admin.applications.disable': {
    counts: 'nothing',
    recorded: 'always',
    inputIds: { application_id: 'application_id' },
    outputIds: {},
  },
  'admin.applications.enable': {
    counts: 'nothing',
    recorded: 'always',
    inputIds: { application_id: 'application_id' },
    outputIds: {},
  },
  'admin.applications.delete': {
    counts: 'nothing',
    recorded: 'always',
    inputIds: { application_id: 'application_id' },
    outputIds: {},
  },
  'admin.accounts.put': {
    counts: 'nothing',
    recorded: 'always',
    inputIds: { account_id: 'account_id' },
    outputIds: {},
  },
  'admin.accounts.get': {
    counts: 'nothing',
    recorded: 'refusals',
    inputIds: { account_id: 'account_id' },
    outputIds: {},
  },
  'admin.accounts.list': { counts: 'nothing', recorded: 'refusals', inputIds: {}, outputIds: {} },
  'admin.accounts.erase': {
    counts: 'nothing',
    recorded: 'always',
    inputIds: { account_id: 'account_id' },
    outputIds: {},
  },
  'admin.accounts.export': {
    counts: 'nothing',
    recorded: 'refusals',
    inputIds: { account_id: 'account_id' },
    outputIds: {},
  },
  'admin.codes.issue': {
    counts: 'nothing',
    recorded: 'always',
    inputIds: { application_id: 'application_id', account_id: 'account_id' },
    outputIds: { grant_id: 'grant_id' },
  },
  'admin.codes.cancel': {
    counts: 'nothing',
    recorded: 'always',
    inputIds: { grant_id: 'grant_id' },
    outputIds: { application_id: 'application_id', account_id: 'account_id' },
  },
  'admin.scopes.put': { counts: 'nothing', recorded: 'always', inputIds: {}, outputIds: {} },
  'admin.scopes.list': { counts: 'nothing', recorded: 'refusals', inputIds: {}, outputIds: {} },
  'admin.scopes.delete': { counts: 'nothing', recorded: 'always', inputIds: {}, outputIds: {} },
  'admin.connections.list': {
    counts: 'nothing',
    recorded: 'refusals',
    inputIds: { account_id: 'account_id' },
    outputIds: {},
  },
  'admin.connections.revoke': {
    counts: 'nothing',
    recorded: 'always',
    inputIds: { account_id: 'account_id', application_id: 'application_id' },
    outputIds: {},
  },
  'admin.pages.create': {
    counts: 'nothing',
    recorded: 'always',
    inputIds: { account_id: 'account_id' },
    outputIds: {},
  },
  'admin.links.read': {
    counts: 'nothing',
    recorded: 'always',
    inputIds: {},
    outputIds: linkRequestIds,
  },
  'admin.links.identify': {
    counts: 'nothing',
    recorded: 'always',
    inputIds: { account_id: 'account_id' },
    outputIds: linkRequestIds,
  },
  'admin.links.approve': {
    counts: 'nothing',
    recorded: 'always',
    inputIds: { account_id: 'account_id' },
    outputIds: linkRequestIds,
  },
  'admin.links.deny': {
    counts: 'nothing',
    recorded: 'always',
    inputIds: {},
    outputIds: linkRequestIds,
  },
  'admin.grants.list': {
    counts: 'nothing',
    recorded: 'refusals',
    inputIds: { account_id: 'account_id', application_id: 'application_id' },
    outputIds: {},
  },
  'admin.grants.revoke': {
    counts: 'nothing',
    recorded: 'always',
    inputIds: { grant_id: 'grant_id' },
    outputIds: {},
  },
};
