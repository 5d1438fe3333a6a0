import { accountOf } from '@latchkey/rules/grants/authenticate-grant';
import type { OperationRows } from './row.ts';
import { toAccount, toGrantDescription } from './wire.ts';

export const accountRows: OperationRows<'account'> = {
  'account.get': {
    account: 'current',
    counts: 'requests',
    audited: 'first_use',
    ids: {},
    handle: async (_service, _input, found) => toAccount(accountOf(found)),
  },
  'account.grant': {
    account: 'at_issue',
    counts: 'requests',
    audited: 'first_use',
    ids: {},
    handle: async (_service, _input, found) => toGrantDescription(found),
  },
};
