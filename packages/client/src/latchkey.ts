import {
  type Account,
  type FullGrant,
  type GrantDescription,
  type Introspection,
  type OperationName,
  parseCredential,
  type RevokedGrant,
} from '@latchkey/schema';
import { checkGrantSecret } from './arguments.ts';
import { type Authorization, authorizationUrl } from './authorization-url.ts';
import {
  accountCall,
  convertCall,
  grantCall,
  introspectCall,
  type OperationCall,
  type ResultOf,
  recoverCall,
  revokeCall,
  revokeTokenCall,
} from './calls.ts';
import { LatchkeyConfigError } from './errors.ts';
import { logDetailsOf } from './logger.ts';
import {
  type AuthorizationUrlOptions,
  type CallOptions,
  type ConvertOptions,
  checkApplicationSecret,
  checkCallOptions,
  checkClientOptions,
  checkPublicUrl,
  type FinishLinkingOptions,
  type LatchkeyOptions,
} from './options.ts';
import { readCallback } from './read-callback.ts';
import { recoverLostAnswer } from './recover-lost-answer.ts';
import type { WithResponse } from './response-details.ts';
import { leavesOutcomeOpen } from './retry.ts';
import { type Limits, type SendLimits, ServiceClient } from './service-client.ts';
import { SharedCall, SingleFlight } from './single-flight.ts';

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
  readonly #publicUrl: () => URL;
  readonly #service: ServiceClient;
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
    checkClientOptions(options);
    this.#service = new ServiceClient(options);
    const { publicUrl, allowHttp } = options;
    const { baseUrl } = this.#service;
    this.#publicUrl = () => checkPublicUrl(publicUrl, { baseUrl, allowHttp });
    // Not for LATCHKEY_PUBLIC_URL alone: Deno asks its user for each variable.
    if (publicUrl !== undefined || options.baseUrl === undefined) this.#publicUrl();
    this.#applicationSecret = checkApplicationSecret(options.applicationSecret);
  }

  /**
   * Converts the code that came with the user into a grant. Do it at once: a code is valid for 300
   * seconds and can be converted once.
   *
   * Store `grant_id` and `grant_secret`, the secret encrypted: the service shows it only once.
   *
   * After an error that leaves the outcome open ({@link ConnectionError}, {@link TimeoutError},
   * {@link UnexpectedResponseError}, {@link ServerError}, an abort), convert the code again: either that
   * succeeds, or {@link CodeAlreadyUsedError} names the grant whose response was lost, and
   * {@link Latchkey.recover} gives it a new secret. With `recoverLostAnswer` the client does this itself.
   *
   * A code of the linking flow needs `redirectUri` and `codeVerifier`: {@link Latchkey.finishLinking}
   * passes them. Concurrent calls with the same code share one request and its outcome.
   *
   * @param code - the code, `lk_code_…`, exactly as it came with the user
   * @returns the grant with its secret, and the account as it was when the code was issued
   * @param options - options of this call
   * @throws a {@link CodeNotFoundError} if the code is unknown, or belongs to another application
   * @throws a {@link CodeExpiredError} if the code is older than 300 seconds
   * @throws a {@link CodeAlreadyUsedError} if this application converted it before, with `grant_id`
   * @throws an {@link InvalidRequestError} with `redirect_uri_mismatch` or `code_verifier_mismatch` if the
   *   code is bound to others
   * @throws an {@link OutcomeUnknownError} if the service can't tell whether the code was used up
   * @throws a {@link LatchkeyError} as every method: see {@link Latchkey}
   *
   * @example
   * ```ts
   * const grant = await latchkey.convert(code, { recoverLostAnswer: true });
   * await links.save(user, { id: grant.grant_id, secret: encrypt(grant.grant_secret) });
   * ```
   */
  async convert(code: string, options: ConvertOptions = {}): Promise<WithResponse<FullGrant>> {
    return this.#service.run(this.convert, 'convert', options, (limits) =>
      this.#convert(code, options, limits),
    );
  }

  /**
   * Revokes a grant. Once this resolves, no request with the grant succeeds any more.
   *
   * Idempotent: revoking a grant again returns the same result. So call it again after an error that
   * leaves the outcome open.
   *
   * @param grantId - the `grant_id` of the grant, not its secret
   * @param options - options of this call
   * @returns the revoked grant
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
    return this.#call('revoke', options, () => [revokeCall(grantId), this.#secret()]);
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
    return this.#call('recover', options, () => [recoverCall(grantId), this.#secret()]);
  }

  /**
   * Gets the account of a grant as it is now.
   *
   * @param grantSecret - the `grant_secret` of the grant, not its id
   * @param options - options of this call
   * @returns the account, with its current names and flags
   * @throws an {@link AuthenticationError} if the grant was revoked, by anyone: unlink the account
   * @throws an {@link InvalidRequestError} with `resource_mismatch` if the grant is for a resource
   * @throws a {@link LatchkeyError} as every method: see {@link Latchkey}
   *
   * @example
   * ```ts
   * const { username } = await latchkey.account(grantSecret);
   * ```
   */
  async account(grantSecret: string, options: CallOptions = {}): Promise<WithResponse<Account>> {
    return this.#call('account', options, () => [accountCall, checkGrantSecret(grantSecret)]);
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
    return this.#call('grant', options, () => [grantCall, checkGrantSecret(grantSecret)]);
  }

  /**
   * Revokes the grant that a secret belongs to, as `revoke` does, if you have only the secret (RFC 7009).
   * A secret that is not valid, or no longer valid, is no error: there is nothing left to revoke.
   *
   * @param grantSecret - the `grant_secret` of the grant, not its id
   * @param options - options of this call
   * @throws an {@link InvalidRequestError} with `token_of_another_application` if the grant is another
   *   application's
   * @throws an {@link OutcomeUnknownError} if the service can't tell whether the grant was revoked
   * @throws a {@link LatchkeyError} as every method: see {@link Latchkey}
   *
   * @example
   * ```ts
   * await latchkey.revokeToken(grantSecret);
   * ```
   */
  async revokeToken(grantSecret: string, options: CallOptions = {}): Promise<void> {
    await this.#call('revokeToken', options, () => [revokeTokenCall(grantSecret), this.#secret()]);
  }

  /**
   * Tells whether a token is active, and for what (RFC 7662). An application learns about its own grants; one that the
   * operator made a resource server, about those of every application. Any other text is not active,
   * without an error, so the token may come from anybody. If it is active, this is a use of the grant.
   *
   * @param token - the token to ask about
   * @param options - options of this call
   * @returns `active`, and if it is true, the scope, the account, and the application
   * @throws a {@link LatchkeyError} as every method: see {@link Latchkey}
   *
   * @example
   * ```ts
   * const token = await latchkey.introspect(grantSecret);
   * if (token.active) greet(token.username);
   * ```
   */
  async introspect(token: string, options: CallOptions = {}): Promise<WithResponse<Introspection>> {
    return this.#call('introspect', options, () => [introspectCall(token), this.#secret()]);
  }

  /**
   * Makes the address that a browser is sent to, so that the user can link an account. It sends nothing.
   * `@latchkey/client/linking` does this and {@link Latchkey.finishLinking} for a web framework.
   *
   * Keep `state` and `codeVerifier` for this browser, in its session or in a cookie that scripts can't
   * read. Each call makes new ones, so a user can link in several tabs at once.
   *
   * @param options - the redirect URI, the scope, and hints about the user
   * @returns the address, and the values to keep until the browser returns
   * @throws an {@link InvalidRequestError} if `redirectUri` or `scope` is missing or has the wrong kind
   * @throws a {@link LatchkeyConfigError} if an option does not exist, or the client has no application
   *   secret
   *
   * @example
   * ```ts
   * const { url, state, codeVerifier } = await latchkey.authorizationUrl({
   *   redirectUri: 'https://acme.example/callback',
   *   scope: 'profile.read',
   * });
   * ```
   */
  async authorizationUrl(options: AuthorizationUrlOptions): Promise<Authorization> {
    checkCallOptions('authorizationUrl', options);
    const secret = this.#secret();
    const applicationId = parseCredential('applicationSecret', secret) as string;
    return authorizationUrl(this.#publicUrl(), applicationId, options);
  }

  /**
   * Finishes what {@link Latchkey.authorizationUrl} began, when the browser returns to the redirect URI:
   * checks that the callback belongs to this browser and comes from this service, and converts its code.
   *
   * @param callbackUrl - the address that was requested: absolute, or its path and query
   * @param options - the values that were kept, and options of {@link Latchkey.convert}
   * @returns the grant with its secret, as `convert` returns it
   * @throws a {@link StateMismatchError} if the callback does not belong to this browser
   * @throws an {@link IssuerMismatchError} if it does not come from `publicUrl`
   * @throws a {@link LinkDeniedError} if the user did not allow the link
   * @throws a {@link LinkFailedError} if the service refused to link the account
   * @throws a {@link CodeNotFoundError} if the code is unknown, or belongs to another application
   * @throws a {@link CodeExpiredError} if the code is older than 300 seconds
   * @throws a {@link CodeAlreadyUsedError} if the code was converted before, with `grant_id`
   * @throws an {@link InvalidRequestError} with `redirect_uri_mismatch` or `code_verifier_mismatch` if the
   *   code is bound to others
   * @throws an {@link OutcomeUnknownError} if the service can't tell whether the code was used up
   * @throws a {@link LatchkeyError} as every method: see {@link Latchkey}
   *
   * @example
   * ```ts
   * const redirectUri = 'https://acme.example/callback';
   * const { url, state, codeVerifier } = await latchkey.authorizationUrl({
   *   redirectUri,
   *   scope: 'profile.read',
   * });
   * // Later, when the browser has followed `url` and returned:
   * const grant = await latchkey.finishLinking(request.url, { redirectUri, state, codeVerifier });
   * ```
   */
  async finishLinking(
    callbackUrl: string | URL,
    options: FinishLinkingOptions,
  ): Promise<WithResponse<FullGrant>> {
    return this.#service.run(this.finishLinking, 'finishLinking', options, (limits) => {
      const { state, ...ofConvert } = options;
      return this.#convert(
        readCallback(callbackUrl, options, this.#publicUrl()),
        ofConvert,
        limits,
      );
    });
  }

  async #convert(
    code: string,
    { recoverLostAnswer: recovers = false, signal, redirectUri, codeVerifier }: ConvertOptions,
    { timeoutMs, maxRetries }: Limits,
  ): Promise<WithResponse<FullGrant>> {
    const call = convertCall(code, { redirectUri, codeVerifier });
    const secret = this.#secret();
    signal?.throwIfAborted();
    const start = () =>
      new SharedCall<FullGrant>(recovers ? 2 : 1, this.#service.timeoutError, async (shared) => {
        const limits = { maxRetries, deadline: shared };
        const convert = () => this.#send(call, secret, limits);
        const recover = (grantId: string) => this.#send(recoverCall(grantId), secret, limits);
        try {
          return await convert();
        } catch (error) {
          if (!recovers || !leavesOutcomeOpen(error)) throw error;
          const { operation } = call;
          this.#service.log(
            'warn',
            `${operation}: ${error.name}, recovering the grant if the response was lost`,
            { operation, ...logDetailsOf(error) },
          );
          shared.startOver(error);
          return recoverLostAnswer(error, convert, recover);
        }
      });
    // Only calls with the same request share it: the verifier proves who owns the code.
    const key = JSON.stringify([recovers, maxRetries, code, redirectUri, codeVerifier]);
    return this.#conversions.join(key, start, timeoutMs, signal);
  }

  /** Runs a method that makes one call, which is not shared. */
  #call<Name extends OperationName>(
    method: keyof Latchkey,
    options: CallOptions,
    prepare: () => [call: OperationCall<Name>, secret: string],
  ): Promise<ResultOf<Name>> {
    return this.#service.runCall(this[method], method, options, (limits) =>
      this.#send(...prepare(), limits),
    );
  }

  #send<Name extends OperationName>(
    call: OperationCall<Name>,
    secret: string,
    limits: SendLimits,
  ): Promise<ResultOf<Name>> {
    return this.#service.send(call, secret, limits) as Promise<ResultOf<Name>>;
  }

  #secret(): string {
    if (this.#applicationSecret !== null) return this.#applicationSecret;
    throw new LatchkeyConfigError(
      'applicationSecret is null, but this method needs one. Pass the secret of your application, lk_app_…, to the constructor.',
    );
  }
}
