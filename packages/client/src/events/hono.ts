import { onHono } from '../frameworks/hono.ts';
import type { FetchEventsRequest } from './fetch.ts';
import { readFetchBody } from './read-body.ts';
import { createReceiver, type EventsOptions } from './receiver.ts';

/** The part of Hono's context that the receiver uses. */
export interface HonoEventsContext {
  /** Hono's request. `raw` is the standard `Request`. */
  readonly req: { readonly raw: FetchEventsRequest };
  /**
   * Makes a response.
   *
   * @param body - the body
   * @param status - the HTTP status
   * @param headers - the headers by name
   * @returns the response, with the headers that the context already has
   */
  body(
    body: string | null,
    status: 204 | 400 | 405 | 413 | 500,
    headers: Record<string, string>,
  ): Response;
}

/** The handler of Hono that {@link honoEvents} creates. */
export type HonoEvents = (context: HonoEventsContext) => Promise<Response>;

/**
 * Creates the route that receives the events of one endpoint, for Hono.
 *
 * It responds with 204 once the handler is done, and with 500 if the handler throws: then the service
 * tries again. With 400 it refuses a wrong signature or time, with 413 more than 64 KiB, and with 405
 * anything but `POST`. A body that middleware has read is a `TypeError`, which goes to `app.onError`.
 *
 * @param options - the secret, and what to do
 * @returns the handler
 * @throws a `LatchkeyConfigError` if an option is missing, not valid or unknown
 *
 * @example
 * ```ts
 * import { honoEvents } from '@latchkey/client/events';
 * import { Hono } from 'hono';
 *
 * const app = new Hono();
 * app.post(
 *   '/latchkey-events',
 *   honoEvents({
 *     secret: process.env.LATCHKEY_EVENTS_SECRET,
 *     on: { 'grant.revoked': ({ grant_id, reason }) => forget(grant_id, reason) },
 *   }),
 * );
 * ```
 */
export function honoEvents(options: EventsOptions): HonoEvents {
  return onHono(
    createReceiver('honoEvents', options, ({ req }: HonoEventsContext, most) =>
      readFetchBody(req.raw, most, ADVICE),
    ),
  ) as HonoEvents;
}

const ADVICE = 'Add honoEvents before middleware that reads bodies.';
