import { isUuid, uuidFromBytes, uuidToBytes } from '@latchkey/schema';

/**
 * Makes the account id for a host whose own ids are no UUIDs: the UUID of version 5 (RFC 9562, section
 * 5.5) of your id. The same two arguments always make the same id, so nothing has to be stored.
 *
 * An account id is no secret: applications see it. Who knows the namespace can find out the ids of
 * accounts whose own ids are easy to guess, such as 1, 2, 3.
 *
 * @param namespace - a UUID that you make once and never change, such as with `uuidgen`
 * @param yourId - your id of the account, as you compare it: `Ada` and `ada` are two accounts
 * @returns the account id
 * @throws TypeError if the namespace is no UUID, or your id is no text or empty
 *
 * @example
 * ```ts
 * import { accountIdOf } from '@latchkey/client/host';
 *
 * const account_id = await accountIdOf('7d1f2a64-5c0e-4b7b-9a86-3f0d3b3f6f11', 'user-42');
 * ```
 */
export async function accountIdOf(namespace: string, yourId: string): Promise<string> {
  if (typeof namespace !== 'string' || !isUuid(namespace)) {
    throw new TypeError('The namespace must be a UUID that you have made once, with uuidgen.');
  }
  // Encoding replaces each half of a pair by the same character: two ids could become one account.
  if (typeof yourId !== 'string' || yourId === '' || !yourId.isWellFormed()) {
    throw new TypeError('Your id must be a text that is not empty: String(id) for a number.');
  }
  const name = new TextEncoder().encode(yourId);
  const hashed = new Uint8Array([...uuidToBytes(namespace), ...name]);
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-1', hashed)).slice(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return uuidFromBytes(bytes);
}
