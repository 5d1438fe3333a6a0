import type { LatchkeyEvent } from '@latchkey/schema';
import { LatchkeyConfigError } from '../errors.ts';
import { keepName } from '../keep-name.ts';
import { isSameText } from '../same-text.ts';
import { refuseUnknownOptions } from '../unknown-options.ts';

/**
 * The headers of a request: a `Headers`, or the object of Node, Express and Fastify. Names are compared
 * in any case.
 */
export type EventHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Options of {@link verifyEvent}. An option that does not exist is refused. */
export interface VerifyEventOptions {
  /**
   * How many seconds the `webhook-timestamp` may be away from now, in the past or the future.
   * Default: 300.
   */
  toleranceSeconds?: number | undefined;
  /** The time to compare with, in milliseconds since 1970. Default: `Date.now()`. */
  now?: number | undefined;
}

/**
 * A message is not signed with the secret: it comes from somebody else, was changed on the way, or the
 * secret is of another endpoint. Nothing of it can be trusted.
 */
export class EventSignatureError extends Error {
  static {
    keepName(EventSignatureError, 'EventSignatureError');
  }

  /** `EventSignatureError`. */
  declare name: 'EventSignatureError';
}

/** The `webhook-timestamp` of a message is too far from now: an old message is repeated, or a clock is wrong. */
export class EventTimestampError extends Error {
  static {
    keepName(EventTimestampError, 'EventTimestampError');
  }

  /** `EventTimestampError`. */
  declare name: 'EventTimestampError';
}

/**
 * Verifies a message of Latchkey, and returns its event. For frameworks that have no function here.
 *
 * The rules are those of Standard Webhooks 1.0.0. The signature is compared in constant time, and
 * nothing is parsed before.
 *
 * A newer service may send types that this version does not know. Ignore them.
 *
 * @param body - the bytes of the body as they were received, or their text. An object that a parser
 *   made of them can't be verified
 * @param headers - the headers of the request
 * @param secret - the secret of the endpoint, `whsec_…`, or a list of secrets, one of which must fit
 * @param options - the tolerance, and the time
 * @returns the event: its `type` tells what its `data` is
 * @throws an {@link EventSignatureError} if the message is not signed with the secret
 * @throws an {@link EventTimestampError} if the message was not signed just now
 * @throws a `LatchkeyConfigError` if the secret or an option is not valid
 * @throws TypeError if the body is neither bytes nor a text
 *
 * @example
 * ```ts
 * import { verifyEvent } from '@latchkey/client/events';
 *
 * const secret = process.env.LATCHKEY_EVENTS_SECRET;
 * const event = await verifyEvent(await request.arrayBuffer(), request.headers, secret);
 * if (event.type === 'grant.revoked') await forget(event.data.grant_id);
 * ```
 */
export async function verifyEvent(
  body: string | Uint8Array | ArrayBuffer,
  headers: EventHeaders,
  secret: string | readonly string[] | undefined,
  options: VerifyEventOptions = {},
): Promise<LatchkeyEvent> {
  const known: Record<keyof VerifyEventOptions, true> = { toleranceSeconds: true, now: true };
  refuseUnknownOptions('verifyEvent', options, Object.keys(known));
  const bytes = bytesOf(body);
  if (bytes === undefined) {
    throw new TypeError(
      'The body must be the bytes that were received, or their text. An object that a parser made of them, such as express.json(), does not have these bytes any more.',
    );
  }
  const verify = createVerifier(secret, options.toleranceSeconds);
  return (await verify(bytes, headers, options.now)).event;
}

/** A message whose signature is right. */
export interface VerifiedMessage {
  /** The `webhook-id`. */
  readonly id: string;
  readonly event: LatchkeyEvent;
}

export type Verifier = (
  body: Uint8Array,
  headers: EventHeaders,
  now?: number,
) => Promise<VerifiedMessage>;

/** Creates a verifier, and checks its options before the first message arrives. */
export function createVerifier(secret: unknown, toleranceSeconds = 300): Verifier {
  const secrets = secretsOf(secret);
  if (!(typeof toleranceSeconds === 'number' && toleranceSeconds >= 0)) {
    throw new LatchkeyConfigError('toleranceSeconds must be a number of 0 or more.');
  }
  // Not before the first message: workers allow nothing asynchronous while they start.
  let keys: ReturnType<typeof importKeys> | undefined;

  return async (body, headers, now = Date.now()) => {
    const id = headerOf(headers, 'webhook-id');
    const timestamp = headerOf(headers, 'webhook-timestamp');
    const signatures = headerOf(headers, 'webhook-signature').split(' ');
    if (!/^[^.]+$/.test(id) || !/^\d{1,12}$/.test(timestamp)) {
      throw new EventSignatureError(
        'The request lacks webhook-id, webhook-timestamp or webhook-signature: it is no message of Latchkey.',
      );
    }
    if (Math.abs(Math.floor(now / 1000) - Number(timestamp)) > toleranceSeconds) {
      throw new EventTimestampError(
        `The webhook-timestamp is more than ${toleranceSeconds} seconds away from now. Check the clock of this machine.`,
      );
    }

    const signed = concatenated([new TextEncoder().encode(`${id}.${timestamp}.`), body]);
    keys ??= importKeys(secrets);
    let isSigned = false;
    for (const key of await keys) {
      const expected = `v1,${base64(await crypto.subtle.sign('HMAC', key, signed))}`;
      for (const signature of signatures) {
        if (isSameText(signature, expected)) isSigned = true;
      }
    }
    if (!isSigned) {
      throw new EventSignatureError(
        'No signature of the message is right. Check that the secret is that of this endpoint, and that nothing changes the body on the way.',
      );
    }
    return { id, event: parse(body) };
  };
}

/** The key of each secret. No error contains any part of a secret. */
function secretsOf(secret: unknown): Uint8Array<ArrayBuffer>[] {
  const list: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  if (list.length === 0 || list.some((each) => each === undefined || each === '')) {
    throw new LatchkeyConfigError(
      'secret is missing. Set it to the secret of the endpoint, whsec_…, which the operator got when it was created or rotated: such as process.env.LATCHKEY_EVENTS_SECRET, if that is set.',
    );
  }
  return list.map((each) => {
    const [, encoded = ''] = typeof each === 'string' ? (SECRET.exec(each) ?? []) : [];
    const key = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
    if (key.length >= 24 && key.length <= 64) return key;
    throw new LatchkeyConfigError(
      'secret must be whsec_… exactly as it was shown: whsec_ and base64, without spaces and line breaks.',
    );
  });
}

// Base64 (RFC 4648, section 4) of the 24 to 64 bytes that Standard Webhooks allows.
const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

const HMAC = { name: 'HMAC', hash: 'SHA-256' };

const importKeys = (keys: readonly Uint8Array<ArrayBuffer>[]) =>
  Promise.all(keys.map((key) => crypto.subtle.importKey('raw', key, HMAC, false, ['sign'])));

/** A header; empty if the request does not have it. */
function headerOf(headers: EventHeaders, name: string): string {
  if (typeof headers.get === 'function') return headers.get(name) ?? '';
  const entry = Object.entries(headers).find(([each]) => each.toLowerCase() === name);
  return `${entry?.[1] ?? ''}`;
}

const base64 = (bytes: ArrayBuffer) => btoa(String.fromCharCode(...new Uint8Array(bytes)));

/** The bytes of a body; undefined if it is something else, such as what a parser made of them. */
export function bytesOf(body: unknown): Uint8Array | undefined {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (ArrayBuffer.isView(body))
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  // The ArrayBuffer of another realm, such as that of Jest, is no instance of this one.
  const isBuffer = Object.prototype.toString.call(body) === '[object ArrayBuffer]';
  return isBuffer ? new Uint8Array(body as ArrayBuffer) : undefined;
}

export function concatenated(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function parse(body: Uint8Array): LatchkeyEvent {
  let event: Partial<LatchkeyEvent> | null = null;
  try {
    event = JSON.parse(new TextDecoder().decode(body));
  } catch {
    // Its message would contain a part of the body.
  }
  if (typeof event?.type === 'string' && Object(event.data) === event.data) {
    return event as LatchkeyEvent;
  }
  throw new EventSignatureError('The message is signed with the secret, but has no event.');
}
