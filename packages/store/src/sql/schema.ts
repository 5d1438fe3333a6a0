import { type AnyKind, type Field, type FieldType, indexesOf, type NamedIndex } from '../kind.ts';
import { SCHEMA } from '../schema-version.ts';

/** How the tables of one SQL database differ from those of another. */
export interface SchemaDialect {
  types: Readonly<Record<FieldType, string>>;
  /** What stands behind the columns of a table. */
  optionsOf(kind: Pick<AnyKind, 'isLong'>): string;
}

/** The tables of what no kind declares. */
export function tablesByHand({ types, optionsOf }: SchemaDialect): string {
  const { id, text, time, number, flag } = types;
  const end = `\n)${optionsOf({})};`;
  return `
-- Events, each recorded in the transaction of its change, that are no deliveries yet.
CREATE TABLE marks (
  of ${text} NOT NULL, -- the table of its record
  about ${id} NOT NULL, -- the key of its record
  type ${text} NOT NULL,
  at ${time} NOT NULL,
  id ${id} NOT NULL, -- of the event, or of the record of which the event is made
  name ${text}, -- of the application
  PRIMARY KEY (of, at, id, type)${end}

-- What happened in each of the last hours.
CREATE TABLE hour_counts (
  hour ${time} NOT NULL, -- its beginning
  name ${text} NOT NULL,
  count ${number} NOT NULL,
  PRIMARY KEY (hour, name)${end}

-- How many grants are active: one row at most.
CREATE TABLE live_count (
  name ${text} PRIMARY KEY,
  count ${number} NOT NULL,
  counted_at ${time} NOT NULL${end}

CREATE TABLE rate_limit_counts (
  key ${text} PRIMARY KEY,
  count ${number} NOT NULL,
  ends_at ${time} NOT NULL${end}

CREATE INDEX rate_limit_counts_by_end ON rate_limit_counts (ends_at);

-- What the database is used for: one row, and none in a new database.
CREATE TABLE use_mark (
  is_one ${flag} PRIMARY KEY DEFAULT TRUE CHECK (is_one),
  mark ${text} NOT NULL -- JSON${end}

-- The oldest program that can use the database, as long as its version is this one.
CREATE TABLE schema_version (
  version ${number} NOT NULL,
  oldest ${number} NOT NULL,
  PRIMARY KEY (version)${end}

INSERT INTO schema_version (version, oldest) VALUES (${SCHEMA.version}, ${SCHEMA.oldest});`;
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
