import { createHmac, randomUUID } from 'node:crypto';
import { formatTimestamp, type LatchkeyEvent } from '@latchkey/schema';

/** An event for {@link signEvent}. Of its `data`, the members that the test needs are enough. */
export type EventToSign = LatchkeyEvent extends infer Event
  ? Event extends LatchkeyEvent
    ? {
        /** What has happened, such as `grant.revoked`. */
        type: Event['type'];
        /** What it happened to. */
        data: Partial<Event['data']>;
        /** When it happened, as on the wire. Default: when the message is signed. */
        timestamp?: string;
      }
    : never
  : never;

/** Options of {@link signEvent}. */
export interface SignEventOptions {
  /** The `webhook-id`, which repeats of one event have in common. Default: a new one, `evt_…`. */
  id?: string;
  /** When the message is signed, in milliseconds since 1970. Default: `Date.now()`. */
  at?: number;
}

/** A message, as the service sends it. */
export interface SignedEvent {
  /** The body, to be sent unchanged. */
  body: string;
  /** The headers by name: the media type, and those of Standard Webhooks. */
  headers: Record<string, string>;
}

/**
 * Makes a message of an event, as the service sends it, for tests of a receiver without a server.
 *
 * @param event - the type and the data
 * @param secret - the secret of the endpoint, `whsec_…`, or a list: each of them signs the message
 * @param options - its id and its time, for tests of repeated, old and future messages
 * @returns the body and the headers of a `POST`
 * @throws TypeError if a secret has the wrong form
 *
 * @example
 * ```ts
 * import { signEvent } from '@latchkey/testing';
 *
 * const event = { type: 'grant.revoked', data: { grant_id: grantId, reason: 'user' } } as const;
 * const message = signEvent(event, secret);
 * const { status } = await fetch(`${url}/latchkey-events`, { method: 'POST', ...message });
 * ```
 */
export function signEvent(
  event: EventToSign,
  secret: string | readonly string[],
  { id = `evt_${randomUUID()}`, at = Date.now() }: SignEventOptions = {},
): SignedEvent {
  const { type, timestamp = formatTimestamp(at), data } = event;
  const body = JSON.stringify({ type, timestamp, data });
  const seconds = Math.floor(at / 1000);
  const signatures = [secret].flat().map((each) => {
    const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(each) ?? [];
    if (encoded === undefined) throw new TypeError('The secret must be whsec_ and base64.');
    const hmac = createHmac('sha256', Buffer.from(encoded, 'base64'));
    return `v1,${hmac.update(`${id}.${seconds}.${body}`).digest('base64')}`;
  });
  return {
    body,
    headers: {
      'content-type': 'application/json; charset=UTF-8',
      'webhook-id': id,
      'webhook-timestamp': `${seconds}`,
      'webhook-signature': signatures.join(' '),
    },
  };
}
