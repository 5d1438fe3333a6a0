import type { Adapter } from '../adapter.ts';
import { type Givens, oneOf } from '../condition.ts';
import { commandChanges as kind } from '../kinds.ts';
import type { Store } from '../store.ts';

type CommandChanges = Pick<
  Store,
  'keepCommandChanges' | 'listCommandChanges' | 'forgetCommandChanges'
>;

export function commandChanges(db: Adapter): CommandChanges {
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
    keepCommandChanges: (changes) => keep(changes.map(({ id, ...change }) => ({ id, change }))),
    listCommandChanges: (limit) => list({ limit }),
    async forgetCommandChanges(ids) {
      await forget({ ids });
    },
  };
}
