/**
 * The routes of the service that has the accounts, for Express, Fastify, Hono, and everything with
 * `fetch` handlers, such as Next.js: sign-in, connected applications, sign-out, and a consent page of its
 * own.
 *
 * @module client/host
 */

export type { AccountInput, LatchkeyAdmin } from '../admin/index.ts';
export { accountIdOf } from './account-id-of.ts';
export type { DeadEnd } from './dead-end-page.ts';
export {
  type AnyExpressHostRequest,
  type ExpressHostHandler,
  type ExpressHostRequest,
  type ExpressHostResponse,
  expressHost,
} from './express.ts';
export {
  type AnyFastifyHostRequest,
  type FastifyHostHandler,
  type FastifyHostReply,
  type FastifyHostRequest,
  fastifyHost,
} from './fastify.ts';
export {
  type FetchHost,
  type FetchHostForm,
  type FetchHostHandler,
  type FetchHostRequest,
  fetchHost,
} from './fetch.ts';
export {
  type AnyHonoHostContext,
  type HonoHost,
  type HonoHostContext,
  type HonoHostHandler,
  type HonoHostMiddleware,
  honoHost,
} from './hono.ts';
export type { HostOptions, SignInHints } from './host.ts';
