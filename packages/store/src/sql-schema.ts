import { type AnyKind, type Field, type FieldType, indexesOf, type NamedIndex } from './kind.ts';

/** How the tables of one SQL database differ from those of another. */
export interface SchemaDialect {
  types: Readonly<Record<FieldType, string>>;
  /** What stands behind the columns of a table. */
  optionsOf(kind: AnyKind): string;
}

/** Creates the table of a kind, and its indexes. */
export function tableOf({ types, optionsOf }: SchemaDialect, kind: AnyKind): string {
  const fields = Object.entries(kind.fields as Record<string, Field<unknown>>);
  const columns = fields.map(([name, { type, isOptional, initial }]) => {
    const words = [name, types[type]];
    if (name === kind.key) words.push('PRIMARY KEY');
    if (!isOptional) words.push('NOT NULL');
    if (initial !== undefined) words.push(`DEFAULT ${initial}`);
    return `  ${words.join(' ')}`;
  });
  return [
    `CREATE TABLE ${kind.name} (\n${columns.join(',\n')}\n)${optionsOf(kind)};`,
    ...indexesOf(kind).map((index) => indexText(kind, index)),
  ].join('\n');
}

/** Creates an index, unless it is there. */
export function indexText(
  kind: AnyKind,
  { name, on, where: { set = [], unset = [] } = {} }: NamedIndex,
) {
  const conditions = [
    ...set.map((field) => `${field} IS NOT NULL`),
    ...unset.map((field) => `${field} IS NULL`),
  ];
  const which = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  return `CREATE INDEX IF NOT EXISTS ${name} ON ${kind.name} (${on.join(', ')})${which};`;
}
