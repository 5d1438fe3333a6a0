import { isUuid } from '@latchkey/schema';
import type { FieldType } from '@latchkey/store/kind';
import type { Dialect } from '@latchkey/store/sql/statement';
import { FENCED, UNFENCED } from './fence.ts';

/** UUIDv7s sort by time, and texts by their bytes. `json` keeps a text as it is: `jsonb` takes no U+0000. */
export const types: Readonly<Record<FieldType, string>> = {
  ...{ id: 'uuid', bytes: 'bytea', text: 'text', json: 'json', by: 'json' },
  ...{ time: 'bigint', number: 'bigint', flag: 'boolean' },
};

const NOBODY = '00000000-0000-0000-0000-000000000000';
/** The server refuses a text that is no id, such as one of a log that somebody wrote. */
const id = (value: string): string => (isUuid(value) ? value : NOBODY);
/** The server takes no U+0000, which nothing that is stored has: so this is found nowhere. */
const text = (value: string): string => value.replaceAll('\0', '\ufffd');
const same = (value: never): unknown => value;
const json = (value: never): unknown => JSON.stringify(value);

export const dialect: Dialect = {
  parameter: (place, type) => `$${place}::${types[type]}`,
  encode: {
    ...{ id, text, bytes: same, time: same, number: same, flag: same },
    ...{ json, by: json },
  },
  // The pool parses numbers and JSON.
  decode: {
    ...{ id: same, text: same, time: same, number: same, flag: same, json: same, by: same },
    bytes: (value: Uint8Array) => new Uint8Array(value),
  },
  isSame: 'IS NOT DISTINCT FROM',
  greatest: 'greatest',
  least: 'least',
  eachOf: 'json_array_elements_text',
  membersOf: 'json_each_text',
  objectOf: 'json_object_agg',
  unlimited: null,
  fenced: ` AND ${FENCED}`,
  unfenced: ` AND ${UNFENCED}`,
  merge(column, members) {
    const names = members.map(({ name }) => `'${name}'`);
    const put = members.map(
      ({ name, parameter }) => `UNION ALL SELECT '${name}', to_json(${parameter})`,
    );
    return `(SELECT json_object_agg(key, value) FROM (
      SELECT key, value FROM json_each(${column}) WHERE key NOT IN (${names.join(', ')}) ${put.join(' ')}) members)`;
  },
};
