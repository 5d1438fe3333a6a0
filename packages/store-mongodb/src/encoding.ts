import {
  type ComparisonName,
  type Input,
  meets,
  type Setting,
  type Source,
  type Term,
} from '@latchkey/store/condition';
import type { AnyKind, Field, FieldType } from '@latchkey/store/kind';
import type { Binary, Document } from 'mongodb';
import { fromHash, fromId, toDate, toHash, toId } from './values.ts';

// Every function here walks a declaration once, and returns one that only handles the values of a call.

type Convert = (value: never) => unknown;

const same = { encode: (value: never) => value, decode: (value: never) => value };

const codecs: Record<FieldType, { encode: Convert; decode: Convert }> = {
  id: { encode: toId, decode: fromId },
  bytes: { encode: toHash, decode: fromHash },
  time: { encode: toDate, decode: (date: Date) => date.getTime() },
  text: same,
  number: same,
  flag: same,
  json: same,
  by: same,
};

/** The key of every kind is `_id`. */
const memberOf = (kind: AnyKind, name: string) => (name === kind.key ? '_id' : name);

function fieldOf(kind: AnyKind, name: string): Field<unknown> {
  const field = kind.fields[name];
  if (field === undefined) throw new TypeError(`${kind.name} has no field ${name}.`);
  return field;
}

const encoderOf = (kind: AnyKind, name: string) =>
  codecs[fieldOf(kind, name).type].encode as (value: unknown) => unknown;

/** How the key of a record is stored. */
export const keyCodec = (kind: AnyKind) =>
  codecs[fieldOf(kind, kind.key).type] as {
    encode(key: string): Binary;
    decode(_id: Binary): string;
  };

/** Undefined for what is null, and for an initial value: neither is stored. */
export function storedOf(kind: AnyKind, name: string): (value: unknown) => unknown {
  const { initial } = fieldOf(kind, name);
  const encode = encoderOf(kind, name);
  return (value) =>
    value === null || value === undefined || value === initial ? undefined : encode(value);
}

export function documentOf(kind: AnyKind): (record: Input) => Document {
  const members = Object.keys(kind.fields).map((name) => ({
    ...{ name, member: memberOf(kind, name), stored: storedOf(kind, name) },
  }));
  return (record) => {
    const document: Document = {};
    for (const { name, member, stored } of members) {
      const value = stored(record[name]);
      if (value !== undefined) document[member] = value;
    }
    return document;
  };
}

/** Sets all that is declared. What else is in the document stays. */
export function replacementOf(kind: AnyKind): (record: Input) => Document {
  const encode = documentOf(kind);
  const members = Object.keys(kind.fields).filter(
    (name) => name !== kind.key && name !== 'revision',
  );
  return (record) => {
    const { _id, revision, ...$set } = encode(record);
    const unset = members.filter((name) => !(name in $set));
    return {
      ...(Object.keys($set).length > 0 && { $set }),
      ...(unset.length > 0 && { $unset: Object.fromEntries(unset.map((name) => [name, ''])) }),
    };
  };
}

export const projectionOf = (kind: AnyKind, fields: readonly string[]): Document =>
  Object.fromEntries(fields.map((name) => [memberOf(kind, name), 1]));

export function recordOf(kind: AnyKind, fields: readonly string[]): (document: Document) => Input {
  const members = fields.map((name) => {
    const { type, initial = null } = fieldOf(kind, name);
    const decode = codecs[type].decode as (value: unknown) => unknown;
    return { name, member: memberOf(kind, name), decode, initial };
  });
  return (document) => {
    const record: Record<string, unknown> = {};
    for (const { name, member, decode, initial } of members) {
      const value = document[member];
      record[name] = value === undefined || value === null ? initial : decode(value);
    }
    return record;
  };
}

type Fill = (document: Document, input: Input) => void;

const filled = (fills: readonly Fill[]) => (input: Input) => {
  const document: Document = {};
  for (const fill of fills) fill(document, input);
  return document;
};

/** Matches what is not stored. A list needs the words of the partial indexes. */
type Absent = { $exists: false } | null;
export const ABSENT: Absent = { $exists: false };

export function filterOf(kind: AnyKind, terms: readonly Term[], absent: Absent) {
  return filled(terms.map((term) => termOf(kind, term, absent)));
}

function termOf(kind: AnyKind, term: Term, absent: Absent): Fill {
  if (term.is === 'either') {
    const filters = term.of.map((of) => filterOf(kind, of, absent));
    return (filter, input) => {
      demand(
        filter,
        '$or',
        filters.map((one) => one(input)),
      );
    };
  }
  if (term.is === 'optional') {
    const fills = term.terms.map((of) => termOf(kind, of, absent));
    const { given, isGiven } = term;
    return (filter, input) => {
      if (((input[given] ?? null) !== null) !== isGiven) return;
      for (const fill of fills) fill(filter, input);
    };
  }
  const member = memberOf(kind, term.name);
  const test = testOf(kind, term, absent);
  return (filter, input) => {
    demand(filter, member, test(input));
  };
}

function demand(filter: Document, member: string, test: unknown): void {
  if (!(member in filter)) filter[member] = test;
  else filter.$and = [...(filter.$and ?? []), { [member]: test }];
}

const operators = {
  moreThan: { operator: '$gt', opposite: '$lte' },
  atLeast: { operator: '$gte', opposite: '$lt' },
  lessThan: { operator: '$lt', opposite: '$gte' },
};

function testOf(
  kind: AnyKind,
  { is, name, value }: { is: 'equal' | ComparisonName; name: string; value: Source },
  absent: Absent,
): (input: Input) => unknown {
  const stored = storedOf(kind, name);
  if (is === 'set') return () => ({ $exists: true });
  if (is === 'equal') return (input) => stored(value(input)) ?? absent;
  if (is === 'oneOf') {
    // Null matches an absent field too.
    return (input) => ({
      $in: (value(input) as unknown[]).map((one) => stored(one) ?? null),
    });
  }
  const { initial } = fieldOf(kind, name);
  const encode = encoderOf(kind, name);
  const { operator, opposite } = operators[is];
  return (input) => {
    const wanted = value(input);
    const isInitial = initial !== undefined && meets(is, initial, wanted);
    return isInitial ? { $not: { [opposite]: encode(wanted) } } : { [operator]: encode(wanted) };
  };
}

/** Raised by each change that could be made twice. */
export const REVISION: Setting = { is: 'plus', name: 'revision', value: () => 1, isValue: true };

/** @param recordsEvents - whether the change leaves a mark of the events that it is */
export function updateOf(
  kind: AnyKind,
  settings: readonly Setting[],
  recordsEvents: boolean,
): (input: Input) => Document | Document[] {
  // What is there can only be asked for in a pipeline.
  if (settings.some(({ is }) => is === 'first')) {
    const $set = filled(settings.map((setting) => expressionOf(kind, setting)));
    return (input) => [{ $set: $set(input) }];
  }
  const fills = settings.map((setting) => settingOf(kind, setting));
  return filled(recordsEvents ? [...fills, ...marksOf(kind, settings)] : fills);
}

function expressionOf(kind: AnyKind, { is, name, value }: Setting): Fill {
  const now = `$${name}`;
  if (is === 'plus') {
    return (stage, input) => {
      stage[name] = { $add: [{ $ifNull: [now, 0] }, value(input)] };
    };
  }
  const stored = storedOf(kind, name);
  return (stage, input) => {
    const given = stored(value(input));
    const literal = given === undefined ? '$$REMOVE' : { $literal: given };
    stage[name] =
      is === 'set' ? literal : { [is === 'first' ? '$ifNull' : '$max']: [now, literal] };
  };
}

function settingOf(kind: AnyKind, { is, name, value }: Setting): Fill {
  if (is === 'plus') return (update, input) => put(update, '$inc', name, value(input));
  if (is === 'merged') {
    return (update, input) => {
      for (const [member, given] of Object.entries(value(input) as object)) {
        put(update, '$set', `${name}.${member}`, given);
      }
    };
  }
  const stored = storedOf(kind, name);
  return (update, input) => {
    const wanted = value(input);
    if (is === 'orKept' && wanted === null) return;
    const given = stored(wanted);
    if (given === undefined) put(update, '$unset', name, '');
    else put(update, is === 'greatest' ? '$max' : '$set', name, given);
  };
}

function put(update: Document, operator: string, name: string, value: unknown): void {
  update[operator] ??= {};
  update[operator][name] = value;
}

/** An event of the record that is no delivery yet: see `MarkDocument`. */
function marksOf(kind: AnyKind, settings: readonly Setting[]): Fill[] {
  return Object.entries(kind.events ?? {}).flatMap(([type, field]) => {
    const setting = settings.find(({ is, name }) => is === 'set' && name === field);
    if (!setting?.isValue) return [];
    const stored = storedOf(kind, setting.name);
    return [
      (update: Document, input: Input) =>
        put(update, '$push', 'marks', { type, at: stored(setting.value(input)) }),
    ];
  });
}
