import { DomainError } from '@latchkey/domain/domain-error';
import { eraseAccount } from '@latchkey/rules/accounts/erase-account';
import { exportAccount } from '@latchkey/rules/accounts/export-account';
import { readList } from './list.ts';
import { noteMark } from './note-mark.ts';
import type { OperationRows } from './row.ts';
import { StreamedOutput } from './streamed-output.ts';
import { accountExportText, toAccountEntry } from './wire.ts';

export const accountsRows: OperationRows<'admin.accounts'> = {
  'admin.accounts.put': {
    audited: 'always',
    ids: { account_id: 'input.account_id' },
    handle: async ({ store, room }, { account_id, ...input }) => {
      const account = {
        id: account_id,
        username: input.username,
        // Empty if it had only invisible characters.
        display_name: input.display_name || input.username,
        twitter: input.twitter || null,
        verified: input.verified,
        supporter: input.supporter,
        ...(input.external_id !== null && { external_id: input.external_id }),
      };
      // Changing an account needs no room.
      if ((await room.isFull()) && (await store.findAccount(account_id)) === null) {
        throw new DomainError('store_full');
      }
      await store.putAccount(account);
      return toAccountEntry(account);
    },
  },
  'admin.accounts.get': {
    audited: 'refusals',
    ids: { account_id: 'input.account_id' },
    handle: async ({ store }, { account_id }) => {
      const account = await store.findAccount(account_id);
      if (account === null) throw new DomainError('account_not_found');
      return toAccountEntry(account);
    },
  },
  'admin.accounts.list': {
    audited: 'refusals',
    ids: {},
    handle: ({ store }, { username, external_id, ...part }) =>
      readList(
        part,
        (range) => store.listAccounts({ username, external_id }, range),
        ({ place }) => place,
        ({ account }) => toAccountEntry(account),
      ),
  },
  'admin.accounts.erase': {
    audited: 'always',
    ids: { account_id: 'input.account_id' },
    handle: async (service, { account_id }, _operator, initiator, { ids }) => {
      const erased = await eraseAccount(service, account_id, initiator);
      const { isDone, grants_revoked } = noteMark(ids, erased);
      const state = isDone ? 'erased' : 'erasing';
      return { object: 'account_erasure', id: account_id, state, grants_revoked };
    },
  },
  'admin.accounts.export': {
    audited: 'refusals',
    ids: { account_id: 'input.account_id' },
    handle: (service, { account_id }) =>
      StreamedOutput.begin(accountExportText(exportAccount(service, account_id))),
  },
};
