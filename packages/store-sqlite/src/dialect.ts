import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { Dialect } from '@latchkey/store/sql/statement';
import { initiatorRecord, initiatorText } from './rows.ts';

const same = (value: never): unknown => value;

/** A write waits for its disk, whatever the statement says. */
export const dialect: Dialect = {
  parameter: () => '?',
  encode: {
    ...{ bytes: same, text: same, time: same, number: same, flag: Number },
    ...{ id: uuidToBytes, json: JSON.stringify, by: initiatorText as (value: never) => unknown },
  },
  decode: {
    ...{ bytes: same, text: same, time: same, number: same },
    flag: (value: number) => value === 1,
    ...{ id: uuidFromBytes, json: JSON.parse, by: initiatorRecord as (value: never) => unknown },
  },
  isSame: 'IS',
  greatest: 'max',
  least: 'min',
  eachOf: 'json_each',
  unlimited: -1,
  along: (index) => ` INDEXED BY ${index}`,
  fenced: '',
  unfenced: '',
  merge: (column, members) =>
    `json_set(${[column, ...members.flatMap(({ name, parameter }) => [`'$.${name}'`, parameter])].join(', ')})`,
};
