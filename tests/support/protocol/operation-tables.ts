import { type Caller, inputs, type OperationContract, objects, operations } from '@latchkey/schema';
import { rowsBelow, withTableBelow } from '../markdown.ts';

// The tables of docs/protocol/operations.md that follow from the table of operations.

/** What is read of a zod schema. */
export interface Schema {
  shape: Record<string, Schema>;
  def: {
    type: string;
    innerType?: Schema;
    element?: Schema;
    options?: Schema[];
    values?: unknown[];
  };
  value?: unknown;
  meta(): { id?: string } | undefined;
  safeParse(value: unknown): { success: boolean; data?: unknown };
}

export const schemaOf = (schema: unknown) => schema as Schema;

const code = (text: string) => `\`${text}\``;
export const listed = (values: readonly string[] = []) => values.join(', ') || '–';

const headings: Record<Caller, string> = {
  application: 'Of an application',
  grant: 'Of a grant',
  operator: 'Of the operator',
};

const contracts = Object.entries<OperationContract>(operations);

/** The page with these tables as they have to be. */
export function withOperationTables(page: string): string {
  let text = page;
  for (const [caller, heading] of Object.entries(headings)) {
    const rows = contracts.filter(([, operation]) => operation.caller === caller).map(operationRow);
    text = withTableBelow(text, heading, rows);
  }
  text = withTableBelow(text, 'Defaults', defaultRows(text));
  return withTableBelow(text, 'Objects', objectRows());
}

function operationRow([name, operation]: [string, OperationContract]): string[] {
  const { method, path, input, output, errors, caller, roles } = operation;
  const members = Object.entries(schemaOf(input).shape).map(([member, schema]) =>
    code(member + (schema.safeParse(undefined).success ? '?' : '')),
  );
  return [
    ...[code(name), code(`${method} ${path}`), listed(members)],
    ...[`_${schemaOf(output).meta()?.id}_`, listed(errors.map(code))],
    ...(caller === 'operator' ? [listed(roles?.map(code))] : []),
  ];
}

/** Errors have a page of their own. Lists that have nothing else are described above the table. */
const OF_ERRORS = ['ErrorBody', 'ParameterIssue'];

function objectRows(): string[][] {
  const shapeOf = (schema: Schema) => (schema.def.options?.[0] ?? schema).shape;
  const all = Object.values(objects as Record<string, unknown>).map(schemaOf);
  // A schema with a description of its own keeps the definition, and has no id.
  const ids = new Map(all.map((schema) => [schema.def, schema.meta()?.id]));
  const named = (schema: Schema): string => {
    const id = ids.get(schema.def);
    if (id !== undefined && shapeOf(schema)) return ` (_${id}_)`;
    const { type, innerType, element } = schema.def;
    if (type === 'array' && element) return named(element).replace(/\)$/, '[])');
    return type === 'nullable' && innerType ? named(innerType) : '';
  };
  const rows = all.flatMap((schema) => {
    const id = schema.meta()?.id;
    if (!shapeOf(schema) || id === undefined || OF_ERRORS.includes(id)) return [];
    const { object, ...others } = shapeOf(schema);
    const members = Object.entries(others).map(
      ([name, member]) => code(name + (member.def.type === 'optional' ? '?' : '')) + named(member),
    );
    if (members.length === 2 && 'data' in others && 'next_cursor' in others) return [];
    return [{ id, object: object === undefined ? '–' : code(`${object.value}`), members }];
  });
  const containedIn = (row: ObjectRow) => {
    const isContained = ({ object, members }: ObjectRow) =>
      object === row.object &&
      members.length >= WORTH_NAMING &&
      members.length < row.members.length &&
      members.every((member) => row.members.includes(member));
    return rows.filter(isContained).sort((a, b) => b.members.length - a.members.length)[0];
  };
  return rows
    .map((row) => {
      const part = containedIn(row);
      const rest = row.members.filter((member) => !part?.members.includes(member));
      const members = part === undefined ? rest : [`all of _${part.id}_`, ...rest];
      return [row.id, row.object, listed(members)];
    })
    .sort(([one = ''], [two = '']) => (one < two ? -1 : 1));
}

type ObjectRow = { id: string; object: string; members: string[] };

/** An object with so many members is named in the place of them. */
const WORTH_NAMING = 5;

/** By their values. What is said of a value, behind a colon, stays; nothing is said of a new member. */
function defaultRows(page: string): string[][] {
  const left = new Map<string, Set<string>>();
  for (const input of Object.values(inputs as Record<string, unknown>)) {
    for (const [name, schema] of Object.entries(schemaOf(input).shape ?? {})) {
      const { success, data } = schema.safeParse(undefined);
      if (!success || data === undefined) continue;
      const value = typeof data === 'number' ? `${data}` : code(JSON.stringify(data));
      left.set(value, (left.get(value) ?? new Set()).add(code(name)));
    }
  }
  const rows: [names: string[], written: string][] = [];
  for (const [names = '', written = ''] of rowsBelow(page, 'Defaults')) {
    const ofValue = left.get(written.replace(/:.*/, ''));
    const isHere = (name: string) => written === OF_ANOTHER || ofValue?.delete(name);
    const kept = names.split(', ').filter(isHere);
    if (kept.length > 0) rows.push([kept, written]);
  }
  for (const [value, names] of left) {
    const row = rows.find(([, written]) => written === value);
    if (row !== undefined) row[0].push(...[...names].sort());
    else if (names.size > 0) rows.push([[...names].sort(), value]);
  }
  return rows.map(([names, written]) => [names.join(', '), written]);
}

/** The default is the value of another member, so the schema has none. */
const OF_ANOTHER = 'the `username`';
