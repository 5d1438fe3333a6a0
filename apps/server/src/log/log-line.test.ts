import { expect, test } from 'vitest';
import { LINE_BYTES, shortenLines } from './log-line.ts';

const line = (members: object) =>
  `${JSON.stringify({ level: 50, time: '2026-11-21T02:15:30.123Z', ...members, msg: 'failed' })}\n`;

const longAsAllowed = () => {
  const short = line({ request_id: 'r', text: '' });
  return line({ request_id: 'r', text: 'x'.repeat(LINE_BYTES - short.length) });
};

const tooLong = {
  'a stack': { err: { type: 'Error', message: 'no', stack: 'at f (a.ts:1:1)\n'.repeat(10_000) } },
  'one byte too much': { request_id: 'r', text: `x${JSON.parse(longAsAllowed()).text}` },
  'characters of three bytes': { text: '\u20ac'.repeat(LINE_BYTES / 3) },
  'characters that are cut in two': { text: `x${'\u{1f600}'.repeat(2_000)}` },
  'what JSON escapes': { text: '\u0001'.repeat(LINE_BYTES) },
  'many members': Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`member-${n}`, n])),
  'many items': { calls: Array(5_000).fill({ status: 200, grant_id: 'x'.repeat(36) }) },
  'long names': { err: { ['x'.repeat(10_000)]: 1, ['y'.repeat(10_000)]: 2 } },
  depth: JSON.parse(`${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`),
};

test.each(Object.entries(tooLong))('shortens %s to one whole object', (_, members) => {
  const text = shortenLines(line({ request_id: 'the-request', ...members }));
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LINE_BYTES);
  expect(text.endsWith('}\n')).toBe(true);
  const { request_id = 'the-request' } = members as { request_id?: string };
  expect(JSON.parse(text)).toMatchObject({ level: 50, request_id, msg: 'failed', truncated: true });
  expect(text).not.toMatch(/\\ud[89a-f]/);
});

test('keeps the start of what it shortens', () => {
  const { err } = JSON.parse(shortenLines(line(tooLong['a stack'])));
  expect(err).toMatchObject({ type: 'Error', message: 'no' });
  expect(err.stack.startsWith('at f (a.ts:1:1)\nat f')).toBe(true);
});

test('leaves every other line as it is, in its place', () => {
  const lines = [line({ n: 1 }), longAsAllowed(), line({ n: 2 })];
  expect(shortenLines(lines.join(''))).toBe(lines.join(''));
  const [before, after] = [lines.join(''), line({ n: 3 })];
  const text = shortenLines(before + line(tooLong['a stack']) + after);
  expect(text.startsWith(before)).toBe(true);
  expect(text.endsWith(`"truncated":true}\n${after}`)).toBe(true);
});
