import { longer } from '@latchkey/test-kit/long';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isUuid, uuidFromBytes, uuidToBytes, uuidV7Time } from './uuid.ts';

const uuid = '0193aa00-0015-7003-8000-00000000abcd';

describe('isUuid', () => {
  it.each([
    uuid,
    uuid.toUpperCase(),
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    'F47AC10b-58CC-4372-a567-0e02b2c3d479',
  ])('knows %s', (text) => {
    expect(isUuid(text)).toBe(true);
  });

  it.each([
    '',
    uuid.replaceAll('-', ''),
    `{${uuid}}`,
    `urn:uuid:${uuid}`,
    `${uuid}\n`,
    ` ${uuid}`,
    uuid.slice(1),
    `${uuid}0`,
    uuid.replace('a', 'g'),
    uuid.replace('a', 'ａ'),
    '0193aa000-015-7003-8000-00000000abcd',
  ])('refuses %j', (text) => {
    expect(isUuid(text)).toBe(false);
  });
});

const runs = { numRuns: longer(500, 20_000) };

it('is known by its 32 digits and 4 hyphens, and by nothing else', () => {
  const plainly = (text: string) =>
    text.length === 36 &&
    [...text].every((character, i) =>
      [8, 13, 18, 23].includes(i)
        ? character === '-'
        : '0123456789abcdefABCDEF'.includes(character),
    );
  const nearly = fc
    .tuple(fc.uuid(), fc.nat({ max: 36 }), fc.nat({ max: 1 }), fc.string({ maxLength: 1 }))
    .map(([text, at, cut, more]) => text.slice(0, at) + more + text.slice(at + cut));
  fc.assert(
    fc.property(fc.oneof(nearly, fc.string({ unit: 'binary' })), (text) => {
      expect(isUuid(text)).toBe(plainly(text));
      expect(isUuid(text.toUpperCase())).toBe(plainly(text.toUpperCase()));
    }),
    runs,
  );
});

it('writes the bytes it reads, in lower case', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
      const text = uuidFromBytes(bytes);
      expect(isUuid(text)).toBe(true);
      expect(uuidToBytes(text)).toEqual(bytes);
      expect(uuidToBytes(text.toUpperCase())).toEqual(bytes);
    }),
    runs,
  );
  expect(uuidToBytes(uuid)).toEqual(
    Uint8Array.of(0x01, 0x93, 0xaa, 0, 0, 0x15, 0x70, 3, 0x80, 0, 0, 0, 0, 0, 0xab, 0xcd),
  );
});

describe('uuidV7Time', () => {
  it('reads the milliseconds of a UUIDv7', () => {
    // The example of RFC 9562, appendix A.6.
    expect(uuidV7Time('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')).toBe(
      Date.parse('2022-02-22T19:22:22.000Z'),
    );
    expect(uuidV7Time('ffffffff-ffff-7fff-bfff-ffffffffffff')).toBe(2 ** 48 - 1);
  });

  it('is the one that was put in', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (any) => {
        const time = any % 2 ** 48;
        const hex = time.toString(16).padStart(12, '0');
        expect(uuidV7Time(`${hex.slice(0, 8)}-${hex.slice(8)}-7abc-8000-00000000abcd`)).toBe(time);
      }),
      runs,
    );
  });

  it('reads none from another version', () => {
    expect(uuidV7Time(crypto.randomUUID())).toBeNull();
    expect(uuidV7Time('00000000-0000-0000-0000-000000000000')).toBeNull();
  });
});
