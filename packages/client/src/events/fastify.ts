import { type FastifyReply, onFastify } from '../frameworks/fastify.ts';
import { type NodeBody, readNodeBody } from './read-body.ts';
import { createReceiver, type EventsOptions } from './receiver.ts';

/** The part of Fastify's request that the receiver uses. */
export interface FastifyEventsRequest {
  /** The method. */
  readonly method: string;
  /** The headers. Only those of Standard Webhooks are read. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Node's request. */
  readonly raw: NodeBody;
}

/** The part of Fastify's reply that the receiver uses. */
export interface FastifyEventsReply extends FastifyReply {}

/** The options of a route of Fastify that {@link fastifyEvents} creates. */
export interface FastifyEvents {
  /** Receives the message before Fastify reads its body, and responds. */
  onRequest: (request: FastifyEventsRequest, reply: FastifyEventsReply) => Promise<unknown>;
  /** Every route needs one. It is never called. */
  handler: () => void;
}

/**
 * Creates the route that receives the events of one endpoint, for Fastify: pass it to `app.post` in the
 * place of the handler. It reads the body itself, before any parser of the application.
 *
 * It responds with 204 once the handler is done, and with 500 if the handler throws: then the service
 * tries again. With 400 it refuses a wrong signature or time, with 413 more than 64 KiB, and with 405
 * anything but `POST`. A body that a hook has read is a `TypeError`, which goes to Fastify's error handler.
 *
 * @param options - the secret, and what to do
 * @returns the options of a route
 * @throws a `LatchkeyConfigError` if an option is missing, not valid or unknown
 *
 * @example
 * ```ts
 * import { fastifyEvents } from '@latchkey/client/events';
 * import { fastify } from 'fastify';
 *
 * const app = fastify();
 * app.post(
 *   '/latchkey-events',
 *   fastifyEvents({
 *     secret: process.env.LATCHKEY_EVENTS_SECRET,
 *     on: { 'grant.revoked': ({ grant_id, reason }) => forget(grant_id, reason) },
 *   }),
 * );
 * ```
 */
export function fastifyEvents(options: EventsOptions): FastifyEvents {
  return {
    onRequest: onFastify(
      createReceiver('fastifyEvents', options, ({ raw }: FastifyEventsRequest, most) =>
        readNodeBody(raw, most, ADVICE),
      ),
    ),
    handler() {},
  };
}

const ADVICE = 'Let no hook of the application read the body of this route.';
