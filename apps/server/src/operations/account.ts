import type { AccountRecord, GrantAuthentication } from '../store/records.ts';
import type { Handlers } from './handler.ts';
import { toAccount, toGrantDescription } from './wire.ts';

/** What a grant is for: requests about its account. All they need was read when authenticating. */
export const accountHandlers: Handlers<'account.get' | 'account.grant'> = {
  'account.get': async (_service, _input, found) => toAccount(accountOf(found)),
  'account.grant': async (_service, _input, found) =>
    toGrantDescription({ ...found.grant, account: accountOf(found) }),
};

function accountOf({ grant, account }: GrantAuthentication): AccountRecord {
  // No operation deletes an account, so somebody did by hand.
  if (account === null) {
    throw new Error(`The account of the grant ${grant.grant_id} is gone from the store.`);
  }
  return account;
}
