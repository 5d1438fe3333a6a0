import fc from 'fast-check';
import { expect, test } from 'vitest';
import { longer } from '../../../test/long.ts';
import type { Origin } from '../../origin.ts';
import { originRecord, originText } from './origin-text.ts';

const origins = fc.record<Origin>({
  // What requests may have: ours, a caller's own, or what is left of one with a credential in it.
  request_id: fc.oneof(
    fc.uuid(),
    fc.uuid().map((id) => id.toUpperCase()),
    fc.stringMatching(/^[A-Za-z0-9._-]{1,128}$/),
    fc.constant('a-[redacted]-b'),
  ),
  by: fc.constantFrom('application', 'grant', 'operator', 'command_line'),
  secret_id: fc.option(fc.uuid()),
});

test('an origin comes back as it was', () => {
  fc.assert(
    fc.property(origins, (origin) => {
      expect(originRecord(originText(origin))).toEqual(origin);
    }),
    { numRuns: longer(1_000, 50_000) },
  );
});

test('with ids of ours it is less than half of its JSON', () => {
  const id = '0193aa00-0000-7000-8000-000000000001';
  const origin: Origin = { request_id: id, by: 'application', secret_id: id };
  expect(originText(origin)).toBe('application ~AZOqAAAAcACAAAAAAAAAAQ AZOqAAAAcACAAAAAAAAAAQ');
});

test('what was written as JSON is read still', () => {
  const origin: Origin = { request_id: 'of-a-test', by: 'operator', secret_id: null };
  expect(originRecord(JSON.stringify(origin))).toEqual(origin);
});

test('a change of unknown origin has none', () => {
  expect(originText(undefined)).toBeNull();
  expect(originRecord(null)).toBeNull();
});
