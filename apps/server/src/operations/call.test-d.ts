import { accountRows } from './account.ts';
import type { ActionChoice } from './action.ts';
import { browserActions } from './browser-actions.ts';
import { type CallContext, type CallRequest, call } from './call.ts';
import type { Callers } from './caller.ts';
import { codeRows } from './codes.ts';
import { grantRows } from './grants.ts';
import { operationNamed } from './operation.ts';
import type { OperationRow, OperationRows } from './row.ts';

declare const context: CallContext;
declare const request: CallRequest;
declare const user: Callers['user'];
declare const visitor: Callers['visitor'];

const application_id = '0193aa00-0000-7000-8000-000000000001';
const ofUser = { authenticate: async () => user, request, summary: {} };

// What is read is what is handled.
call(context, browserActions.disconnect, {
  ...ofUser,
  readInput: async () => ({ application_id }),
});
call(context, browserActions.disconnect, {
  ...ofUser,
  // @ts-expect-error without an application, the rule would list the grants of every one
  readInput: async () => ({ decision: 'disconnect' }),
});
export const choice: ActionChoice<object, { application_id: string }, Callers['user']> = {
  name: 'pages.open',
  caller: 'user',
  // @ts-expect-error another action takes another input
  choose: () => browserActions.begin,
};

// Who is authenticated is who calls.
call(context, browserActions.disconnect, {
  ...ofUser,
  // @ts-expect-error a visitor has no page open
  authenticate: async () => visitor,
  readInput: async () => ({ application_id }),
});
call(context, operationNamed('admin.codes.cancel'), {
  ...ofUser,
  // @ts-expect-error an operation of the operator
  authenticate: async () => user,
  readInput: async () => ({ grant_id: application_id }),
});

// No operation is left out, and no column of it. Its row names only ids that there are.
const { 'admin.codes.issue': issue, ...others } = codeRows;
// @ts-expect-error without admin.codes.issue
export const incomplete: OperationRows<'admin.codes'> = others;
const { counts, ...uncounted } = grantRows['grants.convert'];
// @ts-expect-error without what it counts against
export const unlimited: OperationRow<'grants.convert'> = uncounted;
// @ts-expect-error no call of the operator counts
export const counted: OperationRow<'admin.codes.issue'> = { ...issue, counts };
const { audited, ...unaudited } = issue;
// @ts-expect-error without what is audited
export const silent: OperationRow<'admin.codes.issue'> = unaudited;
const { ids, ...nameless } = issue;
// @ts-expect-error without the ids, which may be none
export const unnamed: OperationRow<'admin.codes.issue'> = nameless;
const { handle, ...idle } = issue;
// @ts-expect-error without its handler
export const unhandled: OperationRow<'admin.codes.issue'> = idle;
const { account, ...accountless } = accountRows['account.get'];
// @ts-expect-error without which account its grant reads
export const unread: OperationRow<'account.get'> = accountless;
export const misread: OperationRow<'admin.codes.issue'> = {
  ...{ audited, handle },
  // @ts-expect-error its input has no grant_id yet
  ids: { ...ids, grant_id: 'input.grant_id' },
};
export const misnamed: OperationRow<'account.get'> = {
  ...{ ...accountRows['account.get'], account },
  // @ts-expect-error the audit has no such id
  ids: { username: 'output.username' },
};
