/**
 * "Connect your account" in two routes, for Express, Fastify, Hono, and everything with `fetch`
 * handlers, such as Next.js.
 *
 * @module client/linking
 */

export type { FullGrant, ParameterIssue } from '@latchkey/schema';
export type { Authorization } from '../authorization-url.ts';
export type { AuthorizationUrlOptions, FinishLinkingOptions } from '../options.ts';
export type { ResponseDetails, WithResponse } from '../response-details.ts';
export {
  type AnyExpressRequest,
  type ExpressLinkingHandler,
  type ExpressLinkingRequest,
  type ExpressLinkingResponse,
  expressLinking,
} from './express.ts';
export {
  type AnyFastifyRequest,
  type FastifyLinkingHandler,
  type FastifyLinkingReply,
  type FastifyLinkingRequest,
  fastifyLinking,
} from './fastify.ts';
export { type FetchLinkingHandler, type FetchLinkingRequest, fetchLinking } from './fetch.ts';
export {
  type AnyHonoContext,
  type HonoLinkingContext,
  type HonoLinkingHandler,
  honoLinking,
} from './hono.ts';
export type { LinkingClient, LinkingHeaders, LinkingOptions, PerRequest } from './linking.ts';
