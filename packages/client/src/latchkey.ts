import type {
  Account,
  FullGrant,
  GrantDescription,
  OperationName,
  RevokedGrant,
} from '@latchkey/schema';
import { checkGrantSecret } from './arguments.ts';
import {
  accountCall,
  type Call,
  convertCall,
  grantCall,
  recoverCall,
  revokeCall,
} from './calls.ts';
import { LatchkeyConfigError, TimeoutError } from './errors.ts';
import { exchange, type Result } from './exchange.ts';
import { Flight } from './flight.ts';
import { detailsOf, type Log, logged, logTo } from './logger.ts';
import {
  type CallOptions,
  type ConvertOptions,
  checkApplicationSecret,
  checkBaseUrl,
  checkMaxRetries,
  checkPlace,
  checkTimeout,
  checkUserAgent,
  type LatchkeyOptions,
} from './options.ts';
import { leavesOutcomeOpen } from './outcome.ts';
import { recoverLostAnswer } from './recover-lost-answer.ts';
import type { WithRequestId } from './request-id.ts';
import { retrying } from './retry.ts';
import { SharedFlights } from './shared-flights.ts';

/**
 * A client of a Latchkey service, for one application.
 *
 * It keeps no state between calls: make one, and share it. Calls may run side by side. A logged or
 * serialised client shows no secret.
 *
 * A call that failed for a passing reason is tried again, up to `maxRetries` times and within its
 * `timeoutMs`, where that is safe: {@link Latchkey.convert} and {@link Latchkey.recover} only where
 * it is certain that nothing was done; the others also where the outcome is open. (Besides, `fetch`
 * by its standard sends a request again that was answered 421, which says that nobody acted on it.)
 *
 * A result is the service's object as it came, with members that this version does not know, and
 * with a `requestId` that is in no copy and no JSON of it.
 *
 * Every method rejects with a {@link LatchkeyError}:
 *
 * - {@link InvalidRequestError}, before anything is sent, where an argument is none of its kind;
 * - {@link LatchkeyConfigError} where `timeoutMs` is no number of milliseconds, or the client was
 *   made without an application secret and the call takes one;
 * - {@link AuthenticationError} where the secret is not valid (any more);
 * - {@link ConnectionError}, and {@link TimeoutError} which is one, where no complete answer came;
 * - {@link UnexpectedResponseError} where what answered is not Latchkey;
 * - {@link RateLimitedError}, {@link UnavailableError}, {@link ServerError}: try again later;
 *
 * and with those that it names itself. If `signal` aborts, it rejects with `signal.reason`
 * instead, as `fetch` does; the service may or may not have done what was asked.
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
    // As for the errors: what a log shows survives minifying.
    Object.defineProperty(Latchkey, 'name', { value: 'Latchkey' });
  }

  // Private names, so that neither console.log nor JSON.stringify finds the secret.
  readonly #applicationSecret: string | null;
  readonly #baseUrl: URL;
  readonly #fetch: LatchkeyOptions['fetch'];
  readonly #log: Log;
  readonly #maxRetries: number;
  readonly #timeoutMs: number;
  readonly #userAgent: string;
  readonly #conversions = new SharedFlights<FullGrant>();

  /**
   * Sends nothing: whether the secret is valid shows with the first call.
   *
   * @param options - what differs from the defaults
   * @throws {@link LatchkeyConfigError} where an option is missing or can't be right, or in a browser
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
    checkPlace(options.dangerouslyAllowBrowser);
    this.#baseUrl = checkBaseUrl(options.baseUrl);
    this.#applicationSecret = checkApplicationSecret(options.applicationSecret);
    this.#timeoutMs = checkTimeout(options.timeoutMs);
    this.#maxRetries = checkMaxRetries(options.maxRetries);
    this.#userAgent = checkUserAgent(options.userAgent);
    this.#fetch = options.fetch;
    this.#log = logTo(options.logger);
  }

  /**
   * Exchanges the code that the user brought for a grant. Do it at once: a code is good for 300
   * seconds and for one exchange.
   *
   * Store `grant_id` and `grant_secret`, the secret encrypted: it is shown this one time.
   *
   * Where a call ends without a certain answer ({@link ConnectionError}, {@link TimeoutError},
   * {@link UnexpectedResponseError}, {@link ServerError}, an abort), the code may be spent.
   * Converting the same code again is safe, and tells: either it succeeds now, or
   * {@link CodeAlreadyUsedError} names the grant whose answer got lost.
   *
   * With `recoverLostAnswer` the client does that by itself. After {@link ConnectionError} (but for
   * a request that was not sent), {@link TimeoutError}, {@link ServerError}, and
   * {@link UnexpectedResponseError} with a status of 2xx or 5xx, it converts once more. If that
   * says that the code was exchanged, it recovers the grant, once. After
   * {@link OutcomeUnknownError} it recovers the grant at once, and converts again only where there
   * is none. If no grant comes of it, it throws the first error, with those that followed in
   * `recoveryErrors`. All of it takes at most twice `timeoutMs`. An abort ends it at any point.
   *
   * Leave it off where several processes may convert the same code: the one that recovers would
   * replace the secret that another has just received.
   *
   * Calls at the same time with the same code, and the same `recoverLostAnswer`, share one request
   * and its outcome. Each ends by its own `timeoutMs` and `signal`; the others go on. A request is
   * taken for lost when all of them have waited for their `timeoutMs`.
   *
   * @param code - what came with the user, `lk_code_…`, as it came
   * @returns the grant with its secret, and the account as it was when the code was issued
   * @param options - for this call alone
   * @throws {@link CodeNotFoundError} where the code is unknown, or is another application's
   * @throws {@link CodeExpiredError} where it is older than 300 seconds
   * @throws {@link CodeAlreadyUsedError} where this application exchanged it before, with `grant_id`
   * @throws {@link OutcomeUnknownError} where the service can't tell whether it was consumed
   * @throws {@link LatchkeyError} as every method: see {@link Latchkey}
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
  async convert(code: string, options: ConvertOptions = {}): Promise<WithRequestId<FullGrant>> {
    const { recoverLostAnswer: recovers = false, signal } = options;
    const call = convertCall(code);
    const secret = this.#secret();
    const timeoutMs = this.#timeout(options);
    signal?.throwIfAborted();
    const depart = () =>
      new Flight<FullGrant>(recovers ? 2 : 1, this.#timeoutError, async (flight) => {
        const convert = () => this.#send(call, secret, flight);
        const recover = (grantId: string) => this.#send(recoverCall(grantId), secret, flight);
        try {
          return await convert();
        } catch (error) {
          if (!recovers || !leavesOutcomeOpen(error)) throw error;
          const { path } = call;
          this.#log('warn', `${path}: ${error.name}, recovering the answer if it got lost`, {
            operation: path,
            ...detailsOf(error),
          });
          flight.startOver(error);
          return recoverLostAnswer(error, convert, recover);
        }
      });
    return this.#conversions.join(`${recovers} ${code}`, depart, timeoutMs, signal);
  }

  /**
   * Ends a grant. Once this resolves, no request with the grant succeeds any more.
   *
   * May be repeated: to revoke again gives the same result. So call it again after an error that
   * leaves the outcome open.
   *
   * @param grantId - the `grant_id` of the grant, not its secret
   * @param options - for this call alone
   * @returns what remains of the grant
   * @throws {@link GrantNotFoundError} where this application has no such grant
   * @throws {@link OutcomeUnknownError} where the service can't tell whether the grant was revoked
   * @throws {@link LatchkeyError} as every method: see {@link Latchkey}
   *
   * @example
   * ```ts
   * await latchkey.revoke(grantId);
   * ```
   */
  async revoke(grantId: string, options: CallOptions = {}): Promise<WithRequestId<RevokedGrant>> {
    return this.#call(revokeCall(grantId), this.#secret(), options);
  }

  /**
   * Gets a grant whose answer got lost: the service makes a new secret for it, and the old one, which
   * nobody saw, is dead. For the grant that {@link CodeAlreadyUsedError} or
   * {@link OutcomeUnknownError} named after a `convert`.
   *
   * Possible within 10 minutes of the exchange, and only while the grant was never used. May be
   * repeated within that; the last secret is the one that works.
   *
   * @param grantId - the `grant_id` of the grant
   * @param options - for this call alone
   * @returns the grant with its new secret, as `convert` would have returned it
   * @throws {@link GrantNotFoundError} where this application has no such grant, or it was revoked; after
   *   an {@link OutcomeUnknownError} of `convert`: convert the code again
   * @throws {@link GrantNotRecoverableError} where it was used, or exchanged more than 10 minutes ago
   * @throws {@link OutcomeUnknownError} where the service can't tell whether the secret was replaced
   * @throws {@link LatchkeyError} as every method: see {@link Latchkey}
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
  async recover(grantId: string, options: CallOptions = {}): Promise<WithRequestId<FullGrant>> {
    return this.#call(recoverCall(grantId), this.#secret(), options);
  }

  /**
   * Gets the account of a grant, as it is now.
   *
   * @param grantSecret - the `grant_secret` of the grant, not its id
   * @param options - for this call alone
   * @returns the account, with its names and marks of this moment
   * @throws {@link AuthenticationError} where the grant was revoked, by anyone: unlink the account
   * @throws {@link LatchkeyError} as every method: see {@link Latchkey}
   *
   * @example
   * ```ts
   * const { username } = await latchkey.account(grantSecret);
   * ```
   */
  async account(grantSecret: string, options: CallOptions = {}): Promise<WithRequestId<Account>> {
    return this.#call(accountCall, checkGrantSecret(grantSecret), options);
  }

  /**
   * Gets a grant's description of itself: its scope, when it was made, and the account as it was
   * when its code was issued. {@link Latchkey.account} gives the account as it is now.
   *
   * @param grantSecret - the `grant_secret` of the grant, not its id
   * @param options - for this call alone
   * @returns the grant without its secret
   * @throws {@link AuthenticationError} where the grant was revoked, by anyone: unlink the account
   * @throws {@link LatchkeyError} as every method: see {@link Latchkey}
   *
   * @example
   * ```ts
   * const { scope } = await latchkey.grant(grantSecret);
   * ```
   */
  async grant(
    grantSecret: string,
    options: CallOptions = {},
  ): Promise<WithRequestId<GrantDescription>> {
    return this.#call(grantCall, checkGrantSecret(grantSecret), options);
  }

  /** Makes a call that nobody shares. */
  async #call<Name extends OperationName>(
    call: Call<Name>,
    secret: string,
    options: CallOptions,
  ): Promise<Result<Name>> {
    const timeoutMs = this.#timeout(options);
    options.signal?.throwIfAborted();
    const flight = new Flight<Result<Name>>(1, this.#timeoutError, (flight) =>
      this.#send(call, secret, flight),
    );
    return flight.join(timeoutMs, options.signal);
  }

  /** Makes the requests of a call: one, and its retries. */
  #send<Name extends OperationName>(
    call: Call<Name>,
    secret: string,
    time: { readonly signal: AbortSignal; readonly msLeft: number },
  ): Promise<Result<Name>> {
    const { signal } = time;
    const how = {
      baseUrl: this.#baseUrl,
      fetch: this.#fetch,
      userAgent: this.#userAgent,
      secret,
      signal,
    };
    const { path: operation, isRepeatable } = call;
    return retrying(
      { operation, isRepeatable, maxRetries: this.#maxRetries, time, log: this.#log },
      () => logged(this.#log, operation, () => exchange(call, how)),
    );
  }

  #secret(): string {
    if (this.#applicationSecret !== null) return this.#applicationSecret;
    throw new LatchkeyConfigError(
      'applicationSecret is null, and this call is made for an application. Pass its secret, lk_app_…, to the constructor.',
    );
  }

  #timeout({ timeoutMs }: CallOptions): number {
    return checkTimeout(timeoutMs ?? this.#timeoutMs);
  }

  readonly #timeoutError = (timeoutMs: number) =>
    new TimeoutError(
      `No complete answer from ${this.#baseUrl.origin} within ${timeoutMs} ms. If the service needs longer, raise timeoutMs. It may still do what was asked.`,
      { maybeSent: true },
    );
}
