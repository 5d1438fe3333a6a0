import type { SecretRecord } from './records.ts';

/** A secret within a `json` field, which has no bytes. */
export type StoredSecret<Secret extends SecretRecord = SecretRecord> = Omit<Secret, 'hash'> & {
  hash: string;
};

export const toStoredSecret = <Secret extends SecretRecord>(secret: Secret) =>
  ({ ...secret, hash: Buffer.from(secret.hash).toString('base64url') }) as StoredSecret<Secret>;

export const fromStoredSecret = <Secret extends SecretRecord>(stored: StoredSecret<Secret>) =>
  ({ ...stored, hash: new Uint8Array(Buffer.from(stored.hash, 'base64url')) }) as unknown as Secret;
