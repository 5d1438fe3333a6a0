import type { Decision } from './adapter.ts';
import type { AnyCall } from './call-sites.ts';
import { holds, type Input, meets, outcomeOf, type Setting, type Term } from './condition.ts';
import type { AnyKind } from './kind.ts';
import { retryOnConflict } from './retry-on-conflict.ts';
import type { ReadBack } from './uncertain-writes.ts';

// What every database on a server decides in the same way, once a record was read back.

/** A record, and its version, which each change replaces: so what is written at a version is made once at most. */
export interface Versioned {
  record: Input;
  version: unknown;
}

export const some = (record: Input, fields: readonly string[]): Input =>
  Object.fromEntries(fields.map((name) => [name, record[name]]));

/**
 * @param fields - of the record that was changed
 * @param isExact - whether a change that another one has overtaken counts as refused
 * @returns what became of a change that was made at a version, or at any for null
 */
export const changeOutcome =
  (
    kind: AnyKind,
    terms: readonly Term[],
    settings: readonly Setting[],
    fields: readonly string[],
    isExact: boolean,
  ) =>
  (found: Versioned | null, input: Input, version: unknown): ReadBack<Input | null> => {
    if (found === null) return { result: null };
    // A change that was made has raised it.
    if (version !== null && found.version === version) return 'retry';
    const outcome = outcomeOf(kind, terms, settings, found.record, input);
    if (outcome === 'made') return { result: some(found.record, fields) };
    if (outcome === 'refused') return { result: null };
    if (version === null) return outcome;
    // It met the condition again, at a later revision.
    return isExact ? { result: null } : 'unknown';
  };

/** @returns what became of a removal */
export const removalOutcome =
  (terms: readonly Term[], isReused: boolean) =>
  (left: Versioned | null, input: Input): ReadBack<null> => {
    if (left === null) return 'unknown';
    if (!holds(left.record, terms, input)) return { result: null };
    return isReused ? 'unknown' : 'retry';
  };

interface Modifying {
  key(input: Input): string;
  decide(found: Input | null, input: Input): Decision<Input, unknown>;
  isReused: boolean;
  lookUp(key: string): Promise<Versioned | null>;
  /**
   * Writes a whole record at the version that was found.
   *
   * @param readBack - what became of it
   * @returns null on a conflict
   */
  write(
    found: Versioned | null,
    put: Input,
    event: Decision<Input, unknown>['event'],
    input: Input,
    readBack: (after: Versioned | null) => ReadBack<true>,
  ): Promise<true | null>;
}

export function modifying(of: Modifying): AnyCall {
  const { key, decide, isReused, lookUp, write } = of;
  return async (input) => {
    const id = key(input);
    const modified = await retryOnConflict(
      async () => ({ found: await lookUp(id) }),
      async ({ found }) => {
        const { put, result, event, isMade } = decide(found?.record ?? null, input);
        if (put === undefined) return { result };
        const isPut = (record: Input) =>
          Object.entries(put).every(([name, value]) => meets('equal', record[name] ?? null, value));
        const whole = { ...found?.record, ...put };
        const isOver = await write(found, whole, event, input, (after) => {
          if (after?.version === found?.version) return isReused ? 'unknown' : 'retry';
          return after && (isMade ?? isPut)(after.record) ? { result: true } : 'unknown';
        });
        return isOver && { result };
      },
    );
    return modified?.result;
  };
}
