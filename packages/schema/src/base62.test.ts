import { longer } from '@latchkey/test-kit/long';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase62, encodeBase62 } from './base62.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The same, as plainly as it can be said. */
function decodePlainly(text: string, byteLength: number): Uint8Array | null {
  let number = 0n;
  for (let i = 0; i < text.length; i++) {
    const value = DIGITS.indexOf(text.charAt(i));
    if (value === -1) return null;
    number = number * 62n + BigInt(value);
  }
  if (number >= 1n << BigInt(8 * byteLength)) return null;
  const hex = number.toString(16).padStart(2 * byteLength, '0');
  return Uint8Array.from(Buffer.from(byteLength === 0 ? '' : hex, 'hex'));
}

function encodePlainly(bytes: Uint8Array, length: number): string {
  let number = BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`);
  let text = '';
  for (let i = 0; i < length; i++) {
    text = DIGITS[Number(number % 62n)] + text;
    number /= 62n;
  }
  expect(number).toBe(0n);
  return text;
}

const edges = [
  new Uint8Array(48),
  new Uint8Array(48).fill(255),
  Uint8Array.of(...new Uint8Array(47), 1),
  Uint8Array.of(1, ...new Uint8Array(47)),
  Uint8Array.of(...new Uint8Array(24), 255, ...new Uint8Array(23)),
  Uint8Array.of(...new Uint8Array(23), ...new Uint8Array(25).fill(255)),
];

describe('48 bytes in 65 digits', () => {
  it('are what plain arithmetic says, and come back', () => {
    for (const bytes of edges) {
      const text = encodeBase62(bytes, 65);
      expect(text).toBe(encodePlainly(bytes, 65));
      expect(decodeBase62(text, 48)).toEqual(bytes);
    }
  });

  it('do not change the bytes they are given', () => {
    const bytes = new Uint8Array(48).fill(7);
    encodeBase62(bytes, 65);
    expect(bytes).toEqual(new Uint8Array(48).fill(7));
  });
});

const runs = { numRuns: longer(500, 20_000) };
const evenBytes = fc
  .array(fc.nat({ max: 0xffff }), { maxLength: 32 })
  .map((pairs) => Uint8Array.from(pairs.flatMap((pair) => [pair >>> 8, pair & 0xff])));

it('is plain arithmetic for any number', () => {
  fc.assert(
    fc.property(evenBytes, fc.nat({ max: 9 }), (bytes, zeros) => {
      // A digit holds log2(62) = 5.954 bits.
      const length = Math.ceil((bytes.length * 8) / 5.954) + zeros;
      const text = encodeBase62(bytes, length);
      expect(text).toBe(encodePlainly(bytes, length));
      expect(decodeBase62(text, bytes.length)).toEqual(bytes);
    }),
    runs,
  );
});

it('is plain arithmetic for any text, and refuses the same', () => {
  const text = fc.oneof(
    fc.stringMatching(/^[0-9A-Za-z]{0,70}$/),
    fc.stringMatching(/^[0-9A-Za-z]{60,66}[/:@[`{_\u0130 ]?$/),
    fc.string({ unit: 'binary' }),
  );
  fc.assert(
    fc.property(text, fc.constantFrom(0, 2, 4, 16, 48), (digits, byteLength) => {
      expect(decodeBase62(digits, byteLength)).toEqual(decodePlainly(digits, byteLength));
    }),
    runs,
  );
});

it('writes 4 bytes in 6 digits', () => {
  for (const number of [0, 1, 61, 62, 62 ** 5 - 1, 62 ** 5, 0xffff, 0x10000, 0xffffffff]) {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setUint32(0, number);
    expect(encodeBase62(bytes, 6)).toBe(encodePlainly(bytes, 6));
    expect(decodeBase62(encodeBase62(bytes, 6), 4)).toEqual(bytes);
  }
});

it('refuses a number that does not fit', () => {
  const largest = encodeBase62(new Uint8Array(48).fill(255), 65);
  const last = largest.at(-1) as string;
  const next = largest.slice(0, -1) + DIGITS[DIGITS.indexOf(last) + 1];
  expect(decodeBase62(largest, 48)).not.toBeNull();
  expect(decodeBase62(next, 48)).toBeNull();
  expect(decodeBase62('z'.repeat(65), 48)).toBeNull();
});

it.each(['/', ':', '@', '[', '`', '{', '_', '-', ' ', '\u0000', '\u007f', 'é', '\u0130', '𝟙'])(
  'refuses a digit that is none: %j',
  (character) => {
    for (const at of [0, 32, 64]) {
      const text = '0'.repeat(65).slice(0, at) + character + '0'.repeat(64 - at);
      expect(decodeBase62(text, 48)).toBeNull();
    }
  },
);
