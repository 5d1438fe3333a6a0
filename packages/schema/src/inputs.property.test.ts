import { longer } from '@latchkey/test-kit/long';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import type { z } from 'zod';
import * as inputs from './inputs.ts';

// A second implementation of what the contract says about each input. It uses loops over characters
// and calendars instead of the patterns in the schemas.

/** The parsed value of a member, or that it is refused. */
type Read = { value: unknown } | 'refused';
type Rule = (value: unknown) => Read;

const kept = (value: unknown): Read => ({ value });
const keptIf =
  (holds: (text: string) => boolean): Rule =>
  (value) =>
    typeof value === 'string' && holds(value) ? kept(value) : 'refused';

const id: Rule = (value) => {
  if (typeof value !== 'string') return 'refused';
  const groups = value.split('-');
  const sized = groups.map(({ length }) => length).join() === '8,4,4,4,12';
  const digits = [...groups.join('')].every((c) => '0123456789abcdefABCDEF'.includes(c));
  return sized && digits ? kept(value.toLowerCase()) : 'refused';
};

/** 1 to 200 characters without control characters and lone surrogates. */
const text = keptIf((value) => {
  const characters = [...value];
  const isGood = (code: number) =>
    code >= 0x20 && !(code >= 0x7f && code <= 0x9f) && !(code >= 0xd800 && code <= 0xdfff);
  return (
    characters.length >= 1 &&
    characters.length <= 200 &&
    characters.every((character) => isGood(character.codePointAt(0) ?? 0))
  );
});

/** RFC 6749, section 3.3: scope-token = 1*( %x21 / %x23-5B / %x5D-7E ), here 1 to 32, distinct. */
const scope = keptIf((value) => {
  const tokens = value.split(' ');
  const isGood = (c: string) => c >= '!' && c <= '~' && c !== '"' && c !== '\\';
  return (
    value.length <= 1000 &&
    tokens.length <= 32 &&
    new Set(tokens).size === tokens.length &&
    tokens.every((token) => token !== '' && [...token].every(isGood))
  );
});

/** ISO 8601 with seconds and an offset, on a day that exists, before the year 10000. */
const moment = keptIf((value) => {
  const match =
    /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:Z|([+-])(\d{2}):(\d{2}))$/.exec(
      value,
    );
  if (!match) return false;
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map((digits) => Number(digits ?? 0)) as [number, number, number, number, number, number];
  const [offsetHour, offsetMinute] = [Number(match[8] ?? 0), Number(match[9] ?? 0)];
  const leap = year % 400 === 0 || (year % 4 === 0 && year % 100 !== 0);
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
  const exists =
    day >= 1 &&
    day <= days &&
    hour <= 23 &&
    minute <= 59 &&
    second <= 59 &&
    offsetHour <= 23 &&
    offsetMinute <= 59;
  const offset = (match[7] === '-' ? 1 : -1) * (offsetHour * 60 + offsetMinute);
  const lastDay = year === 9999 && month === 12 && day === 31;
  return exists && !(lastDay && hour * 60 + minute + offset >= 24 * 60);
});

const limit: Rule = (value) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 100
    ? kept(value)
    : 'refused';
/** 16 bytes in canonical base64url. */
const cursor = keptIf((value) => {
  const bytes = Buffer.from(value, 'base64url');
  return bytes.length === 16 && bytes.toString('base64url') === value;
});
const boolean: Rule = (value) => (typeof value === 'boolean' ? kept(value) : 'refused');
const orNull =
  (rule: Rule): Rule =>
  (value) =>
    value === null ? kept(null) : rule(value);

/** A rule for a member, and the result if it is missing: refused, absent or a default. */
type Member = [rule: Rule, missing: 'refused' | 'absent' | { value: unknown }];
const needed = (rule: Rule): Member => [rule, 'refused'];
const optional = (rule: Rule): Member => [rule, 'absent'];
const or = (rule: Rule, value: unknown): Member => [rule, { value }];

const page = { limit: or(limit, 50), cursor: optional(cursor) };

const contract: Record<keyof typeof inputs, Record<string, Member>> = {
  emptyInput: {},
  codeInput: { code: needed(keptIf((value) => value !== '')) },
  grantIdInput: { grant_id: needed(id) },
  applicationIdInput: { application_id: needed(id) },
  accountIdInput: { account_id: needed(id) },
  applicationInput: { name: needed(text) },
  secretInput: { application_id: needed(id), expires_at: or(orNull(moment), null) },
  secretIdInput: { application_id: needed(id), secret_id: needed(id) },
  accountInput: {
    account_id: needed(id),
    username: needed(text),
    display_name: optional(text),
    twitter: or(orNull(text), null),
    verified: or(boolean, false),
    supporter: or(boolean, false),
  },
  codeIssueInput: { application_id: needed(id), account_id: needed(id), scope: needed(scope) },
  pageInput: page,
  accountListInput: { username: optional(text), ...page },
  grantListInput: { account_id: optional(id), application_id: optional(id), ...page },
};

/** The parsed input, and the paths that are refused. */
function readPlainly(name: keyof typeof inputs, input: Record<string, unknown>) {
  const output: Record<string, unknown> = {};
  const refused: string[] = [];
  for (const [member, [rule, missing]] of Object.entries(contract[name])) {
    const read = Object.hasOwn(input, member) ? rule(input[member]) : missing;
    if (read === 'refused') refused.push(member);
    else if (read !== 'absent') output[member] = read.value;
  }
  const filters = ['account_id', 'application_id'].filter((member) => Object.hasOwn(input, member));
  if (name === 'grantListInput' && filters.length !== 1) refused.push('');
  return { output, refused };
}

// Values of each kind: valid ones and almost valid ones.

/** Strings that have broken parsers: lone surrogates, NUL, bidi controls, property names. */
const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 210 }),
  fc.string({ unit: 'grapheme', maxLength: 210 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 5 })
    .map((codes) => String.fromCharCode(...codes)),
  fc.constantFrom('', '\0', '\ud800', '\udc00', '\u202e', '__proto__', '$ne', 'a.b', 'null', '0'),
  fc
    .tuple(fc.constantFrom('a', '🔑', '\u0301'), fc.integer({ min: 198, max: 202 }))
    .map(([character, count]) => character.repeat(count)),
);
const tokens = fc
  .array(fc.stringMatching(/^[!-~]{0,4}$/), { maxLength: 34 })
  .map((list) => list.join(' '));
const manyTokens = fc
  .integer({ min: 30, max: 34 })
  .map((count) => Array.from({ length: count }, (_, i) => `t${i}`).join(' '));
const longTokens = fc
  .tuple(fc.integer({ min: 495, max: 505 }), fc.integer({ min: 495, max: 505 }))
  .map(([one, two]) => `${'a'.repeat(one)} ${'b'.repeat(two)}`);
const pad = (digits: number) => (number: number) => String(number).padStart(digits, '0');
const dates = fc
  .tuple(
    fc.oneof(
      fc.constantFrom('1900', '2000', '2028', '9999', '10000'),
      fc.nat({ max: 9999 }).map(pad(4)),
    ),
    fc.nat({ max: 13 }).map(pad(2)),
    fc.nat({ max: 32 }).map(pad(2)),
    fc.nat({ max: 25 }).map(pad(2)),
    fc.constantFrom(
      ':00:00',
      ':59:59.999',
      ':59:60',
      ':60:00',
      ':30',
      ':00:00.',
      ':07:07.123456789',
    ),
    fc.constantFrom('Z', '', 'z', '+00:00', '-00:01', '+23:59', '-23:59', '+24:00', '+0000', ' Z'),
  )
  .map(
    ([year, month, day, hour, rest, offset]) => `${year}-${month}-${day}T${hour}${rest}${offset}`,
  );
/** Around the last minute of the year 9999, with different offsets. */
const lastMoments = fc
  .tuple(
    fc.constantFrom('22:59', '23:58', '23:59'),
    fc.constantFrom('Z', '-00:01', '-01:00', '+00:01'),
  )
  .map(([time, offset]) => `9999-12-31T${time}:59.999${offset}`);
const ids = fc
  .tuple(fc.uuid(), fc.boolean())
  .map(([value, upper]) => (upper ? value.toUpperCase() : value));
const cursors = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^[0-9A-Za-z_-]{21}[AQgw]$/) },
  { weight: 1, arbitrary: fc.stringMatching(/^[0-9A-Za-z_+=-]{20,23}$/) },
);

const value = fc.oneof(
  { weight: 3, arbitrary: ids },
  { weight: 3, arbitrary: hostileText },
  tokens,
  longTokens,
  manyTokens,
  dates,
  lastMoments,
  cursors,
  fc.boolean(),
  fc.constant(null),
  fc.oneof(fc.integer({ min: -1, max: 102 }), fc.double()),
  fc.jsonValue({ stringUnit: 'binary' }),
  fc.dictionary(fc.constantFrom('$ne', '$gt', '$regex', 'toString', 'length'), hostileText),
);
/** Likely values by member. Without them, an input with several members would rarely be valid. */
const likely: Record<string, fc.Arbitrary<unknown>> = {
  ...{ grant_id: ids, application_id: ids, account_id: ids, secret_id: ids },
  ...{ username: hostileText, display_name: hostileText, twitter: hostileText, name: hostileText },
  ...{
    scope: fc.oneof(tokens, longTokens, manyTokens),
    expires_at: fc.oneof(dates, lastMoments),
    cursor: cursors,
  },
  ...{ limit: fc.integer({ min: -1, max: 102 }), verified: fc.boolean(), supporter: fc.boolean() },
};

/** An input as parsed from JSON, where `__proto__` is an ordinary member. */
function inputOf(name: keyof typeof inputs): fc.Arbitrary<Record<string, unknown>> {
  const members = Object.keys(contract[name]).map((member) => {
    const mostly = { weight: 6, arbitrary: likely[member] ?? hostileText };
    return fc.option(
      fc.tuple(fc.constant(member), fc.oneof(mostly, { weight: 1, arbitrary: value })),
      { nil: undefined, freq: 8 },
    );
  });
  const unknown = fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    'toJSON',
    '',
    '$set',
    'id',
  );
  const more = fc.array(fc.tuple(unknown, value), { maxLength: 2 });
  return fc.tuple(fc.tuple(...members), more).map(([own, others]) => {
    const entries = [...own.filter((entry) => entry !== undefined), ...others];
    return JSON.parse(JSON.stringify(Object.fromEntries(entries)));
  });
}

const runs = { numRuns: longer(300, 20_000) };
vi.setConfig({ testTimeout: 120_000 });
const schemas = Object.entries(inputs) as [keyof typeof inputs, z.ZodType<object>][];

it.each(schemas)('%s takes what the contract says, and nothing else', (name, schema) => {
  const reached = { taken: 0, refused: 0 };
  fc.assert(
    fc.property(inputOf(name), (input) => {
      const { output, refused } = readPlainly(name, input);
      const result = schema.safeParse(input);
      const paths = new Set(result.error?.issues.map(({ path }) => path.join('.')));
      // What is wrong with the members together may be told only once each is right.
      if (refused.some((path) => path !== '')) paths.add('');
      expect(refused.filter((path) => !paths.has(path))).toEqual([]);
      expect([...paths].filter((path) => path !== '' && !refused.includes(path))).toEqual([]);
      expect(result.success).toBe(refused.length === 0);
      reached[result.success ? 'taken' : 'refused']++;
      if (!result.success) return;
      expect(result.data).toEqual(output);
      expect(Object.getPrototypeOf(result.data)).toBe(Object.prototype);
      expect(schema.parse(result.data)).toEqual(result.data);
      // What is compared with the clock has a time.
      const { expires_at } = output;
      if (typeof expires_at === 'string') expect(Date.parse(expires_at)).not.toBeNaN();
    }),
    runs,
  );
  // Otherwise the test would prove nothing.
  expect(reached.taken).toBeGreaterThan(runs.numRuns / 100);
  if (name !== 'emptyInput') expect(reached.refused).toBeGreaterThan(runs.numRuns / 100);
});

it.each(schemas)('%s takes no JSON but an object, and throws at none', (name, schema) => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (json) => {
      const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
      const { success } = schema.safeParse(json);
      if (!isObject) expect(success).toBe(false);
      else expect(success).toBe(readPlainly(name, json).refused.length === 0);
    }),
    runs,
  );
});
