import { describe, expect, test } from 'vitest';
import { DomainError } from './domain-error.ts';

const NEXT = 'Send each parameter listed in issues as its message says.';
const invalid = (path: (string | number)[], message: string, ...others: string[]) => {
  const issues = [message, ...others].map((message) => ({ path, message }));
  return new DomainError('parameter_invalid', { issues }).message;
};

describe('the message of a parameter that is not valid', () => {
  test.each([
    [invalid(['texts', 'de', 0], 'Must be short.'), 'texts.de.0: Must be short.'],
    [invalid(['code'], 'expected string'), 'code: expected string.'],
    [invalid(['code'], 'Must be given only once.', 'Other.'), 'code: Must be given only once.'],
    [invalid([], 'Give exactly one.'), 'Give exactly one.'],
    // The characters of RFC 6749, section 5.2.
    [invalid(['ä"\\'], 'Must be "S256".'), "?'?: Must be 'S256'."],
    [invalid(['a'.repeat(1_000)], 'No.'), `${'a'.repeat(80)}: No.`],
  ])('%s', (message, first) => expect(message).toBe(`${first} ${NEXT}`));

  test('names none if there is none', () => {
    expect(new DomainError('parameter_invalid').message).toBe(NEXT);
    const issues = [{ path: ['code'], message: 'No.' }];
    expect(new DomainError('body_malformed', { issues }).message).not.toContain('code:');
  });
});
