import type { Caller } from '@latchkey/schema';
import { authenticateApplication } from '../applications/authenticate-application.ts';
import { hashCredential, sameHash } from '../credentials/credentials.ts';
import { DomainError } from '../domain-error.ts';
import { authenticateGrant } from '../grants/authenticate-grant.ts';
import { addressKey } from '../limits/address-key.ts';
import type { Limit } from '../limits/limit.ts';
import type { AnyCaller } from '../operations/caller.ts';
import type { Operation } from '../operations/operation.ts';
import type { Origin } from '../origin.ts';
import type { Service } from '../service.ts';
import { type Authorization, parseAuthorization } from './authorization.ts';
import type { Exchange } from './exchange.ts';
import { shareInTurn } from './share-in-turn.ts';

/**
 * Finds out who sends a request, for the operation it is for.
 *
 * @throws DomainError `credentials_missing`, `credentials_invalid`, `rate_limited`
 */
export type Authenticate = (exchange: Exchange, operation: Operation) => Promise<AnyCaller>;

/**
 * @param adminSecret - null where the service runs without operator routes
 * @param failures - the limit on failures of an address
 */
export function createAuthenticate(
  service: Service,
  adminSecret: string | null,
  failures: Limit,
): Authenticate {
  const adminHash = adminSecret === null ? null : hashCredential(adminSecret);

  const applicationOf = shareInTurn((secret) => authenticateApplication(service, secret));

  const byCaller: Record<
    Caller,
    (authorization: Authorization, exchange: Exchange, operation: Operation) => Promise<AnyCaller>
  > = {
    async application(authorization, exchange) {
      if (authorization.scheme !== 'bearer') throw DomainError.because('scheme_wrong');
      const found = await applicationOf(authorization.token);
      exchange.application_id = found.application.id;
      return found;
    },

    async grant(authorization, exchange, operation) {
      const named =
        authorization.scheme === 'bearer'
          ? { secret: authorization.token, grant_id: null }
          : { secret: authorization.password, grant_id: authorization.user.toLowerCase() };
      const options = {
        grant_id: named.grant_id,
        currentAccount: operation.name === 'account.get',
      };
      const { request_id } = exchange.recorded;
      const origin: Origin = { request_id, by: 'grant', secret_id: null };
      const found = await authenticateGrant(service, named.secret, options, origin);
      exchange.application_id = found.grant.application_id;
      return found;
    },

    async operator(authorization) {
      if (authorization.scheme !== 'bearer') throw DomainError.because('scheme_wrong');
      const matches =
        adminHash !== null && sameHash(hashCredential(authorization.token), adminHash);
      if (!matches) throw DomainError.because('admin_secret_wrong');
      return 'operator';
    },
  };

  async function identify(exchange: Exchange, operation: Operation): Promise<AnyCaller> {
    const header = exchange.request.headers.authorization;
    if (header === undefined) throw new DomainError('credentials_missing');
    const authorization = parseAuthorization(header);
    if (authorization === null) throw DomainError.because('header_unreadable');
    return byCaller[operation.caller](authorization, exchange, operation);
  }

  return async (exchange, operation) => {
    try {
      return await identify(exchange, operation);
    } catch (error) {
      limitFailures(failures, exchange.address, error);
      throw error;
    }
  };
}

/**
 * The limit of an address is met by who fails: an address may be shared, and good credentials pass
 * whatever else comes from it. A request without credentials is no attempt, and is not counted.
 *
 * @throws RateLimited in the place of the failure, so that nothing is said of the credentials
 */
function limitFailures(failures: Limit, address: string | undefined, error: unknown): void {
  if (!(error instanceof DomainError)) return;
  if (error.code === 'credentials_invalid') failures.count(addressKey(address));
  if (error.code === 'credentials_missing') failures.check(addressKey(address));
}
