import { createHmac, randomBytes } from 'node:crypto';

export const newSecret = (bytes = 32) => `whsec_${randomBytes(bytes).toString('base64')}`;

/** The headers of a message, signed with each secret. */
export function headersOf(
  body: string | Uint8Array,
  secrets: readonly string[],
  { id = 'evt_1', at = Date.now() } = {},
) {
  const timestamp = `${Math.floor(at / 1000)}`;
  const signatures = secrets.map((secret) => {
    const hmac = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'));
    return `v1,${hmac.update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
