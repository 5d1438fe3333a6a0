import { longer } from '@latchkey/test-kit/long';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeBase62, encodeBase62 } from './base62.ts';
import { crc32 } from './crc32.ts';
import {
  CREDENTIAL_RANDOM_BYTES,
  type CredentialKind,
  credentialPattern,
  credentialPrefixes,
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
