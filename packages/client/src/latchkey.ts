import type {
  Account,
  FullGrant,
  GrantDescription,
  OperationName,
  OperationOutput,
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
import { TimeoutError } from './errors.ts';
import { exchange } from './exchange.ts';
import { Flight } from './flight.ts';
import {
  type CallOptions,
  type ConvertOptions,
  checkApplicationSecret,
  checkBaseUrl,
  checkTimeout,
  type LatchkeyOptions,
} from './options.ts';
import { isLostAnswer, recoverLostAnswer } from './recover-lost-answer.ts';
import { SharedFlights } from './shared-flights.ts';

/**
 * A client of a Latchkey service, for one application.
 *
 * It keeps no state between calls: make one, and share it. Calls may run side by side. Every call is
 * one request, sent once, unless {@link Latchkey.convert} is told to recover a lost answer. (What
 * `fetch` itself does stays as it is: by its standard it sends a request again that was answered
 * 421, which means that nobody acted on it.) A logged or serialised client shows no secret.
 *
 * Every method rejects with a {@link LatchkeyError}:
 *
 * - {@link InvalidRequestError}, before anything is sent, where an argument is none of its kind;
 * - {@link LatchkeyConfigError} where `timeoutMs` is no number of milliseconds;
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
 * const latchkey = new Latchkey({
 *   baseUrl: process.env.LATCHKEY_URL,
 *   applicationSecret: process.env.LATCHKEY_SECRET,
 * });
 * const grant = await latchkey.convert(code);
 * ```
 */
export class Latchkey {
  static {
    // As for the errors: what a log shows survives minifying.
    Object.defineProperty(Latchkey, 'name', { value: 'Latchkey' });
  }

  // Private names, so that neither console.log nor JSON.stringify finds the secret.
  readonly #applicationSecret: string;
  readonly #baseUrl: URL;
  readonly #fetch: LatchkeyOptions['fetch'];
  readonly #timeoutMs: number;
  readonly #conversions = new SharedFlights<FullGrant>();

  /**
   * Sends nothing: whether the secret is valid shows with the first call.
   *
   * @throws LatchkeyConfigError where an option is missing or can't be right
   */
  constructor(options: LatchkeyOptions) {
    this.#baseUrl = checkBaseUrl(options.baseUrl);
    this.#applicationSecret = checkApplicationSecret(options.applicationSecret);
    this.#timeoutMs = checkTimeout(options.timeoutMs);
    this.#fetch = options.fetch;
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
   * @throws CodeNotFoundError where the code is unknown, or is another application's
   * @throws CodeExpiredError where it is older than 300 seconds
   * @throws CodeAlreadyUsedError where this application exchanged it before, with `grant_id`
   * @throws OutcomeUnknownError where the service can't tell whether it was consumed
   *
   * @example
   * ```ts
   * try {
   *   const grant = await latchkey.convert(code, { recoverLostAnswer: true });
   *   await links.save(user, grant.grant_id, encrypt(grant.grant_secret));
   * } catch (error) {
   *   if (error instanceof CodeExpiredError) return startAgain();
   *   throw error;
   * }
   * ```
   */
  async convert(code: string, options: ConvertOptions = {}): Promise<FullGrant> {
    const { recoverLostAnswer: recovers = false, signal } = options;
    const call = convertCall(code);
    const timeoutMs = this.#timeout(options);
    signal?.throwIfAborted();
    const depart = () =>
      new Flight<FullGrant>(recovers ? 2 : 1, this.#timeoutError, async (flight) => {
        const convert = () => this.#exchange(call, this.#applicationSecret, flight);
        const recover = (grantId: string) =>
          this.#exchange(recoverCall(grantId), this.#applicationSecret, flight);
        try {
          return await convert();
        } catch (error) {
          if (!recovers || !isLostAnswer(error)) throw error;
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
   * @returns what remains of the grant
   * @throws GrantNotFoundError where this application has no such grant
   * @throws OutcomeUnknownError where the service can't tell whether the grant was revoked
   *
   * @example
   * ```ts
   * await latchkey.revoke(grant.grant_id);
   * ```
   */
  async revoke(grantId: string, options: CallOptions = {}): Promise<RevokedGrant> {
    return this.#call(revokeCall(grantId), this.#applicationSecret, options);
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
   * @returns the grant with its new secret, as `convert` would have returned it
   * @throws GrantNotFoundError where this application has no such grant, or it was revoked; after
   *   an {@link OutcomeUnknownError} of `convert`: convert the code again
   * @throws GrantNotRecoverableError where it was used, or exchanged more than 10 minutes ago
   * @throws OutcomeUnknownError where the service can't tell whether the secret was replaced
   *
   * @example
   * ```ts
   * try {
   *   return await latchkey.convert(code);
   * } catch (error) {
   *   if (error instanceof CodeAlreadyUsedError) return await latchkey.recover(error.grant_id);
   *   throw error;
   * }
   * ```
   */
  async recover(grantId: string, options: CallOptions = {}): Promise<FullGrant> {
    return this.#call(recoverCall(grantId), this.#applicationSecret, options);
  }

  /**
   * Gets the account of a grant, as it is now.
   *
   * @param grantSecret - the `grant_secret` of the grant, not its id
   * @throws AuthenticationError where the grant was revoked, by anyone: unlink the account
   *
   * @example
   * ```ts
   * const { username } = await latchkey.account(grantSecret);
   * ```
   */
  async account(grantSecret: string, options: CallOptions = {}): Promise<Account> {
    return this.#call(accountCall, checkGrantSecret(grantSecret), options);
  }

  /**
   * Gets a grant's description of itself: its scope, when it was made, and the account as it was
   * when its code was issued. {@link Latchkey.account} gives the account as it is now.
   *
   * @param grantSecret - the `grant_secret` of the grant, not its id
   * @throws AuthenticationError where the grant was revoked, by anyone: unlink the account
   *
   * @example
   * ```ts
   * const { scope } = await latchkey.grant(grantSecret);
   * ```
   */
  async grant(grantSecret: string, options: CallOptions = {}): Promise<GrantDescription> {
    return this.#call(grantCall, checkGrantSecret(grantSecret), options);
  }

  async #call<Name extends OperationName>(
    call: Call<Name>,
    secret: string,
    options: CallOptions,
  ): Promise<OperationOutput<Name>> {
    const timeoutMs = this.#timeout(options);
    options.signal?.throwIfAborted();
    const flight = new Flight<OperationOutput<Name>>(1, this.#timeoutError, (flight) =>
      this.#exchange(call, secret, flight),
    );
    return flight.join(timeoutMs, options.signal);
  }

  #exchange<Name extends OperationName>(
    call: Call<Name>,
    secret: string,
    { signal }: { signal: AbortSignal },
  ): Promise<OperationOutput<Name>> {
    return exchange(call, { baseUrl: this.#baseUrl, fetch: this.#fetch, secret, signal });
  }

  #timeout({ timeoutMs }: CallOptions): number {
    return checkTimeout(timeoutMs ?? this.#timeoutMs);
  }

  readonly #timeoutError = (timeoutMs: number) =>
    new TimeoutError(
      `No complete answer from ${this.#baseUrl.origin} within ${timeoutMs} ms. The service may still do what was asked.`,
      { maybeSent: true },
    );
}
