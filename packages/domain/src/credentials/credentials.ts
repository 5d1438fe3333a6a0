import { hash, randomFillSync, timingSafeEqual } from 'node:crypto';
import {
  CREDENTIAL_RANDOM_BYTES,
  type CredentialKind,
  credentialParts,
  credentialPrefixes,
  formatCredential,
} from '@latchkey/schema';
import { v7 } from 'uuid';
import type { Milliseconds } from '../clock.ts';
import { DomainError } from '../domain-error.ts';

/** SHA-256, 32 bytes. The store keeps nothing else of a credential. */
export type CredentialHash = Uint8Array;

export interface MintedCredential {
  credential: string;
  hash: CredentialHash;
}

const kinds = Object.keys(credentialPrefixes) as CredentialKind[];

export function readCredential(kind: CredentialKind, credential: string): string {
  const parts = credentialParts(kind, credential);
  if (parts !== null) return parts.id;
  const isOther = kinds.some((other) => credentialParts(other, credential) !== null);
  throw DomainError.because(isOther ? 'credential_of_another_kind' : 'credential_ill_formed');
}

export const hashText = (text: string): CredentialHash => hash('sha256', text, 'buffer');

/** A credential has 256 random bits, so it needs no slow hash. */
export const hashCredential = hashText;

export function mintCredential(kind: CredentialKind, id: string): MintedCredential {
  const credential = formatCredential(kind, id, randomBytes(CREDENTIAL_RANDOM_BYTES));
  return { credential, hash: hashCredential(credential) };
}

/** Takes constant time. */
export function sameHash(a: CredentialHash, b: CredentialHash): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** A hash within JSON, which has no bytes. */
export const textOfHash = (hash: CredentialHash): string => Buffer.from(hash).toString('base64url');

/** Takes constant time. */
export const isTextOf = (text: string, hash: CredentialHash): boolean =>
  sameHash(Buffer.from(text, 'base64url'), hash);

export function isLive(
  { expires_at }: { expires_at: Milliseconds | null },
  now: Milliseconds,
): boolean {
  return expires_at === null || now < expires_at;
}

// Rounding to the minute costs a secret one write a minute instead of one per request.
const MINUTE: Milliseconds = 60_000;

/** The last use to be written; null if it is written already. */
export function minuteToNote(
  { last_used_at }: { last_used_at: Milliseconds | null },
  now: Milliseconds,
): Milliseconds | null {
  const minute = now - (now % MINUTE);
  return last_used_at !== null && last_used_at >= minute ? null : minute;
}

const lastId = { time: 0, sequence: 0 };

/** UUIDv7 (RFC 9562). Ids of one process increase, so lists by id are in order of creation. */
export function newId(now: Milliseconds): string {
  const random = randomBytes(16);
  if (now === lastId.time) {
    lastId.sequence++;
  } else {
    lastId.time = now;
    // 31 of the 32 bits leave room to count up within a millisecond.
    lastId.sequence = new DataView(random.buffer).getUint32(0) >>> 1;
  }
  return v7({ msecs: now, seq: lastId.sequence, random });
}

/** No id of {@link newId} at this time or later sorts before it. */
export const leastIdSince = (time: Milliseconds): string =>
  v7({ msecs: Math.max(time, 0), seq: 0, random: new Uint8Array(16) });

// For 32 bytes, a call of the system's generator takes 4.7 µs, and a slice of a pool 0.3 µs.
const pool = new Uint8Array(8192);
let used = pool.length;

export function randomBytes(length: number): Uint8Array {
  if (used + length > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = pool.slice(used, used + length);
  // They may become a credential, which must not stay in memory.
  pool.fill(0, used, used + length);
  used += length;
  return bytes;
}
