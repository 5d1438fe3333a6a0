import { onFetch } from '../frameworks/fetch.ts';
import { type FetchBody, readFetchBody } from './read-body.ts';
import { createReceiver, type EventsOptions } from './receiver.ts';

/** The part of a standard `Request` that the receiver uses. */
export interface FetchEventsRequest extends FetchBody {
  /** The method. */
  readonly method: string;
  /** The headers. Only those of Standard Webhooks are read. */
  readonly headers: {
    /**
     * Returns the value of a header.
     *
     * @param name - the name of the header, in lower case
     * @returns the value, or null if the request has no such header
     */
    get(name: string): string | null;
  };
}

/** The handler that {@link fetchEvents} creates. */
export type FetchEvents = (request: FetchEventsRequest) => Promise<Response>;

/**
 * Creates the route that receives the events of one endpoint, for everything that takes a `Request` and
 * returns a `Response`: route handlers of Next.js, and the `fetch` handlers of Deno, Bun and workers.
 *
 * It responds with 204 once the handler is done, and with 500 if the handler throws: then the service
 * tries again. With 400 it refuses a wrong signature or time, with 413 more than 64 KiB, and with 405
 * anything but `POST`. It rejects with a `TypeError` if something else has read the body.
 *
 * @param options - the secret, and what to do
 * @returns the handler
 * @throws a `LatchkeyConfigError` if an option is missing, not valid or unknown
 *
 * @example
 * ```ts
 * import { fetchEvents } from '@latchkey/client/events';
 *
 * // With Next.js, in app/latchkey-events/route.ts:
 * export const POST = fetchEvents({
 *   secret: process.env.LATCHKEY_EVENTS_SECRET,
 *   on: { 'grant.revoked': ({ grant_id, reason }) => forget(grant_id, reason) },
 * });
 * ```
 */
export function fetchEvents(options: EventsOptions): FetchEvents {
  return onFetch(
    createReceiver('fetchEvents', options, (request: FetchEventsRequest, most) =>
      readFetchBody(request, most, ADVICE),
    ),
  );
}

const ADVICE = 'Pass the request to fetchEvents as it came, or a clone that was made before.';
