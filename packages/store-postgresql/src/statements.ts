import type { Input, Source, Term } from '@latchkey/store/condition';
import type { SqlSender, SqlSite } from '@latchkey/store/sql/statement';
import { byShape, Statement } from '@latchkey/store/sql/statement';
import type { Database } from './database.ts';
import { dialect, types } from './dialect.ts';

/** A statement, and what is bound to its parameters. */
export interface Prepared {
  text: string;
  bind: readonly Source[];
}

/** The statements of a call site whose calls have one each: its words, and its values. */
export function statements(
  terms: readonly Term[],
  write: (statement: Statement, like: Input) => string,
): (input: Input) => [text: string, values: unknown[]] {
  const prepared = byShape(terms, (like) => {
    const statement = new Statement(dialect);
    return { text: write(statement, like), bind: statement.bind };
  });
  return (input) => {
    const { text, bind } = prepared(input);
    return [text, bind.map((value) => value(input))];
  };
}

/** Each call has a statement of its own. */
export function senderOf(database: Pick<Database, 'read' | 'write'>): SqlSender {
  const by =
    (send: Database['read']) =>
    <I, R>({ terms = [], text, result }: SqlSite<I, R>) => {
      const statementOf = statements(terms, text);
      return async (input: I) => result(await send(...statementOf(input as Input)), input);
    };
  return { read: by(database.read.bind(database)), write: by(database.write.bind(database)) };
}

/**
 * A statement that many calls share. The parameters of each are a row of `i`, with its place from 1 as `call`.
 *
 * @param write - the statement, from what follows `i` in its WITH
 */
export function shared(write: (statement: Statement) => string): Prepared {
  const columns: string[] = [];
  const arrays: string[] = [];
  const statement = new Statement({
    ...dialect,
    parameter(place, type) {
      columns.push(`p${place}`);
      arrays.push(`$${place}::${types[type]}[]`);
      return `i.p${place}`;
    },
  });
  const rest = write(statement);
  const rows = `SELECT * FROM unnest(${arrays.join(', ')}) WITH ORDINALITY AS i (${columns.join(', ')}, call)`;
  return { text: `WITH i AS MATERIALIZED (${rows})${rest}`, bind: statement.bind };
}

export const valuesOfAll = ({ bind }: Prepared, inputs: readonly Input[]) =>
  bind.map((value) => inputs.map(value));
