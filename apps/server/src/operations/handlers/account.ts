import type { AccountRecord, GrantAuthentication } from '../../store/records.ts';
import type { Handlers } from '../handler.ts';
import { toAccount, toGrantDescription } from '../wire.ts';

/** Authentication has read everything that these operations return. */
export const accountHandlers: Handlers<'account.get' | 'account.grant'> = {
  'account.get': async (_service, _input, found) => toAccount(accountOf(found)),
  'account.grant': async (_service, _input, found) =>
    toGrantDescription({ ...found.grant, account: accountOf(found) }),
};

function accountOf({ grant, account }: GrantAuthentication): AccountRecord {
  // An erasure revokes the grant before the account is gone: somebody deleted it by hand.
  if (account === null) {
    throw new Error(`The account of the grant ${grant.grant_id} is gone from the store.`);
  }
  return account;
}
