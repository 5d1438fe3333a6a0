import type { Milliseconds } from '@latchkey/domain/clock';
import type { Database } from './database.ts';
import { toDate } from './documents/values.ts';

// Small enough that no update delays others.
const BATCH_SIZE = 1_000;
const DAY: Milliseconds = 86_400_000;

/** Everything but the members of a `RevokedRecord`, and the revision, which the locking needs. */
const details = [
  ...['account_id', 'scope', 'account', 'account_revision', 'code_hash', 'redemption_id'],
  ...['redirect_uri', 'redirect_uri_given', 'code_challenge', 'resource', 'link_id'],
  ...['issued_by', 'redeemed_by', 'erasure_id'],
  ...['first_used_at', 'first_used_by', 'last_used_at'],
  ...['recovered_at', 'recovered_by', 'revoked_by', 'revoked_reason'],
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
