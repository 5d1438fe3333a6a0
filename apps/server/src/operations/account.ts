import type { Handlers } from './handler.ts';
import { toAccount, toGrantDescription } from './wire.ts';

/** What a grant is for: requests about its account. All they need was read when authenticating. */
export const accountHandlers: Handlers<'account.get' | 'account.grant'> = {
  'account.get': async (_service, _input, { account, grant }) => {
    // No operation deletes an account, so somebody did by hand.
    if (account === null)
      throw new Error(`The account ${grant.account.id} is gone from the store.`);
    return toAccount(account);
  },
  'account.grant': async (_service, _input, { grant }) => toGrantDescription(grant),
};
