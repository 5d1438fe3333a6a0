import type { Initiator } from '@latchkey/domain/initiator';
import { longer } from '@latchkey/test-kit/long';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { initiatorRecord, initiatorText } from '../src/rows.ts';

const initiators = fc.record<Initiator, 'request_id' | 'by' | 'secret_id'>(
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
    key_id: fc.uuid(),
    os_user: fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
  },
  { requiredKeys: ['request_id', 'by', 'secret_id'] },
);

test('an initiator is read as it was written', () => {
  fc.assert(
    fc.property(initiators, (initiator) => {
      expect(initiatorRecord(initiatorText(initiator))).toEqual(initiator);
    }),
    { numRuns: longer(1_000, 50_000) },
  );
});

test('an initiator with our own ids is less than half as long as its JSON', () => {
  const id = '0193aa00-0000-7000-8000-000000000001';
  const initiator: Initiator = { request_id: id, by: 'application', secret_id: id };
  expect(initiatorText(initiator)).toBe(
    'application ~AZOqAAAAcACAAAAAAAAAAQ AZOqAAAAcACAAAAAAAAAAQ',
  );
});
