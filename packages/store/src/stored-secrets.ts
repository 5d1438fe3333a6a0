import { sameHash } from '@latchkey/domain/credentials/credentials';
import type { CredentialHash, SecretRecord } from './values.ts';

/** A secret within a `json` field, which has no bytes. */
export type StoredSecret<Secret extends SecretRecord = SecretRecord> = Omit<Secret, 'hash'> & {
  hash: string;
};

export const toStoredSecret = <Secret extends SecretRecord>(secret: Secret) =>
  ({ ...secret, hash: Buffer.from(secret.hash).toString('base64url') }) as StoredSecret<Secret>;

export const fromStoredSecret = <Secret extends SecretRecord>(stored: StoredSecret<Secret>) =>
  ({ ...stored, hash: new Uint8Array(Buffer.from(stored.hash, 'base64url')) }) as unknown as Secret;

/** Whether a session is the one of its page, or waits to come back. */
export function holdsSession(
  {
    session_hash,
    waiting,
  }: { session_hash: CredentialHash | null; waiting: readonly string[] | null },
  hash: CredentialHash,
): boolean {
  if (session_hash !== null) return sameHash(session_hash, hash);
  return (waiting ?? []).some((one) => sameHash(Buffer.from(one, 'hex'), hash));
}
