import {
  type CredentialHash,
  hashCredential,
  readCredential,
  sameHash,
} from '@latchkey/domain/credentials/credentials';
import { DomainError } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import {
  authenticateApplication,
  authenticateDocumented,
  authenticatePublicApplication,
  isKnownApplicationSecret,
  isKnownDocument,
  isKnownPublicApplication,
} from '@latchkey/rules/applications/authenticate-application';
import { readAssertion } from '@latchkey/rules/client-documents/assertion';
import { authenticateGrant, isKnownGrantSecret } from '@latchkey/rules/grants/authenticate-grant';
import { authenticateKey, isKnownKey } from '@latchkey/rules/keys/authenticate-key';
import { addressKey, type Limit } from '@latchkey/rules/limits/limit';
import type { Limits } from '@latchkey/rules/limits/limits';
import { CLIENTS_PATH } from '@latchkey/rules/registration/registered-clients';
import type { Service } from '@latchkey/rules/service';
import { type Caller, credentialPrefixes, type ErrorCode, isUuid } from '@latchkey/schema';
import type { AnyCaller, Callers } from '../operations/caller.ts';
import type { Operation } from '../operations/operation.ts';
import type { Settings } from '../settings.ts';
import { sharePerTick } from './batching.ts';
import { basicChallenge, bearerChallenge } from './challenge.ts';
import {
  type ClientCredentials,
  formCredentials,
  headerCredentials,
} from './client-credentials.ts';
import type { Form } from './form.ts';
import { goneOf, type RequestContext } from './request-context.ts';
import { type Authorization, readAuthorization } from './request-metadata.ts';

export type Authenticate = (context: RequestContext, operation: Operation) => Promise<AnyCaller>;

export type AuthenticateClient = (
  context: RequestContext,
  options: { readForm: (() => Promise<Form>) | null; takesPublic: boolean },
) => Promise<Callers['application']>;

export interface Authentication {
  authenticate: Authenticate;
  authenticateClient: AuthenticateClient;
}

export type AdminSecrets = Pick<Settings, 'adminSecret' | 'adminSecretPrevious'>;

export function createAuthentication(
  service: Service,
  adminSecrets: AdminSecrets,
  { authentications: failures, assertions }: Pick<Limits, 'authentications' | 'assertions'>,
): Authentication {
  const findApplication = sharePerTick((secret) => authenticateApplication(service, secret));

  const takesDocuments = service.linking?.clientDocuments != null;

  /** The issuer, the token endpoint, and the endpoint that was called. */
  function audiencesOf({ publicUrl, route }: RequestContext): string[] {
    const issuer = publicUrl();
    return [issuer, `${issuer}/oauth/token`, `${issuer}${route}`];
  }

  /** Over its limit, an address gets a plain read before the fenced one: see decision 13. */
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
    credentials: ClientCredentials,
    takesPublic: boolean,
  ): Promise<Callers['application']> {
    const { client_secret } = credentials;
    if (client_secret !== null) {
      if (credentials.client_id !== null) checkClientId(credentials.client_id, client_secret);
      return findBySecret(context, client_secret);
    }
    const assertion = credentials.assertion === null ? null : readAssertion(credentials.assertion);
    const client_id = credentials.client_id ?? assertion?.claims.sub ?? '';
    // Grants of a client that registered itself go on, whatever the settings.
    const isRegistered = client_id.startsWith(`${context.publicUrl()}${CLIENTS_PATH}/`);
    if (isRegistered || (takesDocuments && client_id.startsWith('https://'))) {
      const address_key = addressKey(context.address);
      if (assertion === null) {
        if (!takesPublic) throw DomainError.because('secret_required');
        await refuseUnknown(context, () => isKnownDocument(service, client_id));
      } else {
        // The caller chose the keys, and so what it costs to find out whether it is right.
        failures.check(address_key);
      }
      const proof = { uri: client_id, assertion, audiences: audiencesOf(context) };
      const pairs = { failures: assertions, address_key, gone: goneOf(context) };
      return { kind: 'application', ...(await authenticateDocumented(service, proof, pairs)) };
    }
    if (assertion !== null) throw DomainError.because('assertion_unexpected');
    const id = client_id.toLowerCase();
    if (!isUuid(id)) throw DomainError.because('client_id_no_uuid');
    if (!takesPublic) throw DomainError.because('secret_required', { claimed_application_id: id });
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
      const { request_id } = context.redacted;
      const initiator: Initiator = { request_id, by: 'grant', secret_id: null };
      return { kind: 'grant', ...(await authenticateGrant(service, secret, options, initiator)) };
    },

    async operator(authorization, context) {
      if (authorization.scheme !== 'bearer') throw DomainError.because('scheme_wrong');
      const { token } = authorization;
      const hash = hashCredential(token);
      // Each is compared, so that the time tells nothing, and hashed again, since SIGHUP replaces them.
      const isCurrent = isHashOf(hash, adminSecrets.adminSecret);
      const isPrevious = isHashOf(hash, adminSecrets.adminSecretPrevious);
      if (isCurrent) return { kind: 'operator', admin_secret: 'current', key: null };
      if (isPrevious) return { kind: 'operator', admin_secret: 'previous', key: null };
      if (!token.startsWith(`${credentialPrefixes.key}_`)) {
        throw DomainError.because('admin_secret_wrong');
      }
      await refuseUnknown(context, () => isKnownKey(service, token));
      const { id, name, role } = await authenticateKey(service, token);
      return { kind: 'operator', admin_secret: null, key: { id, name, role } };
    },
  };

  async function identifyClient(
    context: RequestContext,
    { readForm, takesPublic }: Parameters<AuthenticateClient>[1],
  ): Promise<Callers['application']> {
    if (readForm !== null) {
      const credentials = formCredentials(await readForm(), { takesAssertions: takesDocuments });
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

function checkClientId(client_id: string, client_secret: string): void {
  const application_id = readCredential('applicationSecret', client_secret);
  if (client_id.toLowerCase() === application_id) return;
  throw DomainError.because('client_id_of_another_application', {
    claimed_application_id: application_id,
  });
}

const isHashOf = (hash: CredentialHash, secret: string | null) =>
  secret !== null && sameHash(hash, hashCredential(secret));

const FAILED: ReadonlySet<ErrorCode> = new Set(['credentials_invalid', 'client_keys_unavailable']);

const NO_ATTEMPT: ReadonlySet<ErrorCode> = new Set([
  'credentials_missing',
  'media_type_unsupported',
  'body_too_large',
  'body_malformed',
  'parameter_invalid',
]);

/** Only failures count: clients may share an address. RateLimited hides what failed. */
function limitFailures(failures: Limit, address: string | undefined, error: unknown): void {
  if (!(error instanceof DomainError)) return;
  if (FAILED.has(error.code)) failures.count(addressKey(address));
  if (NO_ATTEMPT.has(error.code)) failures.check(addressKey(address));
}
