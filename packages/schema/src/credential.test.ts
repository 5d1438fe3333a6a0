import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type CredentialKind,
  credentialHint,
  credentialPattern,
  credentialPrefixes,
  formatCredential,
  parseCredential,
} from './credential.ts';
import vectors from './credential-vectors.json' with { type: 'json' };

const kinds = Object.keys(credentialPrefixes) as CredentialKind[];
const kindOf = (prefix: string) =>
  kinds.find((kind) => credentialPrefixes[kind] === prefix) ?? expect.fail(`No kind: ${prefix}`);

describe.each(vectors.valid)('the vector $credential', (vector) => {
  const kind = kindOf(vector.prefix);

  it('is what its id and random part are written as', () => {
    const random = Uint8Array.from(Buffer.from(vector.random_hex, 'hex'));
    expect(formatCredential(kind, vector.id, random)).toBe(vector.credential);
    expect(formatCredential(kind, vector.id.toUpperCase(), random)).toBe(vector.credential);
  });

  it('has its id inside', () => {
    expect(parseCredential(kind, vector.credential)).toBe(vector.id);
  });

  it('is none of another kind', () => {
    for (const other of kinds) {
      if (other !== kind) expect(parseCredential(other, vector.credential)).toBeNull();
    }
  });

  it('has the hash that is stored of it', () => {
    expect(createHash('sha256').update(vector.credential).digest('hex')).toBe(vector.sha256_hex);
  });

  it('is found by a scanner, whole', () => {
    const text = `Authorization: Bearer ${vector.credential}, and more.`;
    expect(text.match(credentialPattern)).toEqual([vector.credential]);
  });
});

it('has vectors of every kind', () => {
  expect(new Set(vectors.valid.map(({ prefix }) => prefix))).toEqual(
    new Set(Object.values(credentialPrefixes)),
  );
});

it.each(vectors.invalid)('refuses "$credential": $why', ({ credential, why }) => {
  // "Another prefix" is well formed but for the kind that it claims to be.
  for (const kind of kinds) expect([why, parseCredential(kind, credential)]).toEqual([why, null]);
});

it.each([0, 31, 33])('takes no random part of %d bytes', (length) => {
  const id = '0193aa00-0000-7000-8000-000000000001';
  expect(() => formatCredential('code', id, new Uint8Array(length))).toThrow(RangeError);
});

it('shows of a secret only its prefix and four letters', () => {
  for (const { prefix, credential } of vectors.valid) {
    expect(credentialHint(credential)).toBe(`${prefix}_…${credential.slice(-4)}`);
  }
});
