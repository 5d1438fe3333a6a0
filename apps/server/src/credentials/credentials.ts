import { hash, randomFillSync, timingSafeEqual } from 'node:crypto';
import {
  CREDENTIAL_RANDOM_BYTES,
  type CredentialKind,
  credentialPrefixes,
  formatCredential,
  parseCredential,
} from '@latchkey/schema';
import { v7 } from 'uuid';
import type { Milliseconds } from '../clock.ts';
import { DomainError } from '../domain-error.ts';

/** SHA-256 of a credential, 32 bytes. Nothing else of a credential is ever stored. */
export type CredentialHash = Uint8Array;

/** A new credential: the text for its holder, the hash for the store. */
export interface MintedCredential {
  credential: string;
  hash: CredentialHash;
}

const kinds = Object.keys(credentialPrefixes) as CredentialKind[];

/**
 * The id inside a credential that authenticates its sender.
 *
 * @throws DomainError `credentials_invalid`: it is ill-formed, or of another kind
 */
export function readCredential(kind: CredentialKind, credential: string): string {
  const id = parseCredential(kind, credential);
  if (id !== null) return id;
  const isOther = kinds.some((other) => parseCredential(other, credential) !== null);
  throw DomainError.because(isOther ? 'credential_of_another_kind' : 'credential_ill_formed');
}

/** SHA-256 of a credential. It carries 256 random bits, so it needs no slow hash. */
export function hashCredential(credential: string): CredentialHash {
  return hash('sha256', credential, 'buffer');
}

export function mintCredential(kind: CredentialKind, id: string): MintedCredential {
  const credential = formatCredential(kind, id, randomBytes(CREDENTIAL_RANDOM_BYTES));
  return { credential, hash: hashCredential(credential) };
}

/** Compares two hashes in constant time. */
export function sameHash(a: CredentialHash, b: CredentialHash): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

const lastId = { time: 0, sequence: 0 };

/**
 * A new id that carries its time: UUIDv7, RFC 9562 section 5.7. Ids that one process makes within
 * one millisecond increase too (section 6.2, method 1), so lists by id are in order of creation.
 */
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

// A call of the system's generator costs 4.7 µs for 32 bytes, a slice of a pool 0.3 µs.
const pool = new Uint8Array(8192);
let used = pool.length;

/** Bytes from the cryptographic random source. None is returned twice. */
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
