import { formatTimestamp } from '@latchkey/schema';
import { describe, expect, test } from 'vitest';
import { LogCheck } from './log-check.ts';
import { NumberSpans } from './number-spans.ts';

const A = '0193aa00-0000-7000-8000-00000000000a';
const B = '0193aa00-0000-7000-8000-00000000000b';
const BEGIN = Date.UTC(2026, 10, 21, 2);
const timeOf = (minute: number) => new Date(BEGIN + minute * 60_000).toISOString();
const named = (minute: number) => formatTimestamp(BEGIN + minute * 60_000);

const audit = (minute: number, line: number, instance = A, members: object = {}) => ({
  ...{ msg: 'audit', time: timeOf(minute), instance, line },
  ...members,
});
const number = (
  minute: number,
  number: number,
  lines: number,
  event: 'start' | 'minute' | 'stop' = 'minute',
  instance = A,
) => ({ msg: 'log number', time: timeOf(minute), instance, number, lines, event });

/** The backup was made at minute 5.5, when the counter was 2. */
const whole = [
  number(1, 1, 0, 'start'),
  audit(2, 1),
  number(5, 2, 1),
  audit(6, 2),
  audit(7, 3),
  number(8, 3, 3),
  audit(9, 4),
  number(10, 4, 4, 'stop'),
];
const SINCE = BEGIN + 330_000;

function findings(lines: readonly object[], { counter = 2, end = 4 as number | null } = {}) {
  const check = new LogCheck(SINCE);
  for (const line of lines) check.see(line);
  return check.findings({ counter, end });
}
const without = (...indexes: number[]) => whole.filter((_, index) => !indexes.includes(index));

describe('logs', () => {
  test('are whole, in any order, twice, and with lines from before the backup or not', () => {
    const proven = { gaps: [], unproven: [], highest: 4 };
    expect(findings(whole)).toEqual(proven);
    expect(findings([...whole].reverse())).toEqual(proven);
    expect(findings([...whole, ...whole])).toEqual(proven);
    expect(findings(without(0, 1))).toEqual(proven);
    expect(findings(without(0, 2))).toEqual(proven);
    // The process was started after the backup.
    const later = [number(6, 3, 0, 'start', B), audit(7, 1, B), number(8, 4, 1, 'stop', B)];
    expect(findings(later)).toEqual(proven);
  });

  test.each<[string, object[], string]>([
    [
      'a number',
      without(5),
      `The number 3 of the log is missing, after ${named(5)} and before ${named(10)}.`,
    ],
    ['the last number', without(7), `The number 4 of the log is missing, after ${named(8)}.`],
    [
      'all since the backup',
      whole.slice(0, 3),
      `The numbers 3 to 4 of the log are missing, after ${named(5)}.`,
    ],
    [
      'an audit line',
      without(4),
      `The audit line 3 of the process ${A} is missing, after ${named(6)} and before ${named(9)}.`,
    ],
    [
      'the last audit line',
      without(6),
      `The audit line 4 of the process ${A} is missing, after ${named(7)}.`,
    ],
    [
      'its beginning',
      whole.slice(3),
      `The log of the process ${A} begins at ${named(6)}, after the backup.`,
    ],
    ['every number', [audit(1, 1)], 'No log has a number of the service.'],
  ])('lack %s', (_, lines, gap) => {
    expect(findings(lines).gaps).toEqual([gap]);
  });

  test('lack the change of a command, whose number no line has', () => {
    const ofCommand = (minute: number) => audit(11, 5, A, { number: 4, at: timeOf(minute) });
    const lines = [...without(7), number(12, 5, 5, 'stop')];
    expect(findings(lines, { end: 5 }).gaps).toEqual([
      expect.stringContaining('The number 4 of the log is missing'),
      expect.stringContaining(`The audit line 5 of the process ${A} is missing`),
    ]);
    expect(findings([...lines, ofCommand(9)], { end: 5 }).gaps).toEqual([]);
  });

  test('lack what a process did that ended long before the backup, which is no gap', () => {
    const ofOther = [number(-60, 0, 3, 'minute', B), audit(-59, 9, B)];
    expect(findings([...ofOther, ...whole])).toMatchObject({ gaps: [], unproven: [] });
  });

  test('do not prove what came after the last number', () => {
    const killed = without(7);
    expect(findings(killed, { end: 3 })).toMatchObject({
      gaps: [],
      unproven: [
        `The process ${A} was not stopped in order: nothing proves what it did after ${named(8)}.`,
      ],
    });
    expect(findings(whole, { end: null }).unproven).toEqual([
      `After the number 4 of the log, at ${named(10)}, nothing proves what services and commands did.`,
    ]);
    expect(findings([...whole, audit(7, 1, B)]).unproven).toEqual([
      `The process ${B} has logged no number: nothing proves that its log is whole.`,
    ]);
  });

  test('are judged by what they say of the backup if the counter is that of a later time', () => {
    expect(findings(whole, { counter: 4, end: null }).gaps).toEqual([]);
    expect(findings(without(5), { counter: 4, end: null }).gaps).toHaveLength(1);
    const begun = [number(6, 3, 0, 'start', B), number(8, 4, 0, 'stop', B)];
    expect(findings(begun, { counter: 4, end: null })).toMatchObject({
      gaps: [],
      unproven: [
        `Before the number 3 of the log, at ${named(6)}, nothing proves what was done.`,
        expect.any(String),
      ],
    });
  });
});

test('numbers join to spans, in whatever order they come', () => {
  const spans = new NumberSpans();
  for (const one of [5, 3, 9, 4, 4, 1, 8]) spans.add(one, one);
  expect([...spans.missing(1, 12)]).toEqual([
    { from: 2, to: 2, after: 1, before: 3 },
    { from: 6, to: 7, after: 5, before: 8 },
    { from: 10, to: 12, after: 9, before: null },
  ]);
  expect([spans.first?.from, spans.last?.to]).toEqual([1, 9]);
  expect([...spans.missing(3, 5)]).toEqual([]);
});
