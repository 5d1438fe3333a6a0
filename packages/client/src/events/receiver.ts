import type { LatchkeyEvent } from '@latchkey/schema';
import { LatchkeyConfigError } from '../errors.ts';
import type { HttpResponse, Route } from '../frameworks/http.ts';
import { refuseUnknownOptions } from '../unknown-options.ts';
import {
  createVerifier,
  EventSignatureError,
  EventTimestampError,
  type VerifiedMessage,
} from './verify-event.ts';

/** The type of an event, such as `grant.revoked`. */
export type EventType = LatchkeyEvent['type'];

/** What a handler is told besides the `data` of the event. */
export interface EventDetails {
  /** Identifies the event: the `webhook-id`, `evt_…`. A repeated message has the same. */
  readonly id: string;
  /** The type of the event. */
  readonly type: EventType;
  /** When the event happened: ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  readonly timestamp: string;
}

/**
 * A handler for each type of event that is of interest. A message may come more than once, and in any
 * order.
 */
export type EventHandlers = {
  [Type in EventType]?:
    | ((data: Extract<LatchkeyEvent, { type: Type }>['data'], details: EventDetails) => unknown)
    | undefined;
};

/** Options of the receivers of every framework. An option that does not exist is refused. */
export interface EventsOptions {
  /**
   * The secret of the endpoint, `whsec_…`. While it is replaced, a list: a message must be signed with
   * one of them. Undefined is refused, so that a forgotten environment variable is noticed.
   */
  secret: string | readonly string[] | undefined;
  /**
   * What to do, by the type of the event. The service waits 15 seconds for the response, so hand longer
   * work to a queue. Types without a handler are acknowledged.
   */
  on: EventHandlers;
  /**
   * How many seconds the `webhook-timestamp` may be away from now, in the past or the future.
   * Default: 300.
   */
  toleranceSeconds?: number | undefined;
  /**
   * Gets what a handler threw, besides the response 500, after which the service tries again.
   * Default: `console.error`.
   */
  onError?: ((error: unknown, details: EventDetails) => unknown) | undefined;
}

// Because of `Record`, an option or a type that is missing here does not compile.
const optionNames: Record<keyof EventsOptions, true> = {
  secret: true,
  on: true,
  toleranceSeconds: true,
  onError: true,
};
const types: Record<EventType, true> = {
  'grant.created': true,
  'grant.revoked': true,
  'account.updated': true,
  'application.disabled': true,
  'application.enabled': true,
  ping: true,
};

const MAX_BODY_BYTES = 64 * 1024;

/**
 * Creates a receiver, and checks its options before the first message arrives. It rejects only if the body
 * can't be read, or if `onError` throws.
 *
 * @param read - reads the body; null if it has more bytes than this
 */
export function createReceiver<Incoming>(
  whose: string,
  options: EventsOptions,
  read: (request: Incoming, most: number) => Promise<Uint8Array | null>,
): Route<Incoming> {
  refuseUnknownOptions(whose, options, Object.keys(optionNames));
  const { on, onError = reportError } = options;
  refuseUnknownOptions(`on of ${whose}`, on, Object.keys(types));
  for (const [type, handler] of Object.entries({ ...on, onError })) {
    if (handler !== undefined && typeof handler !== 'function') {
      throw new LatchkeyConfigError(`${type} of ${whose} must be a function.`);
    }
  }
  const verify = createVerifier(options.secret, options.toleranceSeconds);

  return async (request, { method, headers }) => {
    if (method !== 'POST') return refusal(405, 'Events are sent with POST.', { Allow: 'POST' });
    const body = await read(request, MAX_BODY_BYTES);
    if (body === null) return refusal(413, 'A message has at most 64 KiB.');

    let message: VerifiedMessage;
    try {
      message = await verify(body, headers);
    } catch (error) {
      const isRefused =
        error instanceof EventSignatureError || error instanceof EventTimestampError;
      if (isRefused) return refusal(400, error.message);
      throw error;
    }

    const { type, timestamp, data } = message.event;
    const details = { id: message.id, type, timestamp };
    // The type may be one that this version does not know, or the name of a member of every object.
    const handler = Object.hasOwn(on, type) ? on[type] : undefined;
    try {
      await handler?.(data as never, details);
    } catch (error) {
      // Not by the framework, which would take a status from the error: 410 disables the endpoint.
      await onError(error, details);
      return refusal(500, 'The event was not handled. Try again later.');
    }
    return { status: 204, headers: {}, body: '' };
  };
}

function refusal(status: number, text: string, headers: Record<string, string> = {}): HttpResponse {
  const type = 'text/plain; charset=UTF-8';
  return { status, headers: { 'Content-Type': type, ...headers }, body: `${text}\n` };
}

function reportError(error: unknown, { id, type }: EventDetails): void {
  // biome-ignore lint/suspicious/noConsole: A handler that fails must not go unnoticed.
  console.error(
    `The handler of ${type} failed for ${id}, which the service will send again.`,
    error,
  );
}
