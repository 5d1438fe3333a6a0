import type { Input, Source } from '@latchkey/store/condition';
import { Statement } from '@latchkey/store/sql';
import { dialect, types } from './dialect.ts';

/** A statement, and what is bound to its parameters. */
export interface Prepared {
  text: string;
  bind: readonly Source[];
}

/** A statement of one call. */
export function single(write: (statement: Statement) => string): Prepared {
  const statement = new Statement(dialect);
  return { text: write(statement), bind: statement.bind };
}

export const valuesOf = ({ bind }: Prepared, input: Input) => bind.map((value) => value(input));

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
