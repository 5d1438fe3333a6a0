import { BadSetting } from '@latchkey/domain/bad-setting';
import type { Send } from './database.ts';

const NEEDED = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

export interface MissingRights {
  table: string;
  rights: readonly string[];
}

/**
 * A missing right would otherwise show only in the first request that needs it.
 *
 * @throws BadSetting
 */
export async function checkRights(send: Send, tables: readonly string[]): Promise<void> {
  const [missing] = await missingRights(send, tables);
  if (missing === undefined) return;
  const { table, rights } = missing;
  throw new BadSetting(
    `DATABASE_URL: the user may not ${rights.join(', ')} in the table ${table}: ${remedyFor(missing)}`,
  );
}

/** Of tables that are there. */
export async function missingRights(
  send: Send,
  tables: readonly string[],
): Promise<MissingRights[]> {
  const rows = await send(
    `SELECT "table", array_agg("right" ORDER BY place) AS rights
    FROM unnest($1::text[]) "table", unnest($2::text[]) WITH ORDINALITY needed ("right", place)
    WHERE NOT has_table_privilege(to_regclass("table"), "right")
    GROUP BY "table" ORDER BY "table"`,
    [tables, NEEDED],
  );
  return rows as MissingRights[];
}

export const remedyFor = ({ table, rights }: MissingRights) =>
  `as its owner, run GRANT ${rights.join(', ')} ON ${table} TO the user, or see docs/operations/postgresql.md, "Least rights"`;
