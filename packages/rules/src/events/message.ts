import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Milliseconds } from '@latchkey/domain/clock';
import { signingKeyOf } from './endpoint-secret.ts';

export interface Message {
  /** A UUID. */
  eventId: string;
  /** As it was kept with the delivery: it is signed and sent byte for byte. */
  body: string;
}

/** The headers of one try, as Standard Webhooks 1.0.0 has them. */
export function messageHeaders(
  { eventId, body }: Message,
  { secrets, userAgent, now }: { secrets: readonly string[]; userAgent: string; now: Milliseconds },
): Record<string, string> {
  const id = `evt_${eventId}`;
  const timestamp = Math.floor(now / 1000);
  const signed = `${id}.${timestamp}.${body}`;
  return {
    'content-type': 'application/json; charset=UTF-8',
    'user-agent': userAgent,
    'webhook-id': id,
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': secrets.map((secret) => signatureOf(signed, secret)).join(' '),
  };
}

const signatureOf = (signed: string, secret: string) =>
  `v1,${createHmac('sha256', signingKeyOf(secret)).update(signed).digest('base64')}`;

const TOLERANCE_SECONDS = 300;

/** Whether a message that was received is signed with this secret, and its time is not far from now. */
export function isSigned(
  { headers, body }: { headers: IncomingHttpHeaders; body: string },
  { secret, now }: { secret: string; now: Milliseconds },
): boolean {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    String(headers[`webhook-${name}`]),
  ) as [string, string, string];
  const isTimely = Math.abs(now / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS;
  const expected = Buffer.from(signatureOf(`${id}.${timestamp}.${body}`, secret));
  const isExpected = (signature: string) => {
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  };
  return isTimely && signatures.split(' ').some(isExpected);
}
