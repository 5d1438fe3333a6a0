import type { Caller } from '@latchkey/schema';
import {
  authenticateApplication,
  isKnownApplicationSecret,
} from '../applications/authenticate-application.ts';
import { hashCredential, sameHash } from '../credentials/credentials.ts';
import { DomainError } from '../domain-error.ts';
import { authenticateGrant, isKnownGrantSecret } from '../grants/authenticate-grant.ts';
import { addressKey } from '../limits/address-key.ts';
import type { Limit } from '../limits/limit.ts';
import type { AnyCaller, AuthenticatedOperator } from '../operations/handler.ts';
import type { Operation } from '../operations/operation.ts';
import type { Origin } from '../origin.ts';
import type { Service } from '../service.ts';
import type { Settings } from '../settings.ts';
import { sharePerTick } from './batching.ts';
import type { RequestContext } from './request-context.ts';
import { countHeader } from './request-metadata.ts';

export type Authorization =
  | { scheme: 'bearer'; token: string }
  | { scheme: 'basic'; user: string; password: string };

/**
 * Reads an Authorization header: Bearer (RFC 6750, section 2.1) or Basic (RFC 7617, section 2).
 *
 * @returns null if it is neither
 */
export function parseAuthorization(header: string): Authorization | null {
  const match = /^(bearer|basic) +([^ ]+) *$/i.exec(header);
  const [, scheme, value] = match ?? [];
  if (scheme === undefined || value === undefined) return null;
  if (scheme.toLowerCase() === 'bearer') return { scheme: 'bearer', token: value };
  const pair = Buffer.from(value, 'base64').toString();
  const colon = pair.indexOf(':');
  if (colon === -1) return null;
  return { scheme: 'basic', user: pair.slice(0, colon), password: pair.slice(colon + 1) };
}

/**
 * Authenticates the caller of an operation.
 *
 * @throws DomainError `credentials_missing`, `credentials_invalid`, `application_disabled`,
 *   `rate_limited`
 */
export type Authenticate = (context: RequestContext, operation: Operation) => Promise<AnyCaller>;

/** The secrets of the operator; null if not set. */
export type AdminSecrets = Pick<Settings, 'adminSecret' | 'adminSecretPrevious'>;

/**
 * @param adminSecrets - both null if the service runs without operator routes
 * @param failures - the limit on failures per address
 */
export function createAuthenticate(
  service: Service,
  adminSecrets: AdminSecrets,
  failures: Limit,
): Authenticate {
  const findOperator = operatorFinder(adminSecrets);
  const findApplication = sharePerTick((secret) => authenticateApplication(service, secret));

  /**
   * For an address over its limit, since an unknown secret would cost a database as much as a right
   * one: see decision 13.
   */
  async function refuseUnknown(
    { address }: RequestContext,
    isKnown: () => Promise<boolean>,
  ): Promise<void> {
    const key = addressKey(address);
    if (failures.isReached(key) && !(await isKnown())) failures.check(key);
  }

  const byCaller: Record<
    Caller,
    (
      authorization: Authorization,
      context: RequestContext,
      operation: Operation,
    ) => Promise<AnyCaller>
  > = {
    async application(authorization, context) {
      if (authorization.scheme !== 'bearer') throw DomainError.because('scheme_wrong');
      const { token } = authorization;
      await refuseUnknown(context, () => isKnownApplicationSecret(service, token));
      return findApplication(token);
    },

    async grant(authorization, context, operation) {
      const { secret, grant_id } =
        authorization.scheme === 'bearer'
          ? { secret: authorization.token, grant_id: null }
          : { secret: authorization.password, grant_id: authorization.user.toLowerCase() };
      const options = { grant_id, currentAccount: operation.name === 'account.get' };
      await refuseUnknown(context, () => isKnownGrantSecret(service, secret));
      const { request_id } = context.recorded;
      const origin: Origin = { request_id, by: 'grant', secret_id: null };
      return authenticateGrant(service, secret, options, origin);
    },

    async operator(authorization) {
      if (authorization.scheme !== 'bearer') throw DomainError.because('scheme_wrong');
      return findOperator(authorization.token);
    },
  };

  async function identify(context: RequestContext, operation: Operation): Promise<AnyCaller> {
    const { headers, rawHeaders } = context.request;
    const header = headers.authorization;
    if (header === undefined) throw new DomainError('credentials_missing');
    // Node takes the first of several, and a proxy in front perhaps the last.
    if (countHeader(rawHeaders, 'authorization') > 1) throw DomainError.because('header_repeated');
    const authorization = parseAuthorization(header);
    if (authorization === null) throw DomainError.because('header_unreadable');
    return byCaller[operation.caller](authorization, context, operation);
  }

  return async (context, operation) => {
    try {
      return await identify(context, operation);
    } catch (error) {
      limitFailures(failures, context.address, error);
      throw error;
    }
  };
}

/**
 * Recognizes the operator. Every secret is compared, whichever one matches: how long it takes tells
 * nothing.
 */
function operatorFinder(secrets: AdminSecrets): (token: string) => AuthenticatedOperator {
  const hashOf = (secret: string | null) => (secret === null ? null : hashCredential(secret));
  const current = hashOf(secrets.adminSecret);
  const previous = hashOf(secrets.adminSecretPrevious);
  return (token) => {
    const hash = hashCredential(token);
    const isCurrent = current !== null && sameHash(hash, current);
    const isPrevious = previous !== null && sameHash(hash, previous);
    if (isCurrent) return { admin_secret: 'current' };
    if (isPrevious) return { admin_secret: 'previous' };
    throw DomainError.because('admin_secret_wrong');
  };
}

/**
 * Only failures count against an address. Clients may share one, and right credentials pass whatever
 * else comes from it, those of a disabled application included. A request without credentials is no attempt and does not count.
 *
 * @throws RateLimited in place of the failure, so that the response tells nothing about credentials
 */
function limitFailures(failures: Limit, address: string | undefined, error: unknown): void {
  if (!(error instanceof DomainError)) return;
  if (error.code === 'credentials_invalid') failures.count(addressKey(address));
  if (error.code === 'credentials_missing') failures.check(addressKey(address));
}
