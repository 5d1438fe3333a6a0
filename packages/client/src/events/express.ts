import { type ExpressResponse, onExpress } from '../frameworks/express.ts';
import { type NodeBody, readNodeBody } from './read-body.ts';
import { createReceiver, type EventsOptions } from './receiver.ts';

/** The part of Express's request that the receiver uses. Node's own request fits too. */
export interface ExpressEventsRequest extends NodeBody {
  /** The method. */
  readonly method?: string | undefined;
  /** The headers. Only those of Standard Webhooks are read. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The part of Express's response that the receiver uses. Node's own response fits too. */
export interface ExpressEventsResponse extends ExpressResponse {}

/** The handler of Express that {@link expressEvents} creates. */
export type ExpressEvents = (
  request: ExpressEventsRequest,
  response: ExpressEventsResponse,
  next?: (error?: unknown) => void,
) => Promise<void>;

/**
 * Creates the route that receives the events of one endpoint, for Express, every framework that takes
 * `(request, response, next)`, functions such as those of Firebase, and Node's own server. Add it before
 * `express.json()`, or behind something that keeps the bytes: `express.raw` for every media type, or a
 * platform that leaves them in `request.rawBody`.
 *
 * It responds with 204 once the handler is done, and with 500 if the handler throws: then the service
 * tries again. With 400 it refuses a wrong signature or time, with 413 more than 64 KiB, and with 405
 * anything but `POST`. A body that another parser has read is a `TypeError`, which goes to `next`, and so
 * does a connection that breaks within the body. Without `next` they are printed, and the response is 500.
 *
 * @param options - the secret, and what to do
 * @returns the handler
 * @throws a `LatchkeyConfigError` if an option is missing, not valid or unknown
 *
 * @example
 * ```ts
 * import { expressEvents } from '@latchkey/client/events';
 *
 * app.post(
 *   '/latchkey-events',
 *   expressEvents({
 *     secret: process.env.LATCHKEY_EVENTS_SECRET,
 *     on: { 'grant.revoked': ({ grant_id, reason }) => forget(grant_id, reason) },
 *   }),
 * );
 * ```
 */
export function expressEvents(options: EventsOptions): ExpressEvents {
  return onExpress(
    createReceiver('expressEvents', options, (request: ExpressEventsRequest, most) =>
      readNodeBody(request, most, ADVICE),
    ),
  );
}

const ADVICE =
  "Add expressEvents before express.json() and its like, or keep the bytes: with express.raw({ type: '*/*' }), or with rawBody: true of NestJS.";
