import { createHash } from 'node:crypto';
import { parseCredential, uuidV7Time } from '@latchkey/schema';
import { expect, test } from 'vitest';
import { hashCredential, mintCredential, newId, randomBytes, sameHash } from './credentials.ts';

const NOW = Date.UTC(2026, 10, 21);

test('ids are UUIDv7 that carry their time', () => {
  const id = newId(NOW);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(uuidV7Time(id)).toBe(NOW);
});

test('ids of one millisecond increase, and those of the next are higher', () => {
  const ids = Array.from({ length: 50_000 }, () => newId(NOW + 1));
  ids.push(newId(NOW + 2));
  const falls = ids.findIndex((id, index) => index > 0 && id <= (ids[index - 1] as string));
  expect(falls).toBe(-1);
});

test('ids differ in their random part too', () => {
  const tails = Array.from({ length: 1000 }, () => newId(NOW + 3).slice(-8));
  expect(new Set(tails).size).toBe(1000);
});

test('a credential carries its id, and its hash is SHA-256', () => {
  const id = newId(NOW);
  const { credential, hash } = mintCredential('grantSecret', id);
  expect(parseCredential('grantSecret', credential)).toBe(id);
  expect(Buffer.from(hash)).toEqual(createHash('sha256').update(credential).digest());
  expect(sameHash(hash, hashCredential(credential))).toBe(true);
  expect(sameHash(hash, hashCredential(`${credential}x`))).toBe(false);
  expect(sameHash(hash, hash.subarray(1))).toBe(false);
  expect(mintCredential('grantSecret', id).credential).not.toBe(credential);
});

test('no random bytes are returned twice, across refills of the pool', () => {
  const parts = Array.from({ length: 2000 }, () => Buffer.from(randomBytes(32)).toString('hex'));
  expect(new Set(parts).size).toBe(2000);
  expect(parts).not.toContain('00'.repeat(32));
});
