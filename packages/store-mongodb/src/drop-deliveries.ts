import type { Milliseconds } from '@latchkey/domain/clock';
import type { Binary, Filter, UpdateFilter } from 'mongodb';
import { BATCH_SIZE, inBatches } from './batches.ts';
import type { Database } from './database.ts';
import type { DeliveryDocument } from './documents/deliveries.ts';
import { fromId, toDate } from './documents/values.ts';
import { findOwners } from './find-owners.ts';
import { asRead } from './retry-on-conflict.ts';

/** What becomes of a delivery that nobody is to be told any more. */
export const dropped = (now: Milliseconds): UpdateFilter<DeliveryDocument> => ({
  $set: { status: 'dropped', ended_at: toDate(now) },
  $unset: { due_at: '', claim: '' },
});

/**
 * Drops those that still match when the command arrives, however late: `which` has to leave out what begins
 * anew meanwhile.
 */
export const dropDeliveries = (
  database: Database,
  which: Filter<DeliveryDocument>,
  now: Milliseconds,
): Promise<void> =>
  database.write<void>(({ deliveries }) => ({
    isPart: true,
    async send(options) {
      await deliveries.updateMany({ ...which, status: 'pending' }, dropped(now), options);
    },
  }));

/**
 * Drops what is pending for those of the endpoints that are disabled or deleted. What is pending is read
 * first: what is made or begins anew for an endpoint that is enabled meanwhile is spared.
 */
export async function dropUntold(
  database: Database,
  endpoint_ids: readonly Binary[],
  now: Milliseconds,
): Promise<void> {
  await inBatches(async () => {
    const pending = await database.decideByIndex(
      'deliveries_by_endpoint',
      ({ deliveries }, options) =>
        deliveries
          .find(
            { endpoint_id: { $in: [...endpoint_ids] }, status: 'pending' },
            { ...options, projection: { endpoint_id: 1, revision: 1 } },
          )
          .limit(BATCH_SIZE)
          .toArray(),
    );
    if (pending.length === 0) return 0;
    const enabled = await enabledAmong(database, endpoint_ids);
    const untold = pending.filter(({ endpoint_id }) => !enabled.has(fromId(endpoint_id)));
    if (untold.length === 0) return 0;
    for (const which of asRead(untold)) await dropDeliveries(database, which, now);
    return untold.length;
  });
}

/** Runs after a change was made. If it fails, the change stays made, and a sweep drops what is left. */
export const tryDropUntold = (...input: Parameters<typeof dropUntold>): Promise<void> =>
  dropUntold(...input).catch(() => undefined);

export async function enabledAmong(
  database: Database,
  endpoint_ids: readonly Binary[],
): Promise<Set<string>> {
  const owners = await findOwners(database, endpoint_ids);
  const items = owners.flatMap(({ endpoints }) => endpoints);
  return new Set(
    items.flatMap(({ id, disabled_reason }) => (disabled_reason === undefined ? fromId(id) : [])),
  );
}
