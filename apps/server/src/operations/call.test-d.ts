import type { ActionChoice } from './action.ts';
import { browserActions } from './browser-actions.ts';
import { type CallContext, type CallRequest, call } from './call.ts';
import type { Callers } from './caller.ts';
import { operationNamed } from './operation.ts';
import { type OperationRow, operationTable } from './operation-table.ts';

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

// No operation is left out of the server's table, and it names only ids that there are.
const { 'grants.convert': convert, ...others } = operationTable;
// @ts-expect-error without grants.convert
export const incomplete: typeof operationTable = others;
export const misread: OperationRow<'grants.convert'> = {
  ...convert,
  // @ts-expect-error a code has no grant_id
  inputIds: { grant_id: 'grant_id' },
};
