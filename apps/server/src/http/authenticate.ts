import { type Caller, type ErrorCode, isUuid } from '@latchkey/schema';
import {
  authenticateApplication,
  authenticatePublicApplication,
  isKnownApplicationSecret,
  isKnownPublicApplication,
} from '../applications/authenticate-application.ts';
import { hashCredential, readCredential, sameHash } from '../credentials/credentials.ts';
import { DomainError } from '../domain-error.ts';
import { authenticateGrant, isKnownGrantSecret } from '../grants/authenticate-grant.ts';
import type { Initiator } from '../initiator.ts';
import { addressKey } from '../limits/address-key.ts';
import type { Limit } from '../limits/limit.ts';
import type { AnyCaller, Callers, Operator } from '../operations/caller.ts';
import type { Operation } from '../operations/operation.ts';
import type { Service } from '../service.ts';
import type { Settings } from '../settings.ts';
import { type Authorization, readAuthorization } from './authorization-header.ts';
import { sharePerTick } from './batching.ts';
import { basicChallenge, bearerChallenge } from './challenge.ts';
import {
  type ClientCredentials,
  formCredentials,
  headerCredentials,
} from './client-credentials.ts';
import type { Form } from './form.ts';
import type { RequestContext } from './request-context.ts';

/**
 * Authenticates the caller of an operation.
 *
 * @throws DomainError `credentials_missing`, `credentials_invalid`, `application_disabled`,
 *   `rate_limited`
 */
export type Authenticate = (context: RequestContext, operation: Operation) => Promise<AnyCaller>;

/**
 * Authenticates an OAuth client, in the header or in a form. Sets the challenge of the response to the
 * way that the client chose.
 *
 * @param options.readForm - reads the form that the credentials are in; null if they are in the header
 * @param options.takesPublic - whether a public application may call
 * @throws DomainError what {@link Authenticate} throws, and what reading the form throws
 */
export type AuthenticateClient = (
  context: RequestContext,
  options: { readForm: (() => Promise<Form>) | null; takesPublic: boolean },
) => Promise<Callers['application']>;

export interface Authentication {
  authenticate: Authenticate;
  authenticateClient: AuthenticateClient;
}

/** The secrets of the operator; null if not set. */
export type AdminSecrets = Pick<Settings, 'adminSecret' | 'adminSecretPrevious'>;

/**
 * @param adminSecrets - both null if the service runs without operator routes
 * @param failures - the limit on failures per address
 */
export function createAuthentication(
  service: Service,
  adminSecrets: AdminSecrets,
  failures: Limit,
): Authentication {
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

  async function findBySecret(
    context: RequestContext,
    secret: string,
  ): Promise<Callers['application']> {
    await refuseUnknown(context, () => isKnownApplicationSecret(service, secret));
    return { kind: 'application', ...(await findApplication(secret)) };
  }

  async function findClient(
    context: RequestContext,
    { client_id, client_secret }: ClientCredentials,
    takesPublic: boolean,
  ): Promise<Callers['application']> {
    if (client_secret !== null) {
      if (client_id !== null) checkClientId(client_id, client_secret);
      return findBySecret(context, client_secret);
    }
    const id = client_id?.toLowerCase() ?? '';
    if (!isUuid(id)) throw DomainError.because('client_id_no_uuid');
    if (!takesPublic) throw DomainError.because('secret_required', { application_id: id });
    await refuseUnknown(context, () => isKnownPublicApplication(service, id));
    return { kind: 'application', ...(await authenticatePublicApplication(service, id)) };
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
      return findBySecret(context, authorization.token);
    },

    async grant(authorization, context, operation) {
      const { secret, grant_id } =
        authorization.scheme === 'bearer'
          ? { secret: authorization.token, grant_id: null }
          : { secret: authorization.password, grant_id: authorization.user.toLowerCase() };
      const options = { grant_id, currentAccount: operation.account === 'current' };
      await refuseUnknown(context, () => isKnownGrantSecret(service, secret));
      const { request_id } = context.recorded;
      const initiator: Initiator = { request_id, by: 'grant', secret_id: null };
      return { kind: 'grant', ...(await authenticateGrant(service, secret, options, initiator)) };
    },

    async operator(authorization) {
      if (authorization.scheme !== 'bearer') throw DomainError.because('scheme_wrong');
      return findOperator(authorization.token);
    },
  };

  async function identifyClient(
    context: RequestContext,
    { readForm, takesPublic }: Parameters<AuthenticateClient>[1],
  ): Promise<Callers['application']> {
    if (readForm !== null) {
      const credentials = formCredentials(await readForm());
      if (credentials === null) throw new DomainError('credentials_missing');
      context.challenge = null;
      return findClient(context, credentials, takesPublic);
    }
    const { authorization } = context.request.headers;
    if (authorization !== undefined) {
      context.challenge = /^basic\b/i.test(authorization) ? basicChallenge : bearerChallenge;
    }
    return findClient(context, headerCredentials(readAuthorization(context)), takesPublic);
  }

  return {
    async authenticate(context, operation) {
      try {
        const authorization = readAuthorization(context);
        return await byCaller[operation.caller](authorization, context, operation);
      } catch (error) {
        limitFailures(failures, context.address, error);
        throw error;
      }
    },

    async authenticateClient(context, options) {
      try {
        return await identifyClient(context, options);
      } catch (error) {
        limitFailures(failures, context.address, error);
        throw error;
      }
    },
  };
}

/**
 * A secret has the id of its application in it.
 *
 * @throws DomainError `credentials_invalid`: it is ill-formed, or of another application
 */
function checkClientId(client_id: string, client_secret: string): void {
  const application_id = readCredential('applicationSecret', client_secret);
  if (client_id.toLowerCase() === application_id) return;
  throw DomainError.because('client_id_of_another_application', { application_id });
}

/**
 * Recognizes the operator. Every secret is compared, whichever one matches: how long it takes tells
 * nothing.
 */
function operatorFinder(secrets: AdminSecrets): (token: string) => Operator {
  const hashOf = (secret: string | null) => (secret === null ? null : hashCredential(secret));
  const current = hashOf(secrets.adminSecret);
  const previous = hashOf(secrets.adminSecretPrevious);
  return (token) => {
    const hash = hashCredential(token);
    const isCurrent = current !== null && sameHash(hash, current);
    const isPrevious = previous !== null && sameHash(hash, previous);
    if (isCurrent) return { kind: 'operator', admin_secret: 'current' };
    if (isPrevious) return { kind: 'operator', admin_secret: 'previous' };
    throw DomainError.because('admin_secret_wrong');
  };
}

// What fails before anybody has tried credentials: none were sent, or the form that has them can't be
// read.
const NO_ATTEMPT: ReadonlySet<ErrorCode> = new Set([
  'credentials_missing',
  'media_type_unsupported',
  'body_too_large',
  'body_malformed',
  'parameter_invalid',
]);

/**
 * Only failures count against an address. Clients may share one, and right credentials pass whatever
 * else comes from it, those of a disabled application included. A request without credentials is no
 * attempt and does not count.
 *
 * @throws RateLimited in place of the failure, so that the response tells nothing about credentials
 */
function limitFailures(failures: Limit, address: string | undefined, error: unknown): void {
  if (!(error instanceof DomainError)) return;
  if (error.code === 'credentials_invalid') failures.count(addressKey(address));
  if (NO_ATTEMPT.has(error.code)) failures.check(addressKey(address));
}
