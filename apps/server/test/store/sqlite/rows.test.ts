import { longer } from '@latchkey/test-kit/long';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Origin } from '../../../src/initiator.ts';
import { originRecord, originText } from '../../../src/store/sqlite/rows.ts';

const origins = fc.record<Origin, 'request_id' | 'by' | 'secret_id'>(
  {
    // Request ids: ours, a caller's own, or one from which a credential was redacted.
    request_id: fc.oneof(
      fc.uuid(),
      fc.uuid().map((id) => id.toUpperCase()),
      fc.stringMatching(/^[A-Za-z0-9._-]{1,128}$/),
      fc.constant('a-[redacted]-b'),
    ),
    by: fc.constantFrom('application', 'grant', 'operator', 'command_line'),
    secret_id: fc.option(fc.uuid()),
    os_user: fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
  },
  { requiredKeys: ['request_id', 'by', 'secret_id'] },
);

test('an origin is read as it was written', () => {
  fc.assert(
    fc.property(origins, (origin) => {
      expect(originRecord(originText(origin))).toEqual(origin);
    }),
    { numRuns: longer(1_000, 50_000) },
  );
});

test('an origin with our own ids is less than half as long as its JSON', () => {
  const id = '0193aa00-0000-7000-8000-000000000001';
  const origin: Origin = { request_id: id, by: 'application', secret_id: id };
  expect(originText(origin)).toBe('application ~AZOqAAAAcACAAAAAAAAAAQ AZOqAAAAcACAAAAAAAAAAQ');
});

test('a missing origin is null', () => {
  expect(originText(undefined)).toBeNull();
  expect(originRecord(null)).toBeNull();
});
