import { expect, test } from 'vitest';
import { DocumentFailure } from './faults.ts';

test('a failure keeps few words of its cause, and nothing else', () => {
  const cause = Object.assign(new Error('x'.repeat(100_000)), { cert: Buffer.alloc(100_000) });
  const failure = new DocumentFailure('document_tls_failed', new Error('tls_failed', { cause }));
  expect(failure.cause).toBeTypeOf('string');
  expect(failure.cause).toHaveLength(200);
  expect(new DocumentFailure('document_status', 503).cause).toBe('503');
  expect(new DocumentFailure('document_gone').cause).toBeUndefined();
});
