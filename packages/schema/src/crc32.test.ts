import { crc32 as crc32OfZlib } from 'node:zlib';
import { expect, it } from 'vitest';
import { crc32 } from './crc32.ts';

it.each(['', '123456789', 'lk_app_', 'a'.repeat(1000), '\u0000\u007f'])(
  'is the CRC-32 of zlib: %j',
  (text) => {
    expect(crc32(text)).toBe(crc32OfZlib(text));
  },
);

it('has the check value of the standard', () => {
  expect(crc32('123456789')).toBe(0xcbf43926);
});
