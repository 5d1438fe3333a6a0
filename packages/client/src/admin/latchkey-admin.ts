import type { List } from '@latchkey/schema';
import { hasObject } from '../calls.ts';
import type { CallOptions } from '../options.ts';
import { ServiceClient } from '../service-client.ts';
import { listPromise } from './list-promise.ts';
import { OperatorOperations } from './operations.ts';
import { operatorCalls } from './operator-calls.ts';
import { checkAdminOptions, checkAdminSecret, type LatchkeyAdminOptions } from './options.ts';

/**
 * A client of a Latchkey service, for its operator and for the service that has the accounts. It has
 * every operation of `/admin`, under the name of its tRPC procedure, such as `admin.links.identify`.
 *
 * Create one client and share it: concurrent calls are safe. A logged or serialised client shows no
 * secret.
 *
 * Lists have pages: `await admin.grants.list(…)` gets one, and `for await (const grant of
 * admin.grants.list(…))` gets the entries of all of them.
 *
 * A read is retried if it fails for a temporary reason; anything else only if it is certain that nothing
 * was done. Results have a `request_id` and a `response` besides their members, as those of `Latchkey`.
 *
 * Every method can reject with the errors of `@latchkey/client`, and with those that its own
 * description names:
 *
 * - `InvalidRequestError` if the input is not valid (`issues` says why), or if what it names does not
 *   exist, such as `account_not_found`. With `link_expired` it has `redirect_to`, where to send the
 *   browser; with `link_decided`, `link_status`;
 * - `LatchkeyConfigError` if an option of the call does not exist or is not valid;
 * - `AuthenticationError` if `adminSecret` is not the service's;
 * - `ConnectionError`, or its subclass `TimeoutError`, if no complete response arrived;
 * - `UnexpectedResponseError` if the response is not from Latchkey;
 * - `OutcomeUnknownError` if the service can't tell whether a change of a grant or code was made: repeat
 *   the call. Of anything else, that is a `ServerError` with the `error_code` `outcome_unknown`: look
 *   whether it was made, since a repeated creation may make a second one;
 * - `RateLimitedError`, `UnavailableError`, any other `ServerError`: try again later.
 *
 * All of them are a `LatchkeyError`. If `signal` aborts, a method rejects with `signal.reason` instead.
 *
 * @example
 * ```ts
 * import { LatchkeyAdmin } from '@latchkey/client/admin';
 *
 * // Reads LATCHKEY_URL and LATCHKEY_ADMIN_SECRET from the environment.
 * const admin = new LatchkeyAdmin();
 *
 * // The sign-in page, once it knows who the user is:
 * const { redirect_to } = await admin.links.identify({ link, account_id: accountId });
 * ```
 */
export class LatchkeyAdmin extends OperatorOperations {
  static {
    // As for the errors: logs show the name even if a bundler minifies it.
    Object.defineProperty(LatchkeyAdmin, 'name', { value: 'LatchkeyAdmin' });
  }

  /**
   * Sends nothing. The first call shows whether the secret is valid.
   *
   * @param options - the options that differ from their defaults
   * @throws a `LatchkeyConfigError` if an option is missing, not valid or unknown, or in a browser
   *
   * @example
   * ```ts
   * import { LatchkeyAdmin } from '@latchkey/client/admin';
   *
   * const admin = new LatchkeyAdmin({ baseUrl: 'https://latchkey.example.com', adminSecret });
   * ```
   */
  constructor(options: LatchkeyAdminOptions = {}) {
    super();
    checkAdminOptions(options);
    // Not a member, so that neither console.log nor JSON.stringify shows the secret.
    const service = new ServiceClient(options);
    const secret = checkAdminSecret(options.adminSecret);
    Object.assign(this, methodTree(service, secret));
  }
}

type Method = (input?: object, options?: CallOptions) => Promise<object>;
interface MethodTree {
  [name: string]: MethodTree | Method;
}

/** The methods of {@link OperatorOperations}: `links.identify` becomes `{ links: { identify } }`. */
function methodTree(service: ServiceClient, secret: string): MethodTree {
  const tree: MethodTree = {};
  for (const [name, [httpMethod, object]] of Object.entries(operatorCalls)) {
    const groups = name.split('.');
    const last = groups.pop() as string;
    let group = tree;
    for (const word of groups) {
      group[word] ??= {};
      group = group[word] as MethodTree;
    }
    const isResult = hasObject(object);
    const isIdempotent = httpMethod === 'GET';
    const method: Method = (input, options = {}) => {
      const send = (query: object | undefined) => {
        const call = {
          operation: `admin.${name}`,
          method: httpMethod,
          input: query,
          secretInputs: secretsIn(query),
          isIdempotent,
          isResult,
        };
        return service.runCall(method, name, options, (limits) =>
          service.send(call, secret, limits),
        );
      };
      const result = send(input);
      return object === 'list' && isIdempotent
        ? listPromise(
            result as Promise<List<unknown>>,
            (cursor) => send({ ...input, cursor }) as Promise<List<unknown>>,
          )
        : result;
    };
    group[last] = method;
  }
  return tree;
}

/** The credentials in an input, which no error may show. */
function secretsIn(input: { link?: unknown } | undefined): string[] {
  const link = input?.link;
  return typeof link === 'string' ? [link] : [];
}
