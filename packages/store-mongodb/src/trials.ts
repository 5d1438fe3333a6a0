import type { Store } from '@latchkey/store/store';
import type { Collection } from 'mongodb';
import type { Database } from './database.ts';
import { toId } from './documents/values.ts';

export function trials(database: Database): Pick<Store, 'removeTrial'> {
  const remove = (from: 'grants' | 'accounts' | 'applications', id: string) =>
    database.write<void>((collections) => ({
      async send(options) {
        const collection = collections[from] as unknown as Collection;
        await collection.deleteOne({ _id: toId(id) as never }, options);
      },
    }));

  return {
    async removeTrial({ grant_id, account_id, application_id }) {
      if (grant_id !== null) await remove('grants', grant_id);
      await remove('accounts', account_id);
      await remove('applications', application_id);
    },
  };
}
