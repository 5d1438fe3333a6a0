import { inputs } from '@latchkey/schema';
import { expect, test } from 'vitest';
import { parameterInvalid } from './input.ts';

test('an answer names 20 faults at most, however many an input has', () => {
  const texts = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`x${index}`, 0]));
  const { error } = inputs.scopeInput.safeParse({ scope: 'read', title: 'Read', texts });
  expect(error && parameterInvalid(error).members.issues).toHaveLength(20);
});
