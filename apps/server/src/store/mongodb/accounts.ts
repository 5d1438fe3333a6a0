import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { fromAccountDocument, toAccountDocument, toId } from './documents.ts';
import { isDuplicateKey } from './errors.ts';

export function accounts(connection: Connection): Pick<Store, 'putAccount' | 'findAccount'> {
  return {
    async putAccount(account) {
      const { _id, ...replacement } = toAccountDocument(account);
      await connection.write(({ accounts, durable }) => ({
        async send() {
          const replace = () =>
            accounts.replaceOne({ _id }, replacement, { ...durable, upsert: true });
          await replace().catch((error: unknown) => {
            // Two that find no account both try to insert it. For the one that comes second there
            // is one now, and it stays: accounts are not deleted.
            if (isDuplicateKey(error)) return replace();
            throw error;
          });
        },
      }));
    },

    async findAccount(account_id) {
      const document = await connection.read(({ accounts, decisive }) =>
        accounts.findOne({ _id: toId(account_id) }, decisive),
      );
      return document && fromAccountDocument(document);
    },
  };
}
