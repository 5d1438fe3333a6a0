import { expect, test } from 'vitest';
import { redactor } from '../log.ts';
import { createRecorder } from './recorded.ts';

const record = createRecorder(redactor(['quicksilver']));

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['203.0.113.7:4711', '203.0.113.7:4711'],
  ['[2001:db8::7]:4711', '[2001:db8::7]:4711'],
  ['fe80::1%eth0', 'fe80::1%eth0'],
  ['quicksilver', '[redacted]'],
  [`lk_app_${'1'.repeat(71)}`, '[redacted]'],
  ['\u009b2J203.0.113.7', null],
  ['7'.repeat(65), null],
  ['', null],
  [undefined, null],
])('of the address %j is kept %j', (address, kept) => {
  expect(record('a', address)).toEqual({ request_id: 'a', address: kept });
});

test('of a request id is kept what is no credential', () => {
  expect(record('quicksilver-1', undefined).request_id).toBe('[redacted]-1');
});
