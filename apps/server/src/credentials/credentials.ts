import { hash, timingSafeEqual } from 'node:crypto';
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
import type { CredentialHash } from '../store/records.ts';
import { randomBytes } from './random.ts';

/** A credential that was just made: the text for its holder, the hash for the store. */
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

/** Makes a credential with an id inside. */
export function mintCredential(kind: CredentialKind, id: string): MintedCredential {
  const credential = formatCredential(kind, id, randomBytes(CREDENTIAL_RANDOM_BYTES));
  return { credential, hash: hashCredential(credential) };
}

/** Compares two hashes in constant time. */
export function sameHash(a: CredentialHash, b: CredentialHash): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

const last = { time: 0, sequence: 0 };

/**
 * A new id that carries its time: UUIDv7, RFC 9562 section 5.7. Ids that one process makes within a
 * millisecond rise too (section 6.2, method 1), so that lists ordered by id are in order of making.
 */
export function newId(now: Milliseconds): string {
  const random = randomBytes(16);
  if (now === last.time) {
    last.sequence++;
  } else {
    last.time = now;
    // 31 of the 32 bits, so that counting up within a millisecond never wraps.
    last.sequence = new DataView(random.buffer).getUint32(0) >>> 1;
  }
  return v7({ msecs: now, seq: last.sequence, random });
}
