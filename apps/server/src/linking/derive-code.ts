import { createHmac } from 'node:crypto';
import { formatCredential, uuidToBytes } from '@latchkey/schema';
import { hashCredential, type MintedCredential } from '../credentials/credentials.ts';

/**
 * Derived, so that a repeated decision has the same response while the store keeps only hashes. The
 * key or the salt alone cannot make the code.
 */
export function deriveCode(key: Uint8Array, salt: Uint8Array, grant_id: string): MintedCredential {
  const random = createHmac('sha256', key).update(salt).update(uuidToBytes(grant_id)).digest();
  const credential = formatCredential('code', grant_id, random);
  return { credential, hash: hashCredential(credential) };
}
