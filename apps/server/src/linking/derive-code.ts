import { createHmac } from 'node:crypto';
import { formatCredential, uuidToBytes } from '@latchkey/schema';

/**
 * The code of a decision. It is derived, so that the same decision again has the same response, and
 * the store still has nothing but hashes. Whoever knows only the key or only the salt can't make it.
 *
 * @param key - the 32 random bytes of the link or of the page session that decided
 * @param salt - that of the link request
 */
export function deriveCode(key: Uint8Array, salt: Uint8Array, grant_id: string): string {
  const random = createHmac('sha256', key).update(salt).update(uuidToBytes(grant_id)).digest();
  return formatCredential('code', grant_id, random);
}
