import { type FullGrant, navigationOf } from '@latchkey/schema';
import type { Authorization } from '../authorization-url.ts';
import { base64url } from '../base64url.ts';
import { hasBrand } from '../brand.ts';
import { browserUrl, LOOPBACK, parsedUrl } from '../browser-url.ts';
import { type AnyLatchkeyError, LatchkeyConfigError, StateMismatchError } from '../errors.ts';
import {
  answer,
  type HttpRequest,
  type HttpResponse,
  headerOf,
  queryOf,
  type Route,
  redirect as redirectTo,
  urlOf,
} from '../frameworks/http.ts';
import { page } from '../frameworks/page.ts';
import type { AuthorizationUrlOptions, FinishLinkingOptions } from '../options.ts';
import type { WithResponse } from '../response-details.ts';
import { refuseUnknownOptions } from '../unknown-options.ts';
import { LinkingCookie } from './linking-cookie.ts';

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
 * An option that may differ between requests: a value, or a function that returns the value for a
 * request of `connect`.
 *
 * @typeParam Incoming - the request, as the framework has it
 * @typeParam Value - the value
 */
export type PerRequest<Incoming, Value> = Value | ((request: Incoming) => Value | Promise<Value>);

/**
 * Options of the linking of every framework. An option that does not exist is refused.
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
  scope: PerRequest<Incoming, string>;
  /**
   * What the user can allow besides, each by a checkbox: space-separated tokens. The `scope` of the grant has
   * what was allowed. Default: none.
   */
  optionalScope?: PerRequest<Incoming, string | null | undefined>;
  /** A hint about the user for the sign-in page, such as an e-mail address. Default: none. */
  loginHint?: PerRequest<Incoming, string | null | undefined>;
  /**
   * The languages that the user prefers, the best one first, such as `de-AT de en`. Default: those of
   * the browser.
   */
  uiLocales?: PerRequest<Incoming, string | null | undefined>;
  /**
   * The path where the browser goes on after the link, unless `onLinked`, `onAlready` or `onFailed`
   * return another one: for example the page that the user came from. `connect` keeps it in the cookie
   * of the link. A path that leads to another origin is an error, so it may come from the request.
   * Default: `/`.
   */
  returnTo?: PerRequest<Incoming, string | null | undefined>;
  /**
   * Stores the grant for the user of the request. `grant_secret` is shown only now: store it encrypted.
   * The browser goes on to the path that it returns, such as `/settings`; to that of `returnTo` if it
   * returns anything but a text. If it throws, the error goes to the framework, and the grant stays
   * active.
   *
   * If the response with the grant was lost, the grant is recovered first, as with `recoverLostAnswer`.
   *
   * @param grant - the grant with its secret
   * @param request - the request of the callback
   * @returns a path of this application, or nothing
   */
  onLinked(grant: WithResponse<FullGrant>, request: Incoming): unknown;
  /**
   * Called instead of `onLinked` if another callback of the same link got the grant, such as that of a
   * second click, of a reloaded page or of a service worker. This is no failure: the account is linked.
   * The browser goes on as after `onLinked`. Default: it goes to the path of `returnTo`.
   *
   * Choose only where to go: for 10 minutes after a link, the id comes from a cookie, which a user can
   * write. It proves neither that there is such a grant nor that it is the grant of this user.
   *
   * @param grantId - the `grant_id` of the grant that the other callback got
   * @param request - the request of the callback
   * @returns a path of this application, or nothing
   */
  onAlready?: ((grantId: string, request: Incoming) => unknown) | undefined;
  /**
   * Called if the account was not linked, with every other error that `Latchkey.finishLinking` throws.
   * The browser goes on as after `onLinked`. Default: after a `LinkDeniedError` the browser goes to the
   * path of `returnTo`; any other error goes to the framework.
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

/** The headers that the routes read, as Node has them. */
export interface LinkingHeaders {
  /** The cookies of the browser, among them those of its links. */
  readonly cookie?: string | undefined;
  /** The host under which the browser reaches the application. */
  readonly host?: string | undefined;
  /** Who makes the request: `navigate` for a tab, a frame or an object. */
  readonly 'sec-fetch-mode'?: string | readonly string[] | undefined;
  /** What the browser will do with the response: `document` for a page in a tab. */
  readonly 'sec-fetch-dest'?: string | readonly string[] | undefined;
  /** `prefetch`, if the user has not followed the link yet. */
  readonly 'sec-purpose'?: string | readonly string[] | undefined;
  /** As `sec-purpose`, in browsers of the past. */
  readonly purpose?: string | readonly string[] | undefined;
  /** As `sec-purpose`, in browsers of the past. */
  readonly 'x-purpose'?: string | readonly string[] | undefined;
  /** As `sec-purpose`, in Firefox of the past. */
  readonly 'x-moz'?: string | readonly string[] | undefined;
}

/** The two routes of an application. */
export interface Linking<Incoming, Reply> {
  connect: Route<Incoming, HttpResponse, Reply>;
  callback: Route<Incoming, HttpResponse, Reply>;
}

// Because of `Record`, an option that is missing here does not compile.
const linkingOptions: Record<keyof LinkingOptions<unknown>, true> = {
  latchkey: true,
  redirectUri: true,
  scope: true,
  optionalScope: true,
  loginHint: true,
  uiLocales: true,
  returnTo: true,
  onLinked: true,
  onAlready: true,
  onFailed: true,
  userOf: true,
};

/**
 * Creates the routes, and checks the options before the first request arrives.
 *
 * @param name - the name of the function that was called with the options
 * @param setCookie - adds a Set-Cookie header to the response, also to that of an error, if the framework makes one
 */
export function createLinking<Incoming, Reply>(
  name: string,
  options: LinkingOptions<Incoming>,
  setCookie: (cookie: string, reply: Reply) => unknown,
): Linking<Incoming, Reply> {
  refuseUnknownOptions(name, options, Object.keys(linkingOptions));
  const { latchkey, redirectUri, scope, optionalScope, loginHint, uiLocales } = options;
  const { returnTo, onLinked, onAlready, onFailed, userOf } = options;
  // Sent as it is written: the service compares it character by character.
  const redirect = browserUrl(
    redirectUri,
    LatchkeyConfigError,
    'redirectUri must be the https:// URL of your callback, as registered at the service.',
  );
  if (typeof onLinked !== 'function') {
    throw new LatchkeyConfigError('onLinked must be a function that stores the grant.');
  }
  if (typeof returnTo === 'string') addressOf(returnTo, redirect.origin);
  const cookie = new LinkingCookie(redirect.protocol === 'https:');

  /** What `onLinked` does, by response: concurrent callbacks with one code share its response. */
  const linked = new WeakMap<object, Promise<unknown>>();

  /**
   * The state of a link: a MAC of where it ends, and for whom. Its key is the verifier, which only the
   * cookie contains. So the state can't be guessed, and a link of one redirect URI can't end at another
   * one, to which a malicious service could lead it (RFC 9700, section 4.4).
   */
  async function stateFor(request: Incoming, codeVerifier: string): Promise<string> {
    return mac(codeVerifier, `${redirectUri}\n${(await userOf?.(request)) ?? ''}`);
  }

  async function finish(request: Incoming, http: HttpRequest, codeVerifier?: string) {
    if (!codeVerifier) throw cookieMissing(redirect);
    return latchkey.finishLinking(urlOf(http), {
      redirectUri,
      codeVerifier,
      state: await stateFor(request, codeVerifier),
      recoverLostAnswer: true,
    });
  }

  /** Carries out a route only for a person who navigates a tab. */
  const gated =
    (route: Route<Incoming, string, Reply>): Route<Incoming, HttpResponse, Reply> =>
    async (request, http, reply) => {
      // A part of a page would push out the cookies of links that the user has begun.
      const navigation = navigationOf((name: keyof LinkingHeaders) => headerOf(http, name));
      if (navigation === 'prefetch') return answer(503);
      if (navigation === 'part') return goOnInTab(requestedUrl(redirect, http) ?? redirect);
      return redirectTo(await route(request, http, reply));
    };

  return {
    connect: gated(async (request, http, reply) => {
      const sameRoute = underNameOf(redirect, http);
      if (sameRoute) return sameRoute;
      const path = await valueFor(request, returnTo);
      if (path != null) addressOf(path, redirect.origin);
      const begun = await latchkey.authorizationUrl({
        redirectUri,
        scope: await valueFor(request, scope),
        optionalScope: (await valueFor(request, optionalScope)) ?? undefined,
        loginHint: (await valueFor(request, loginHint)) ?? undefined,
        uiLocales: (await valueFor(request, uiLocales)) ?? undefined,
      });
      const { codeVerifier } = begun;
      const state = await stateFor(request, codeVerifier);
      const url = new URL(begun.url);
      url.searchParams.set('state', state);
      for (const forgotten of cookie.makeRoom(cookiesOf(http))) setCookie(forgotten, reply);
      setCookie(cookie.keep(state, { codeVerifier, returnTo: path ?? undefined }), reply);
      return url.href;
    }),

    callback: gated(async (request, http, reply) => {
      const state = queryOf(http).get('state') ?? '';
      const kept = cookie.read(cookiesOf(http), state);
      const returnTo = kept?.returnTo;
      const onwards = (path?: unknown) =>
        addressOf(typeof path === 'string' ? path : returnTo, redirect.origin);
      const already = async (grantId: string) => onwards(await onAlready?.(grantId, request));
      if (kept && !kept.codeVerifier) return kept.grantId ? already(kept.grantId) : onwards();

      // The link is over even if the rest fails.
      let after = cookie.forget(state);
      const note = (grantId?: string) => {
        after = cookie.keep(state, { grantId, returnTo });
      };
      try {
        let grant: WithResponse<FullGrant>;
        try {
          grant = await finish(request, http, kept?.codeVerifier);
        } catch (error) {
          if (!hasBrand(error)) throw error;
          const failure = error as AnyLatchkeyError;
          const grantId = grantOfAnother(failure);
          const isDenied = failure.name === 'LinkDeniedError';
          if (grantId || isDenied) note(grantId);
          if (grantId) return await already(grantId);
          if (onFailed) return onwards(await onFailed(failure, request));
          if (isDenied) return onwards();
          throw error;
        }
        const key = grant.response ?? grant;
        const other = linked.get(key);
        const storing = other ?? (async () => onLinked(grant, request))();
        linked.set(key, storing);
        // The browser shows the response to its last callback, so the grant has to be stored by then.
        const path = await storing;
        note(grant.grant_id);
        return other ? await already(grant.grant_id) : onwards(path);
      } finally {
        if (kept) setCookie(after, reply);
      }
    }),
  };
}

const cookiesOf = (http: HttpRequest) => `${headerOf(http, 'cookie') ?? ''}`;

/** Shown in a frame too, or by a script that follows the links of a page: its link leaves both. */
function goOnInTab({ pathname, search }: URL): HttpResponse {
  // Relative, because a proxy may have changed the path before. Quotes are encoded in a URL.
  const href = `./${pathname.slice(pathname.lastIndexOf('/') + 1)}${search}`;
  const link = `<a href="${href.replaceAll('&', '&amp;')}" target="_top" data-turbo="false">Continue</a>`;
  return page(400, 'One more step', `This page has to be opened in a tab.</p><p>${link}`);
}

const valueFor = async <Incoming, Value extends string | null | undefined>(
  request: Incoming,
  option: PerRequest<Incoming, Value>,
): Promise<Value> => (typeof option === 'function' ? option(request) : option);

/**
 * The grant that another callback of this application got for the same code; undefined if the error
 * says anything else.
 */
function grantOfAnother(failure: AnyLatchkeyError): string | undefined {
  const errors = [failure, ...(failure.recovery_errors ?? [])] as AnyLatchkeyError[];
  const { name } = errors.at(-1) as AnyLatchkeyError;
  // A grant that was used can't be recovered, and it takes the secret to use it.
  if (name !== 'CodeAlreadyUsedError' && name !== 'GrantNotRecoverableError') return undefined;
  return errors.map((error) => ('grant_id' in error ? error.grant_id : undefined)).find(Boolean);
}

const cookieMissing = ({ origin, hostname }: URL) =>
  new StateMismatchError(
    `The cookie of this link did not come with the callback. A browser sends it only to ${hostname}, so connect has to be opened there too, and only until the link has ended, an hour has passed or five others have begun. Let the user start again at ${origin}, in one browser.`,
  );

async function mac(key: string, message: string): Promise<string> {
  const text = new TextEncoder();
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', text.encode(key), hmac, false, ['sign']);
  return base64url(
    new Uint8Array(await crypto.subtle.sign('HMAC', imported, text.encode(message))),
  );
}

/**
 * The address of the requested route under the loopback name of the redirect URI, if it was opened
 * under another one: a cookie of `localhost` does not come back to `127.0.0.1`.
 *
 * With another port, a proxy is in between, which may have changed the name: then this could redirect
 * for ever.
 */
function underNameOf(redirect: URL, http: HttpRequest): string | undefined {
  const url = requestedUrl(redirect, http);
  const host = parsedUrl(`http://${headerOf(http, 'host') ?? url?.host}`);
  if (!url || !host) return undefined;
  const { hostname, port } = host;
  const isAlias = [hostname, redirect.hostname].every((name) => LOOPBACK.includes(name));
  return isAlias && hostname !== redirect.hostname && port === redirect.port
    ? redirect.origin + url.pathname + url.search
    : undefined;
}

const requestedUrl = ({ origin }: URL, http: HttpRequest) => parsedUrl(urlOf(http), origin);

/**
 * Resolves a path that the application gave. A path that leads to another origin would be an open
 * redirect if it came from a request.
 */
function addressOf(path: string | undefined, origin: string): string {
  const text = path ?? '/';
  const url = text.startsWith('/') ? parsedUrl(text, origin) : undefined;
  // Absolute, because a path may begin with two slashes once its dots are resolved.
  if (url?.origin === origin) return url.href;
  throw new TypeError(
    'returnTo, onLinked, onAlready and onFailed must return a path of this application, such as /settings, or nothing.',
  );
}
