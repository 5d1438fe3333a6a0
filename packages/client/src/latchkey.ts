import type {
  Account,
  FullGrant,
  GrantDescription,
  OperationName,
  RevokedGrant,
} from '@latchkey/schema';
import { checkGrantSecret } from './arguments.ts';
import { withCallerStack } from './caller-stack.ts';
import {
  accountCall,
  convertCall,
  grantCall,
  type OperationCall,
  recoverCall,
  revokeCall,
} from './calls.ts';
import { LatchkeyConfigError, TimeoutError } from './errors.ts';
import { type Log, logDetailsOf, logRequest, logTo } from './logger.ts';
import {
  type CallOptions,
  type ConvertOptions,
  checkApplicationSecret,
  checkBaseUrl,
  checkCallOptions,
  checkClientOptions,
  checkMaxRetries,
  checkTimeout,
  checkUserAgent,
  type LatchkeyOptions,
  refuseBrowsers,
} from './options.ts';
import { recoverLostAnswer } from './recover-lost-answer.ts';
import type { WithResponse } from './response-details.ts';
import { leavesOutcomeOpen, withRetries } from './retry.ts';
import { type ResultOf, sendRequest } from './send-request.ts';
import { SharedCall, SingleFlight } from './single-flight.ts';
import { type Deadline, withTimeout } from './until-aborted.ts';

/**
 * A client of a Latchkey service, for one application.
 *
 * Create one client and share it: concurrent calls are safe. A logged or serialised client shows no
 * secret.
 *
 * A call that fails for a temporary reason is retried if that is safe, up to `maxRetries` times and
 * within its `timeoutMs`. {@link Latchkey.convert} and {@link Latchkey.recover} are retried only if
 * it is certain that nothing was done; the other methods also if the outcome is open. (Besides, the
 * `fetch` standard lets a runtime resend a request after a 421 response, which says that the request
 * was not processed.)
 *
 * A result is the service's object as it was sent, including members that this version does not know.
 * It also has a `request_id` and the `response` with its status and headers, which copies and JSON of
 * the result do not contain.
 *
 * Every method can reject with these errors, and with those that its own description names:
 *
 * - {@link InvalidRequestError}, before anything is sent, if an argument has the wrong kind;
 * - {@link LatchkeyConfigError} if an option of the call does not exist or is not valid, or if the
 *   method needs an application secret and the client has none;
 * - {@link AuthenticationError} if the secret is not valid, or no longer valid;
 * - {@link ApplicationDisabledError} if the application is disabled for now: keep the grant;
 * - {@link ConnectionError}, or its subclass {@link TimeoutError}, if no complete response arrived;
 * - {@link UnexpectedResponseError} if the response is not from Latchkey;
 * - {@link RateLimitedError}, {@link UnavailableError}, {@link ServerError}: try again later.
 *
 * All of them are a {@link LatchkeyError}. If `signal` aborts, a method rejects with `signal.reason`
 * instead, as `fetch` does; the service may have carried out the request.
 *
 * @example
 * ```ts
 * import { Latchkey } from '@latchkey/client';
 *
 * // Reads LATCHKEY_URL and LATCHKEY_APPLICATION_SECRET from the environment.
 * const latchkey = new Latchkey();
 * const grant = await latchkey.convert(code);
 * ```
 */
export class Latchkey {
  static {
    // As for the errors: logs show the name even if a bundler minifies it.
    Object.defineProperty(Latchkey, 'name', { value: 'Latchkey' });
  }

  // Private fields, so that neither console.log nor JSON.stringify shows the secret.
  readonly #applicationSecret: string | null;
  readonly #baseUrl: URL;
  readonly #fetch: LatchkeyOptions['fetch'];
  readonly #log: Log;
  readonly #maxRetries: number;
  readonly #timeoutMs: number;
  readonly #userAgent: string;
  readonly #conversions = new SingleFlight<FullGrant>();

  /**
   * Sends nothing. The first call shows whether the secret is valid.
   *
   * @param options - the options that differ from their defaults
   * @throws a {@link LatchkeyConfigError} if an option is missing, not valid or unknown, or in a browser
   *
   * @example
   * ```ts
   * import { Latchkey } from '@latchkey/client';
   *
   * const latchkey = new Latchkey({
   *   baseUrl: 'https://latchkey.example.com',
   *   applicationSecret,
   *   timeoutMs: 3_000,
   * });
   * ```
   */
  constructor(options: LatchkeyOptions = {}) {
    refuseBrowsers(options?.dangerouslyAllowBrowser);
    checkClientOptions(options);
    this.#baseUrl = checkBaseUrl(options.baseUrl);
    this.#applicationSecret = checkApplicationSecret(options.applicationSecret);
    this.#timeoutMs = checkTimeout(options.timeoutMs);
    this.#maxRetries = checkMaxRetries(options.maxRetries);
    this.#userAgent = checkUserAgent(options.userAgent);
    this.#fetch = options.fetch;
    this.#log = logTo(options.logger);
  }

  /**
   * Converts the code that came with the user into a grant. Do it at once: a code is valid for 300
   * seconds and can be converted once.
   *
   * Store `grant_id` and `grant_secret`, the secret encrypted: the service shows it only once.
   *
   * If a call ends without a certain response ({@link ConnectionError}, {@link TimeoutError},
   * {@link UnexpectedResponseError}, {@link ServerError}, an abort), the code may be used up. It is
   * safe to convert the same code again: either that succeeds, or {@link CodeAlreadyUsedError} names
   * the grant whose response was lost.
   *
   * With `recoverLostAnswer` the client does this itself. It converts the code once more after
   * {@link ConnectionError} (unless the request was not sent), {@link TimeoutError},
   * {@link ServerError}, and {@link UnexpectedResponseError} with a 2xx or 5xx status. If the service
   * then reports that the code was used, the client recovers the grant, once. After
   * {@link OutcomeUnknownError} it recovers the grant first, and converts again only if there is no
   * grant. If the recovery fails, the call rejects with the first error, whose `recovery_errors` are
   * the errors that followed. The whole call takes at most twice `timeoutMs`. An abort ends it at any
   * point.
   *
   * Leave `recoverLostAnswer` off if several processes may convert the same code: the process that
   * recovers would replace the secret that another one has just received.
   *
   * Concurrent calls with the same code, `recoverLostAnswer` and `maxRetries` share one request and its
   * outcome. Each call ends by its own `timeoutMs` and `signal`, and the others continue. The response
   * counts as lost once every one of them has waited for its `timeoutMs`.
   *
   * @param code - the code, `lk_code_…`, exactly as it came with the user
   * @returns the grant with its secret, and the account as it was when the code was issued
   * @param options - options of this call
   * @throws a {@link CodeNotFoundError} if the code is unknown, or belongs to another application
   * @throws a {@link CodeExpiredError} if the code is older than 300 seconds
   * @throws a {@link CodeAlreadyUsedError} if this application converted it before, with `grant_id`
   * @throws an {@link OutcomeUnknownError} if the service can't tell whether the code was used up
   * @throws a {@link LatchkeyError} as every method: see {@link Latchkey}
   *
   * @example
   * ```ts
   * import { CodeExpiredError } from '@latchkey/client';
   *
   * try {
   *   const grant = await latchkey.convert(code, { recoverLostAnswer: true });
   *   await links.save(user, { id: grant.grant_id, secret: encrypt(grant.grant_secret) });
   * } catch (error) {
   *   if (error instanceof CodeExpiredError) return startAgain();
   *   throw error;
   * }
   * ```
   */
  async convert(code: string, options: ConvertOptions = {}): Promise<WithResponse<FullGrant>> {
    return this.#call('convert', options, async ({ timeoutMs, maxRetries }) => {
      const { recoverLostAnswer: recovers = false, signal } = options;
      const call = convertCall(code);
      const secret = this.#secret();
      signal?.throwIfAborted();
      const start = () =>
        new SharedCall<FullGrant>(recovers ? 2 : 1, this.#timeoutError, async (shared) => {
          const limits = { maxRetries, deadline: shared };
          const convert = () => this.#send(call, secret, limits);
          const recover = (grantId: string) => this.#send(recoverCall(grantId), secret, limits);
          try {
            return await convert();
          } catch (error) {
            if (!recovers || !leavesOutcomeOpen(error)) throw error;
            const { operation } = call;
            this.#log(
              'warn',
              `${operation}: ${error.name}, recovering the grant if the response was lost`,
              { operation, ...logDetailsOf(error) },
            );
            shared.startOver(error);
            return recoverLostAnswer(error, convert, recover);
          }
        });
      const key = `${recovers} ${maxRetries} ${code}`;
      return this.#conversions.join(key, start, timeoutMs, signal);
    });
  }

  /**
   * Revokes a grant. Once this resolves, no request with the grant succeeds any more.
   *
   * Idempotent: revoking a grant again returns the same result. So call it again after an error that
   * leaves the outcome open.
   *
   * @param grantId - the `grant_id` of the grant, not its secret
   * @param options - options of this call
   * @returns what remains of the grant
   * @throws a {@link GrantNotFoundError} if this application has no such grant
   * @throws an {@link OutcomeUnknownError} if the service can't tell whether the grant was revoked
   * @throws a {@link LatchkeyError} as every method: see {@link Latchkey}
   *
   * @example
   * ```ts
   * await latchkey.revoke(grantId);
   * ```
   */
  async revoke(grantId: string, options: CallOptions = {}): Promise<WithResponse<RevokedGrant>> {
    return this.#callAlone('revoke', options, () => [revokeCall(grantId), this.#secret()]);
  }

  /**
   * Recovers a grant whose response was lost. The service makes a new secret for the grant, and the
   * old one, which nobody has seen, stops working. Call it for the grant that
   * {@link CodeAlreadyUsedError} or {@link OutcomeUnknownError} named after a `convert`.
   *
   * Possible within 10 minutes of the conversion, and only until the grant is first used. It may be
   * repeated within these limits; only the last secret works.
   *
   * @param grantId - the `grant_id` of the grant
   * @param options - options of this call
   * @returns the grant with its new secret, as `convert` would have returned it
   * @throws a {@link GrantNotFoundError} if this application has no such grant, or it was revoked. After
   *   an {@link OutcomeUnknownError} of `convert`, convert the code again
   * @throws a {@link GrantNotRecoverableError} if the grant was used, or its code was converted more than
   *   10 minutes ago
   * @throws an {@link OutcomeUnknownError} if the service can't tell whether the secret was replaced
   * @throws a {@link LatchkeyError} as every method: see {@link Latchkey}
   *
   * @example
   * ```ts
   * import { CodeAlreadyUsedError } from '@latchkey/client';
   *
   * try {
   *   return await latchkey.convert(code);
   * } catch (error) {
   *   if (error instanceof CodeAlreadyUsedError) return await latchkey.recover(error.grant_id);
   *   throw error;
   * }
   * ```
   */
  async recover(grantId: string, options: CallOptions = {}): Promise<WithResponse<FullGrant>> {
    return this.#callAlone('recover', options, () => [recoverCall(grantId), this.#secret()]);
  }

  /**
   * Gets the account of a grant as it is now.
   *
   * @param grantSecret - the `grant_secret` of the grant, not its id
   * @param options - options of this call
   * @returns the account, with its current names and flags
   * @throws an {@link AuthenticationError} if the grant was revoked, by anyone: unlink the account
   * @throws a {@link LatchkeyError} as every method: see {@link Latchkey}
   *
   * @example
   * ```ts
   * const { username } = await latchkey.account(grantSecret);
   * ```
   */
  async account(grantSecret: string, options: CallOptions = {}): Promise<WithResponse<Account>> {
    return this.#callAlone('account', options, () => [accountCall, checkGrantSecret(grantSecret)]);
  }

  /**
   * Gets the description of a grant: its scope, when it was made, and the account as it was when the
   * code was issued. {@link Latchkey.account} returns the account as it is now.
   *
   * @param grantSecret - the `grant_secret` of the grant, not its id
   * @param options - options of this call
   * @returns the grant without its secret
   * @throws an {@link AuthenticationError} if the grant was revoked, by anyone: unlink the account
   * @throws a {@link LatchkeyError} as every method: see {@link Latchkey}
   *
   * @example
   * ```ts
   * const { scope } = await latchkey.grant(grantSecret);
   * ```
   */
  async grant(
    grantSecret: string,
    options: CallOptions = {},
  ): Promise<WithResponse<GrantDescription>> {
    return this.#callAlone('grant', options, () => [grantCall, checkGrantSecret(grantSecret)]);
  }

  /** Runs a method: checks its options, and shows its caller in the stack of every error. */
  #call<Result>(
    method: keyof Latchkey,
    options: CallOptions,
    run: (limits: { timeoutMs: number; maxRetries: number }) => Promise<Result>,
  ): Promise<Result> {
    return withCallerStack(Latchkey.prototype[method], async () => {
      checkCallOptions(method, options);
      return run({
        timeoutMs: checkTimeout(options.timeoutMs ?? this.#timeoutMs),
        maxRetries: checkMaxRetries(options.maxRetries ?? this.#maxRetries),
      });
    });
  }

  /** Runs a method whose call is not shared. */
  #callAlone<Name extends OperationName>(
    method: keyof Latchkey,
    options: CallOptions,
    prepare: () => [call: OperationCall<Name>, secret: string],
  ): Promise<ResultOf<Name>> {
    return this.#call(method, options, async ({ timeoutMs, maxRetries }) => {
      const [call, secret] = prepare();
      return withTimeout(timeoutMs, options.signal, this.#timeoutError, (deadline) =>
        this.#send(call, secret, { maxRetries, deadline }),
      );
    });
  }

  /** Sends the request of a call, and its retries. */
  #send<Name extends OperationName>(
    call: OperationCall<Name>,
    secret: string,
    limits: { maxRetries: number; deadline: Deadline },
  ): Promise<ResultOf<Name>> {
    const { operation, isIdempotent } = call;
    const request = {
      baseUrl: this.#baseUrl,
      fetch: this.#fetch,
      userAgent: this.#userAgent,
      secret,
      signal: limits.deadline.signal,
    };
    return withRetries({ operation, isIdempotent, ...limits, log: this.#log }, () =>
      logRequest(this.#log, operation, () => sendRequest(call, request)),
    );
  }

  #secret(): string {
    if (this.#applicationSecret !== null) return this.#applicationSecret;
    throw new LatchkeyConfigError(
      'applicationSecret is null, but this method needs one. Pass the secret of your application, lk_app_…, to the constructor.',
    );
  }

  readonly #timeoutError = (timeoutMs: number) =>
    new TimeoutError(
      `No complete response from ${this.#baseUrl.origin} within ${timeoutMs} ms. If the service needs longer, raise timeoutMs. It may still carry out the request.`,
      { maybe_sent: true },
    );
}
