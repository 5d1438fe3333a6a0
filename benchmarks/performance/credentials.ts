import { hash, randomBytes, randomUUID } from 'node:crypto';
import { type CredentialKind, formatCredential } from '../../packages/schema/src/index.ts';

export const hashCredential = (credential: string): Buffer => hash('sha256', credential, 'buffer');

/** Makes a credential with an id inside. */
export function mint(kind: CredentialKind, id: string): { credential: string; hash: Buffer } {
  const credential = formatCredential(kind, id, randomBytes(32));
  return { credential, hash: hashCredential(credential) };
}

/** A UUIDv7 (RFC 9562, section 5.7): the time, then the random bits of a UUIDv4. */
export function uuidV7(milliseconds: number): string {
  const time = milliseconds.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
