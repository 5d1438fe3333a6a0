import { isDeepStrictEqual } from 'node:util';
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { type AccountDocument, fromAccountDocument, toAccountDocument, toId } from './documents.ts';
import { isDuplicateKey } from './errors.ts';
import { inTurn, ofRevision, revisionOf } from './revision.ts';

export function accounts(connection: Connection): Pick<Store, 'putAccount' | 'findAccount'> {
  const find = (_id: AccountDocument['_id']) =>
    connection.read(({ accounts, decisive }) => accounts.findOne({ _id }, decisive));

  return {
    async putAccount(account) {
      const { _id, ...replacement } = toAccountDocument(account);
      await inTurn(
        async () => (await find(_id)) ?? {},
        (revision) =>
          connection.write<true | null>(({ accounts, decisive }) => ({
            async send(durable) {
              try {
                await accounts.replaceOne(
                  { _id, ...ofRevision(revision) },
                  { ...replacement, revision: revision + 1 },
                  { ...durable, upsert: true },
                );
                return true;
              } catch (error) {
                // It matched none of this revision, and met one of another.
                if (isDuplicateKey(error)) return null;
                throw error;
              }
            },
            async readBack() {
              const found = await accounts.findOne({ _id }, decisive);
              if (revisionOf(found) === revision) return 'again';
              const made = isDeepStrictEqual(found && fromAccountDocument(found), account);
              return made ? { result: true } : 'unknown';
            },
          })),
      );
    },

    async findAccount(account_id) {
      const document = await find(toId(account_id));
      return document && fromAccountDocument(document);
    },
  };
}
