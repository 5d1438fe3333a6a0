import { accounts } from '../kinds.ts';
import type { AccountRecord } from '../records.ts';

/** A page of an account. From its creation on, an erasure and a sign-out of the account find it. */
export const PAGE_OF_ACCOUNT = {
  kind: accounts,
  by: 'account_id',
  fields: ['account', 'sign_outs', 'revision'],
  copiesFirst: true,
  copy: ({ account, sign_outs, revision }: Held) =>
    account && { sign_outs, account_revision: revision },
} as const;

interface Held {
  account: AccountRecord | null;
  sign_outs: number;
  revision: number;
}
