/**
 * Receives the messages that Latchkey sends when something happens, such as the end of a grant: for
 * Express, Fastify, Hono, and everything with `fetch` handlers, such as Next.js.
 *
 * @module client/events
 */

export type {
  Account,
  AccountUpdatedEvent,
  ApplicationData,
  ApplicationDisabledEvent,
  ApplicationEnabledEvent,
  EndReason,
  GrantCreatedData,
  GrantCreatedEvent,
  GrantRevokedData,
  GrantRevokedEvent,
  LatchkeyEvent,
  PingData,
  PingEvent,
} from '@latchkey/schema';
export {
  type ExpressEvents,
  type ExpressEventsRequest,
  type ExpressEventsResponse,
  expressEvents,
} from './express.ts';
export {
  type FastifyEvents,
  type FastifyEventsReply,
  type FastifyEventsRequest,
  fastifyEvents,
} from './fastify.ts';
export { type FetchEvents, type FetchEventsRequest, fetchEvents } from './fetch.ts';
export { type HonoEvents, type HonoEventsContext, honoEvents } from './hono.ts';
export type { BodyReader, FetchBody, NodeBody } from './read-body.ts';
export type { EventDetails, EventHandlers, EventsOptions, EventType } from './receiver.ts';
export {
  type EventHeaders,
  EventSignatureError,
  EventTimestampError,
  type VerifyEventOptions,
  verifyEvent,
} from './verify-event.ts';
