import type { DatabaseSync } from 'node:sqlite';
import type { Milliseconds } from '@latchkey/domain/clock';
import { COUNTS_KEPT } from '@latchkey/domain/lifetimes';
import type { AnyKind } from '@latchkey/store/kind';
import * as kinds from '@latchkey/store/kinds';

export interface Sweep {
  /** @returns whether there may be more */
  step(now: Milliseconds, limit: number): boolean;
}

export function prepareSweeps(database: DatabaseSync): Sweep[] {
  const prepare = (name: string, key: string, expiry: string, kept: Milliseconds): Sweep => {
    const sweep = database.prepare(`
      DELETE FROM ${name} WHERE ${key} IN
        (SELECT ${key} FROM ${name} WHERE ${expiry} <= :before LIMIT :limit)`);
    const step: Sweep['step'] = (now, limit) =>
      sweep.run({ before: now - kept, limit }).changes === limit;
    return { step };
  };
  return [
    ...Object.values<AnyKind>(kinds).flatMap(({ name, key, expiry }) =>
      expiry ? prepare(name, key, expiry.at, expiry.kept ?? 0) : [],
    ),
    prepare('rate_limit_counts', 'key', 'ends_at', 0),
    prepare('hour_counts', 'hour', 'hour', COUNTS_KEPT),
  ];
}
