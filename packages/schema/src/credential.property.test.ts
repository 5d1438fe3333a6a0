import { crc32 as crc32OfZlib } from 'node:zlib';
import { longer } from '@latchkey/test-kit/long';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CREDENTIAL_RANDOM_BYTES,
  type CredentialKind,
  crc32,
  credentialPattern,
  credentialPrefixes,
  decodeBase62,
  encodeBase62,
  formatCredential,
  parseCredential,
} from './credential.ts';
import { uuidToBytes } from './uuid.ts';

const runs = { numRuns: longer(500, 20_000) };
const kinds = Object.keys(credentialPrefixes) as CredentialKind[];

const made = fc
  .record({
    kind: fc.constantFrom(...kinds),
    id: fc.uuid(),
    random: fc.uint8Array({
      minLength: CREDENTIAL_RANDOM_BYTES,
      maxLength: CREDENTIAL_RANDOM_BYTES,
    }),
  })
  .map((parts) => ({
    ...parts,
    credential: formatCredential(parts.kind, parts.id, parts.random),
  }));

/** One UTF-16 unit of any kind: half a character too, and the twins of digits in other blocks. */
const unit = fc.oneof(
  fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
  fc.constantFrom(...'019AZaz_-/:@[`{ \0\n'),
);
const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }));

function checksum(text: string): string {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, crc32(text));
  return encodeBase62(bytes, 6);
}

it('is read as the id it was made with, in lower case, and as no other kind', () => {
  fc.assert(
    fc.property(made, ({ kind, id, random, credential }) => {
      expect(credential).toMatch(/^[A-Za-z0-9_]+$/);
      expect(credential.match(credentialPattern)).toEqual([credential]);
      expect(formatCredential(kind, id.toUpperCase(), random)).toBe(credential);
      for (const other of kinds) {
        expect(parseCredential(other, credential)).toBe(other === kind ? id : null);
      }
    }),
    runs,
  );
});

// A CRC-32 notices every change within 32 bits, and with it every one of these.
it('is refused with one character replaced, left out, added, or swapped with the next', () => {
  fc.assert(
    fc.property(made, fc.nat(), unit, ({ kind, credential }, position, other) => {
      const at = position % credential.length;
      const [before, here, after] = [
        credential.slice(0, at),
        credential.charAt(at),
        credential.slice(at + 1),
      ];
      const typos = [
        before + other + after,
        before + after,
        before + other + here + after,
        credential + other,
        before + after.charAt(0) + here + after.slice(1),
      ];
      for (const typo of typos) {
        if (typo !== credential) expect([typo, parseCredential(kind, typo)]).toEqual([typo, null]);
      }
    }),
    runs,
  );
});

it('is refused cut short, extended, in another case, or with another prefix', () => {
  fc.assert(
    fc.property(made, fc.nat(), anyText, ({ kind, credential }, position, more) => {
      const at = position % credential.length;
      const payload = credential.slice(credentialPrefixes[kind].length);
      const changed = [
        credential.slice(0, at),
        credential.slice(at + 1),
        credential + more,
        more + credential,
        credential.toUpperCase(),
        credential.toLowerCase(),
        ...kinds.map((other) => credentialPrefixes[other] + payload),
        more + payload,
      ];
      for (const text of changed) {
        for (const as of kinds) {
          if (text !== credential) expect([text, parseCredential(as, text)]).toEqual([text, null]);
        }
      }
    }),
    runs,
  );
});

it('is the only text of its id and random part: what is read writes itself again', () => {
  const digits = fc.stringMatching(/^[0-9A-Za-z]{65}$/);
  const prefixes = fc.constantFrom(
    ...Object.values(credentialPrefixes),
    'lk_apq',
    'LK_code',
    'lk-grant',
  );
  const sealed = fc.tuple(prefixes, digits).map(([prefix, payload]) => {
    const text = `${prefix}_${payload}`;
    return text + checksum(text);
  });
  const shaped = fc.stringMatching(/^lk_(app|code|grant)_[0-9A-Za-z]{71}$/);
  fc.assert(
    fc.property(fc.oneof(sealed, shaped, anyText), (text) => {
      for (const kind of kinds) {
        const id = parseCredential(kind, text);
        const start = credentialPrefixes[kind].length + 1;
        const bytes = decodeBase62(text.slice(start, start + 65), 48);
        if (id === null) {
          // What is sealed as this kind is refused for one reason alone: it does not fit.
          const ofKind =
            text.startsWith(`${credentialPrefixes[kind]}_`) && text.length === start + 71;
          const isSealed = text.endsWith(checksum(text.slice(0, start + 65)));
          expect(ofKind && isSealed && bytes !== null).toBe(false);
        } else {
          expect(bytes?.subarray(0, 16)).toEqual(uuidToBytes(id));
          expect(formatCredential(kind, id, bytes?.subarray(16) ?? new Uint8Array())).toBe(text);
        }
      }
    }),
    runs,
  );
});

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

describe('base 62', () => {
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
});

describe('the CRC-32', () => {
  it('is the CRC-32 of zlib', () => {
    const ascii = fc.string({ unit: 'binary-ascii', maxLength: 1000 });
    fc.assert(
      fc.property(ascii, (text) => {
        expect(crc32(text)).toBe(crc32OfZlib(text));
      }),
      runs,
    );
  });

  it('has the check value of the standard', () => {
    expect(crc32('123456789')).toBe(0xcbf43926);
  });
});
