import type { Milliseconds } from '@latchkey/domain/clock';
import type { Adapter } from '../adapter.ts';
import { type Changes, type Givens, isSet, lessThan } from '../condition.ts';
import { grants as kind } from '../kinds.ts';

const DAY: Milliseconds = 86_400_000;

/** The members of a `RevokedRecord`. */
const KEPT = ['id', 'application_id', 'created_at', 'revoked_at'];

const nothing = Object.fromEntries(
  Object.entries(kind.fields)
    .filter(([name]) => !KEPT.includes(name))
    .map(([name, { initial = null }]) => [name, initial]),
) as Changes<typeof kind>;

/**
 * Takes all but `KEPT` from some of the grants whose revocation is so many days old. Several processes may run it at
 * once.
 */
export function reduction(
  db: Adapter,
  days: number,
  tell: () => Promise<void>,
): (now: Milliseconds, limit: number) => Promise<boolean> {
  const reduceSome = db.changeSome(
    kind,
    ({ before }: Givens<{ before: Milliseconds }>) => ({
      where: { revoked_at: lessThan(before), account_id: isSet },
      set: nothing,
    }),
    ['id'],
    () => true,
    { index: 'revoked_with_details' },
  );
  return async (now, limit) => {
    // An end that is told takes back the names of its account, which is not known afterwards.
    await tell();
    return (await reduceSome({ before: now - days * DAY + 1, limit })) !== null;
  };
}
