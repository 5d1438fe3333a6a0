import { sweepsOf } from '@latchkey/store/sql/by-hand';
import type { Database } from './database.ts';
import { UNFENCED } from './fence.ts';

/** What another transaction has locked waits for the next sweep. What a failover brings back, too. */
export const sweepIn = (database: Database) =>
  sweepsOf(({ table, key, expiry }) => {
    const text = `DELETE FROM ${table} WHERE ${key} = ANY (ARRAY(
        SELECT ${key} FROM ${table} WHERE ${expiry} <= $1 AND ${UNFENCED}
        ORDER BY ${expiry} LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING TRUE`;
    return async ({ now, limit }) => (await database.write(text, [now, limit])).length;
  });
