import type { Milliseconds } from '@latchkey/domain/clock';
import type { Binary } from 'mongodb';
import type { Database } from './database.ts';
import { type EndpointsDocument, HOST } from './documents/endpoints.ts';
import { fromId } from './documents/values.ts';
import { dropUntold, enabledAmong } from './drop-deliveries.ts';
import { endpointsWithDue } from './due-endpoints.ts';
import { joinApplication } from './find-owners.ts';
import { atRevision, revisionOf } from './retry-on-conflict.ts';

/** Several processes may run it at once. */
export async function sweepEndpoints(database: Database, now: Milliseconds): Promise<void> {
  await dropLate(database, now);
  await deleteOwners(database);
}

/** What a process that was held up made for an endpoint that is disabled or deleted since. */
async function dropLate(database: Database, now: Milliseconds): Promise<void> {
  const ids = await endpointsWithDue(database, new Date(8_640_000_000_000_000));
  if (ids.length === 0) return;
  const enabled = await enabledAmong(database, ids);
  const untold = ids.filter((id) => !enabled.has(fromId(id)));
  if (untold.length > 0) await dropUntold(database, untold, now);
}

/** Those of deleted applications, once all is told. */
async function deleteOwners(database: Database): Promise<void> {
  const remembered = { $or: [{ deleted_at: { $exists: false } }, { deletion_pending: true }] };
  const gone = await database.read(({ endpoints, listing }) =>
    endpoints
      .aggregate<EndpointsDocument>(
        [
          { $match: { _id: { $gt: HOST } } },
          joinApplication('remembered', remembered),
          { $match: { remembered: [] } },
        ],
        listing,
      )
      .toArray(),
  );
  for (const owner of gone) {
    const { _id, endpoints: items } = owner;
    if (
      await hasDue(
        database,
        items.map(({ id }) => id),
      )
    )
      continue;
    await database.writeOnce(({ endpoints, durable }) =>
      endpoints.deleteOne({ _id, ...atRevision(revisionOf(owner)) }, durable),
    );
  }
}

const hasDue = async (database: Database, ids: readonly Binary[]) =>
  (await database.decideByIndex('deliveries_due', ({ deliveries }, options) =>
    deliveries.findOne({ endpoint_id: { $in: [...ids] }, due_at: { $exists: true } }, options),
  )) !== null;
