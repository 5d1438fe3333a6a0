import type { Milliseconds } from '@latchkey/domain/clock';
import { grants } from '@latchkey/store/kinds';
import type { Database } from './database.ts';
import { toDate } from './documents/values.ts';

// Small enough that no update delays others.
const BATCH_SIZE = 1_000;
const DAY: Milliseconds = 86_400_000;

/** The members of a `RevokedRecord`. */
const kept = ['id', 'application_id', 'created_at', 'revoked_at'];
const details = [
  ...Object.keys(grants.fields).filter((name) => !kept.includes(name)),
  // Of an erasure.
  'erasure_id',
];

/** Not a TTL index, since the documents stay. Several processes may run it at once. */
export async function reduceRevoked(
  database: Database,
  days: number,
  now: Milliseconds,
): Promise<void> {
  const old = {
    revoked_at: { $lte: toDate(now - days * DAY), $exists: true },
    account_id: { $exists: true },
  };
  const $unset = Object.fromEntries(details.map((field) => [field, '' as const]));
  const reduceBatch = async () => {
    const found = await database.readByIndex('revoked_grants_with_details', ({ grants }, listing) =>
      grants
        .find(old, { ...listing, projection: { _id: 1 } })
        .limit(BATCH_SIZE)
        .toArray(),
    );
    if (found.length === 0) return false;
    const ids = found.map(({ _id }) => _id);
    await database.writeOnce(({ grants, durable }) =>
      grants.updateMany({ ...old, _id: { $in: ids } }, { $unset }, durable),
    );
    return true;
  };
  // One call for each batch, so that the store can be closed between two.
  while (await reduceBatch()) {}
}
