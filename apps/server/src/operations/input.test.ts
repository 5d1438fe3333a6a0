import type { DomainError } from '@latchkey/domain/domain-error';
import { inputs } from '@latchkey/schema';
import { expect, test } from 'vitest';
import { validate } from './input.ts';

test('an answer names 20 faults at most, however many an input has', () => {
  const texts = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`x${index}`, 0]));
  try {
    validate(inputs.scopeInput, { scope: 'read', title: 'Read', texts });
    expect.unreachable();
  } catch (error) {
    expect((error as DomainError).members.issues).toHaveLength(20);
  }
});
