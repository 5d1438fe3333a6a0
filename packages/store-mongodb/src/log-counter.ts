import { LOG_COUNTER } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import type { Database } from './database.ts';
import { isDuplicateKey } from './errors.ts';

export function logCounter(database: Database): Pick<Store, 'takeLogNumbers'> {
  return {
    takeLogNumbers: ({ count, above = 0 }) =>
      database.writeOnce(async ({ logCounter, durable }) => {
        const take = () =>
          logCounter.findOneAndUpdate(
            { _id: LOG_COUNTER },
            // A missing number is less than any.
            [{ $set: { log_number: { $add: [{ $max: ['$log_number', above] }, count] } } }],
            { ...durable, upsert: true, returnDocument: 'after' },
          );
        // Another upsert inserted the counter at the same time. MongoDB does not always retry that.
        const taken = await take().catch((error: unknown) => {
          if (isDuplicateKey(error)) return take();
          throw error;
        });
        if (taken === null) throw new TypeError('An upsert returned no document.');
        return taken.log_number;
      }),
  };
}
