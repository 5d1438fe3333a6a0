import type { Adapter } from '../adapter.ts';
import { type Givens, oneOf } from '../condition.ts';
import { commandChanges as kind } from '../kinds.ts';
import type { CommandChange } from '../records.ts';

export function commandChanges(db: Adapter) {
  const keep = db.insertNew(kind);
  const list = db.list(
    kind,
    () => ({}),
    ['id', 'change'],
    ({ id, change }) => ({ id, ...change }),
    {
      order: { by: ['id'] },
    },
  );
  const forget = db.removeSome(kind, ({ ids }: Givens<{ ids: readonly string[] }>) => ({
    id: oneOf(ids),
  }));
  return {
    /** Keeps changes until they are forgotten. Idempotent. */
    keepCommandChanges: (changes: readonly CommandChange[]) =>
      keep(changes.map(({ id, ...change }) => ({ id, change }))),

    /** The oldest kept changes, at most `limit`. */
    listCommandChanges: (limit: number) => list({ limit }),
    async forgetCommandChanges(ids: readonly string[]): Promise<void> {
      await forget({ ids });
    },
  };
}
