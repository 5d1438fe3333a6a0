import type { ByHand } from '@latchkey/store/operations/by-hand';
import type { Filter } from 'mongodb';
import { BATCH_SIZE, inBatches } from './batches.ts';
import type { Database } from './database.ts';
import type { DeliveryDocument } from './documents/deliveries.ts';
import { toDate, toId } from './documents/values.ts';

export const eraseMessages =
  (database: Database): ByHand['eraseMessages'] =>
  ({ account_id, erased_at, revision }) => {
    const which: Filter<DeliveryDocument> = {
      account_id: toId(account_id),
      account_revision: { $not: { $gte: revision } },
      type: 'account.updated',
      $or: [{ body: { $exists: true } }, { status: 'pending' }],
    };
    const ifPending = (one: unknown, other: string) => ({
      $cond: [{ $eq: ['$status', 'pending'] }, one, other],
    });
    const erased = [
      {
        $set: {
          status: ifPending('dropped', '$status'),
          ended_at: ifPending(toDate(erased_at), '$ended_at'),
        },
      },
      { $unset: ['body', 'due_at', 'claim'] },
    ];
    return inBatches(async () => {
      const found = await database.decideByIndex(
        'deliveries_by_account',
        ({ deliveries }, options) =>
          deliveries
            .find(which, { ...options, projection: { _id: 1 } })
            .limit(BATCH_SIZE)
            .toArray(),
      );
      if (found.length === 0) return 0;
      const ofBatch = { _id: { $in: found.map(({ _id }) => _id) } };
      await database.write<void>(({ deliveries }) => ({
        async send(options) {
          await deliveries.updateMany(ofBatch, erased, options);
        },
      }));
      return found.length;
    });
  };
