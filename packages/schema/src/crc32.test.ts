import { crc32 as crc32OfZlib } from 'node:zlib';
import { longer } from '@latchkey/test-kit/long';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { crc32 } from './crc32.ts';

it('is the CRC-32 of zlib', () => {
  const ascii = fc.string({ unit: 'binary-ascii', maxLength: 1000 });
  fc.assert(
    fc.property(ascii, (text) => {
      expect(crc32(text)).toBe(crc32OfZlib(text));
    }),
    { numRuns: longer(500, 20_000) },
  );
});

it('has the check value of the standard', () => {
  expect(crc32('123456789')).toBe(0xcbf43926);
});
