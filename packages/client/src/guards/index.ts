/**
 * Guards for servers that receive requests with a grant secret and must know whose grant it is.
 *
 * @module client/guards
 */

export type { GrantDescription } from '@latchkey/schema';
export { type ExpressGuard, type ExpressResponse, expressGuard } from './express.ts';
export { type FastifyGuard, type FastifyReply, fastifyGuard } from './fastify.ts';
export { grantOf } from './grant-of.ts';
export { GrantRequiredError, type Refusal, type RefusalBody } from './grant-required-error.ts';
export { type HonoContext, type HonoGuard, honoGuard } from './hono.ts';
export {
  type LatchkeyVerifier,
  type LatchkeyVerifierOptions,
  latchkeyVerifier,
  type VerifiedGrant,
  type VerifierErrorClass,
  type VerifierOptions,
} from './latchkey-verifier.ts';
export {
  type MetadataRequest,
  type MetadataResponse,
  type ProtectedResource,
  type ProtectedResourceOptions,
  protectedResource,
  protectedResourceResponse,
} from './protected-resource.ts';
export {
  type GrantReader,
  type GuardedRequest,
  type GuardOptions,
  requireGrant,
} from './require-grant.ts';
export { withGrant } from './with-grant.ts';
