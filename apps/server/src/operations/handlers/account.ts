import { accountOf } from '@latchkey/rules/grants/authenticate-grant';
import type { Handlers } from '../handler.ts';
import { toAccount, toGrantDescription } from '../wire.ts';

export const accountHandlers: Handlers<'account.get' | 'account.grant'> = {
  'account.get': async (_service, _input, found) => toAccount(accountOf(found)),
  'account.grant': async (_service, _input, found) => toGrantDescription(found),
};
