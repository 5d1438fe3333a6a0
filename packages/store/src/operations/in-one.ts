import type { Adapter, Decision } from '../adapter.ts';
import type { Givens } from '../condition.ts';
import type { ReadOptions } from '../inputs.ts';
import type { InOne } from '../kinds.ts';

/** Of a change; `put` is what the list becomes. */
export interface ListDecision<T, R> extends Omit<Decision<readonly T[], R>, 'put'> {
  put?: readonly T[];
}

const ALL = { name: 'all' } as const;

/** The records of a kind that is stored in one record. */
export function inOne<T extends { id: string }>(db: Adapter, kind: InOne<T>) {
  const find = db.find(
    kind,
    ({ name }: Givens<{ name: string }>) => ({ name }),
    ['list'],
    ({ list }) => list as readonly T[],
  );
  const change = <I, R>(
    decide: (list: readonly T[], input: I) => ListDecision<T, R>,
    options?: { ends: boolean },
  ) =>
    db.modify(
      kind,
      () => ALL.name,
      (found, input: I) => {
        const { result, put, isMade } = decide(found?.list ?? [], input);
        return {
          result,
          ...(put && { put: { ...ALL, list: put } }),
          ...(isMade && { isMade: ({ list }: { list: readonly T[] }) => isMade(list) }),
        };
      },
      options,
    );
  return {
    read: async ({ mayBeStale }: ReadOptions = {}) => (await find({ ...ALL, mayBeStale })) ?? [],

    change,

    /** Returns what it was; null if there is none. */
    remove: change(
      (list, id: string): ListDecision<T, T | null> => {
        const found = list.find(isOf(id));
        if (found === undefined) return { result: null };
        return {
          result: found,
          put: list.filter((one) => one !== found),
          isMade: (later) => !later.some(isOf(id)),
        };
      },
      { ends: true },
    ),
  };
}

export const isOf =
  (id: string) =>
  (one: { id: string }): boolean =>
    one.id === id;
