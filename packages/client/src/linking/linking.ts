import type { FullGrant } from '@latchkey/schema';
import type { Authorization } from '../authorization-url.ts';
import { base64url } from '../base64url.ts';
import { hasBrand } from '../brand.ts';
import type { AnyLatchkeyError } from '../errors.ts';
import type { AuthorizationUrlOptions, FinishLinkingOptions } from '../options.ts';
import type { WithResponse } from '../response-details.ts';
import { type Kept, LinkingCookie } from './linking-cookie.ts';

/** The part of the client that links accounts. A `Latchkey` fits. */
export interface LinkingClient {
  /**
   * Makes the address of an authorization request, as `Latchkey.authorizationUrl` does.
   *
   * @param options - the redirect URI and the scope
   * @returns the address, the state and the verifier
   */
  authorizationUrl(options: AuthorizationUrlOptions): Promise<Authorization>;
  /**
   * Checks a callback and converts its code, as `Latchkey.finishLinking` does.
   *
   * @param callbackUrl - the address that was requested, or its path and query
   * @param options - what was kept since the link began
   * @returns the grant
   */
  finishLinking(
    callbackUrl: string,
    options: FinishLinkingOptions,
  ): Promise<WithResponse<FullGrant>>;
}

/**
 * Options of the linking of every framework.
 *
 * @typeParam Incoming - the request, as the framework has it
 */
export interface LinkingOptions<Incoming> {
  /** The client of your application. */
  latchkey: LinkingClient;
  /**
   * The URL of the callback in your application, exactly as it is registered at the service: `https:`,
   * or `http:` on a loopback host.
   */
  redirectUri: string;
  /** The scope that the user is asked to allow: space-separated tokens (RFC 6749, section 3.3). */
  scope: string;
  /**
   * Stores the grant for the user of the request. `grant_secret` is shown only now: store it encrypted.
   * The browser goes on to the path that it returns, such as `/settings`; to `/` if it returns anything
   * but a text. If it throws, the error goes to the framework, and the grant stays active.
   *
   * @param grant - the grant with its secret
   * @param request - the request of the callback
   * @returns a path of this application, or nothing
   */
  onLinked(grant: WithResponse<FullGrant>, request: Incoming): unknown;
  /**
   * Called if the account was not linked, with every error that `Latchkey.finishLinking` throws. The
   * browser goes on as after `onLinked`. Default: after a `LinkDeniedError` the browser goes to `/`; any
   * other error goes to the framework.
   *
   * @param error - why the account was not linked
   * @param request - the request of the callback
   * @returns a path of this application, or nothing
   */
  onFailed?: ((error: AnyLatchkeyError, request: Incoming) => unknown) | undefined;
  /**
   * Returns the id of the user who is signed in to your application. Then only the user who began a
   * link can finish it, even if another one has signed in with the same browser meanwhile.
   * Default: every user of the browser can finish it.
   *
   * @param request - the request of `connect`, later that of `callback`
   * @returns the id; nothing if nobody is signed in
   */
  userOf?:
    | ((request: Incoming) => string | null | undefined | Promise<string | null | undefined>)
    | undefined;
}

/** The parts of a framework's request and response that the routes use. */
export interface HttpContext {
  /** The address that was requested, or its path and query. */
  readonly url: string;
  /** The Cookie header. */
  readonly cookies: string | null | undefined;
  /** Adds a Set-Cookie header to the response. */
  setCookie(header: string): void;
}

/** The two routes of an application. Each resolves to the address that the browser is redirected to. */
export interface Linking<Incoming> {
  connect(request: Incoming, http: HttpContext): Promise<string>;
  callback(request: Incoming, http: HttpContext): Promise<string>;
}

/** The headers of a redirect besides Location and Set-Cookie. */
export const redirectHeaders = { 'Cache-Control': 'no-store' } as const;

/** Creates the routes, and checks the options before the first request arrives. */
export function createLinking<Incoming>(options: LinkingOptions<Incoming>): Linking<Incoming> {
  const { latchkey, scope, onLinked, onFailed, userOf } = options;
  const { href: redirectUri, origin, isSecure } = checkRedirectUri(options.redirectUri);
  if (typeof onLinked !== 'function') {
    throw new TypeError('onLinked must be a function that stores the grant.');
  }
  const cookie = new LinkingCookie(isSecure);

  async function finish(request: Incoming, { url, cookies, setCookie }: HttpContext) {
    const state = new URLSearchParams(url.replace(/^[^?]*/, '')).get('state') ?? '';
    const kept = cookie.read(cookies ?? '', state);
    // Before the conversion, because the link is over even if that fails.
    if (kept) setCookie(cookie.forget(kept));
    const { state: began = '', codeVerifier = '' }: Partial<Kept> = kept ?? {};
    return latchkey.finishLinking(url, {
      redirectUri,
      codeVerifier,
      state: kept && userOf ? await stateFor(await userOf(request), codeVerifier) : began,
    });
  }

  return {
    async connect(request, { setCookie }) {
      const begun = await latchkey.authorizationUrl({ redirectUri, scope });
      const { codeVerifier } = begun;
      const url = new URL(begun.url);
      let { state } = begun;
      if (userOf) {
        state = await stateFor(await userOf(request), codeVerifier);
        url.searchParams.set('state', state);
      }
      setCookie(cookie.keep({ state, codeVerifier }));
      return url.href;
    },

    async callback(request, http) {
      let grant: WithResponse<FullGrant>;
      try {
        grant = await finish(request, http);
      } catch (error) {
        if (!hasBrand(error)) throw error;
        const failure = error as AnyLatchkeyError;
        if (onFailed) return addressOf(await onFailed(failure, request), origin);
        if (failure.name === 'LinkDeniedError') return addressOf('/', origin);
        throw error;
      }
      return addressOf(await onLinked(grant, request), origin);
    },
  };
}

/**
 * The state of a link that belongs to a user: a MAC of the user's id. Its key is the verifier, which
 * only the cookie contains. So the state can't be guessed, and differs for each user.
 */
async function stateFor(user: string | null | undefined, codeVerifier: string): Promise<string> {
  const text = new TextEncoder();
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', text.encode(codeVerifier), hmac, false, [
    'sign',
  ]);
  return base64url(new Uint8Array(await crypto.subtle.sign('HMAC', key, text.encode(user ?? ''))));
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

function checkRedirectUri(redirectUri: unknown) {
  const url = typeof redirectUri === 'string' && URL.canParse(redirectUri) && new URL(redirectUri);
  const isSecure = url && url.protocol === 'https:';
  if (!url || !(isSecure || (url.protocol === 'http:' && LOOPBACK.includes(url.hostname)))) {
    throw new TypeError(
      'redirectUri must be the https:// URL of your callback, as registered at the service. http:// is possible only on localhost, 127.0.0.1 and [::1].',
    );
  }
  // Not normalized: the service compares it character by character.
  return { href: redirectUri as string, origin: url.origin, isSecure };
}

/**
 * Resolves the path that `onLinked` or `onFailed` returned. A path that leads to another origin would be
 * an open redirect if it came from a request.
 */
function addressOf(path: unknown, origin: string): string {
  const text = typeof path === 'string' ? path : '/';
  const url =
    text.startsWith('/') && URL.canParse(text, origin) ? new URL(text, origin) : undefined;
  // Absolute, because a path may begin with two slashes once its dots are resolved.
  if (url?.origin === origin) return url.href;
  throw new TypeError(
    'onLinked and onFailed must return a path of this application, such as /settings, or nothing.',
  );
}
