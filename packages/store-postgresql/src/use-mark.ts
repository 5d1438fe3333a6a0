import { DEMO_ENDPOINT_ID } from '@latchkey/store/events-keys';
import type { ClaimedDatabase, UseMark, UseMarks } from '@latchkey/store/use-mark';
import type { Database, Send } from './database.ts';
import { FENCED } from './fence.ts';

/** What sends them. */
type Statements = Pick<Database, 'read' | 'write'>;

export function useMarks(database: Statements): UseMarks {
  return {
    async find() {
      const [found] = await database.read(`SELECT mark FROM use_mark WHERE ${FENCED}`);
      return found === undefined ? null : JSON.parse(found.mark);
    },

    async replace(before, after) {
      const text = JSON.stringify(after);
      const changed =
        before === null
          ? await database.write(
              `INSERT INTO use_mark (mark) SELECT $1 WHERE ${FENCED} ON CONFLICT DO NOTHING RETURNING TRUE`,
              [text],
            )
          : await database.write(
              `UPDATE use_mark SET mark = $2 WHERE mark = $1 AND ${FENCED} RETURNING TRUE`,
              [JSON.stringify(before), text],
            );
      return changed.length === 1;
    },
  };
}

/** Keeps the mark as it is until the transaction has ended. Returns false if it is another one. */
export async function holdMark(send: Send, mark: UseMark): Promise<boolean> {
  const held = await send(`SELECT FROM use_mark WHERE mark = $1 AND ${FENCED} FOR UPDATE`, [
    JSON.stringify(mark),
  ]);
  return held.length === 1;
}

export const claimed = (database: Statements, name: string): ClaimedDatabase => ({
  ...useMarks(database),
  name,
  async hasEndpoints() {
    const found = await database.read(
      'SELECT FROM endpoint_owners, json_array_elements_text(ids::json) AS id WHERE id <> $1 LIMIT 1',
      [DEMO_ENDPOINT_ID],
    );
    return found.length > 0;
  },
});
