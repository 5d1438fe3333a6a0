import { describe, expect, it } from 'vitest';
import { accountIdOf } from './index.ts';

// RFC 9562, appendix C: the namespace of domain names.
const DNS = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';

describe('accountIdOf', () => {
  it('makes the UUID of RFC 9562, appendix A.4', async () => {
    const expected = '2ed6657d-e927-568b-95e1-2665a8aea6a2';
    expect(await accountIdOf(DNS, 'www.example.com')).toBe(expected);
    expect(await accountIdOf(DNS.toUpperCase(), 'www.example.com')).toBe(expected);
  });

  it('makes another id in another namespace, and of another text', async () => {
    const own = '7d1f2a64-5c0e-4b7b-9a86-3f0d3b3f6f11';
    const ids = await Promise.all([
      accountIdOf(DNS, '42'),
      accountIdOf(own, '42'),
      accountIdOf(own, 'ada'),
      accountIdOf(own, 'Ada'),
      // The same letter in two encodings.
      accountIdOf(own, '\u00e9'),
      accountIdOf(own, 'e\u0301'),
    ]);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[89ab]/);
  });

  it.each([
    ['', '42'],
    ['photos.example', '42'],
    [DNS, ''],
    [DNS, 42],
    [DNS, undefined],
    // Encoded, both would be U+FFFD.
    [DNS, '\ud800'],
    [DNS, '\ud801'],
  ])('refuses %j and %j', async (namespace, id) => {
    await expect(accountIdOf(namespace, id as string)).rejects.toThrow(TypeError);
  });
});
