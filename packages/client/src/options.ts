import { credentialPrefixes, parseCredential } from '@latchkey/schema';
import { kindOf } from './arguments.ts';
import { LOOPBACK } from './browser-url.ts';
import { environmentVariable, isBrowser, version } from './environment.ts';
import { LatchkeyConfigError } from './errors.ts';
import type { Fetch } from './fetch.ts';
import type { Logger } from './logger.ts';
import { refuseUnknownOptions } from './unknown-options.ts';

/** Options that every client has. */
export interface ConnectionOptions {
  /**
   * URL of the service, such as `https://latchkey.example.com`. It may have a path, for a service
   * behind a prefix. A trailing slash makes no difference. Default: the environment variable
   * `LATCHKEY_URL`, if the runtime has `process.env`. Without either, the constructor throws.
   */
  baseUrl?: string | undefined;
  /**
   * Allows a URL of the service that is `http:` and not of this machine. Then everybody on the network
   * between can read and change what is sent, credentials too: for a private network, such as that of
   * two containers of one machine. Default: whether the environment variable `LATCHKEY_ALLOW_HTTP` is
   * `1`, which is read only for such a URL.
   */
  allowHttp?: boolean | undefined;
  /**
   * Timeout of a whole call in milliseconds, including its retries and the waits between them. More
   * than 0, at most 2,147,483,647. Default: 10,000.
   */
  timeoutMs?: number | undefined;
  /**
   * How often a call is retried at most. Only safe retries are made: docs/guides/retries-and-logs.md. An
   * integer of 0 or more; 0 sends each request once. Default: 2.
   */
  maxRetries?: number | undefined;
  /** Sends the requests, and so sees every credential. Default: the global `fetch`. */
  fetch?: Fetch | undefined;
  /** Receives the client's log lines: a pino logger, `console`, … Default: no logging. */
  logger?: Logger | undefined;
  /**
   * The name of your program, such as `acme/1.2`, for the `User-Agent` header. It precedes the name
   * of the client. Printable ASCII. Default: only the client's name.
   */
  userAgent?: string | undefined;
  /**
   * Allows the client in a browser, where every visitor can read its secret. For tests under jsdom,
   * and for pages that nobody else can open. Default: false.
   */
  dangerouslyAllowBrowser?: boolean | undefined;
}

/**
 * Options of the {@link Latchkey} constructor. An option that is undefined has its default. An option
 * that does not exist is refused.
 */
export interface LatchkeyOptions extends ConnectionOptions {
  /**
   * The application's secret, `lk_app_…`. Keep it on your servers, and never send it to a browser.
   * `null` is for a server that is not an application and only checks grants: `account` and `grant`
   * need no application secret. Default: the environment variable `LATCHKEY_APPLICATION_SECRET`, if
   * the runtime has `process.env`. Without either, the constructor throws.
   */
  applicationSecret?: string | null | undefined;
  /**
   * URL where browsers reach the service: its PUBLIC_URL. It differs from `baseUrl` if your server
   * reaches the service by an internal address. Default: the environment variable
   * `LATCHKEY_PUBLIC_URL`, otherwise `baseUrl`. With a `baseUrl`, the variable is not read before a link
   * needs it.
   */
  publicUrl?: string | undefined;
}

/** Options of every call. An option that does not exist is refused. */
export interface CallOptions {
  /** Aborts the call. It then rejects with `signal.reason`, as `fetch` does. Default: none. */
  signal?: AbortSignal | undefined;
  /**
   * Timeout of this call in milliseconds, including its retries and the waits between them.
   * Default: the client's `timeoutMs`.
   */
  timeoutMs?: number | undefined;
  /** How often this call is retried at most. Default: the client's `maxRetries`. */
  maxRetries?: number | undefined;
}

/**
 * Options of `convert`.
 *
 * Concurrent calls with the same code and the same options, besides `timeoutMs` and `signal`, share one
 * request and its outcome. Each call ends by its own `timeoutMs` and `signal`, and the others continue.
 * The response counts as lost once each of them has waited for its `timeoutMs`.
 */
export interface ConvertOptions extends CallOptions {
  /**
   * Whether to recover the grant if the response is lost. Default: false.
   *
   * The client converts the code once more after {@link ConnectionError} (unless the request was not
   * sent), {@link TimeoutError}, {@link ServerError}, and {@link UnexpectedResponseError} with a 2xx or
   * 5xx status. If the service then reports that the code was used, the client recovers the grant, once.
   * After {@link OutcomeUnknownError} it recovers the grant first, and converts again only if there is no
   * grant. If the recovery fails, the call rejects with the first error, whose `recovery_errors` are the
   * errors that followed. The whole call takes at most twice `timeoutMs`. An abort ends it at any point.
   *
   * Leave it off if several processes may convert the same code: the process that recovers would replace
   * the secret that another one has just received.
   */
  recoverLostAnswer?: boolean | undefined;
  /**
   * The redirect URI of the authorization request, for a code that came with a redirect. Default: none,
   * for a code that is bound to no redirect URI.
   */
  redirectUri?: string | undefined;
  /**
   * The `codeVerifier` of the authorization request (RFC 7636). Default: none, for a code without a
   * challenge.
   */
  codeVerifier?: string | undefined;
}

/** Options of `authorizationUrl`. An option that does not exist is refused. */
export interface AuthorizationUrlOptions {
  /** The URL of your callback, exactly as it is registered at the service. */
  redirectUri: string;
  /** The scope that the user is asked to allow: space-separated tokens (RFC 6749, section 3.3). */
  scope: string;
  /**
   * What the user can allow besides, each by a checkbox: space-separated tokens. The `scope` of the grant has
   * what was allowed. Default: none.
   */
  optionalScope?: string | undefined;
  /**
   * Comes back in the callback. It must be a secret of this browser that nobody can guess. Printable
   * ASCII. Default: 43 random characters.
   */
  state?: string | undefined;
  /** A hint about the user for the sign-in page, such as an e-mail address. Default: none. */
  loginHint?: string | undefined;
  /**
   * The languages that the user prefers, the best one first, such as `de-AT de en`. Default: those of
   * the browser.
   */
  uiLocales?: string | undefined;
}

/** Options of `finishLinking`: the values that were kept, and the options of `convert`. */
export interface FinishLinkingOptions extends ConvertOptions {
  /** The `state` that `authorizationUrl` returned. */
  state: string;
  /** The `codeVerifier` that `authorizationUrl` returned. */
  codeVerifier: string;
  /** The `redirectUri` that `authorizationUrl` was called with. */
  redirectUri: string;
}

// Because of `Record`, an option that is missing here does not compile.
const clientOptions: Record<keyof LatchkeyOptions, true> = {
  baseUrl: true,
  applicationSecret: true,
  publicUrl: true,
  allowHttp: true,
  timeoutMs: true,
  maxRetries: true,
  fetch: true,
  logger: true,
  userAgent: true,
  dangerouslyAllowBrowser: true,
};
const callOptions: Record<keyof CallOptions, true> = {
  signal: true,
  timeoutMs: true,
  maxRetries: true,
};
const convertOptions: Record<keyof ConvertOptions, true> = {
  ...callOptions,
  recoverLostAnswer: true,
  redirectUri: true,
  codeVerifier: true,
};
/** The methods that have more options than every call. */
const optionsOf = {
  convert: convertOptions,
  finishLinking: { ...convertOptions, state: true } satisfies Record<
    keyof FinishLinkingOptions,
    true
  >,
  authorizationUrl: {
    redirectUri: true,
    scope: true,
    optionalScope: true,
    state: true,
    loginHint: true,
    uiLocales: true,
  } satisfies Record<keyof AuthorizationUrlOptions, true>,
};

/** Refuses options of the constructor that do not exist. */
export const checkClientOptions = (options: LatchkeyOptions): void =>
  refuseUnknownOptions('new Latchkey', options, Object.keys(clientOptions));

/** Refuses options of a call that do not exist. */
export const checkCallOptions = (method: string, options: object): void =>
  refuseUnknownOptions(
    method,
    options,
    Object.keys(optionsOf[method as keyof typeof optionsOf] ?? callOptions),
  );

const DEFAULT_TIMEOUT_MS = 10_000;
// The longest delay of a timer. With a longer one it fires at once.
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

const DEFAULT_MAX_RETRIES = 2;
const CLIENT_USER_AGENT = `latchkey-client/${version}`;

const missingOption = (name: string, what: string, variableName: string) =>
  new LatchkeyConfigError(
    `${name} is missing. Pass ${what}, or set the environment variable ${variableName}.`,
  );

/** Throws in a browser, unless the option allows it. */
export function refuseBrowsers(dangerouslyAllowBrowser: boolean | undefined): void {
  if (dangerouslyAllowBrowser || !isBrowser()) return;
  throw new LatchkeyConfigError(
    'This is a browser, where every visitor can read the secret. Call Latchkey from your server. If nobody else can open this page, pass dangerouslyAllowBrowser: true.',
  );
}

/** The service's URL, with one slash at the end. */
export function checkBaseUrl(
  baseUrl: unknown = environmentVariable('LATCHKEY_URL'),
  allowHttp?: boolean,
  name = 'baseUrl',
): URL {
  const example = 'such as https://latchkey.example.com';
  if (typeof baseUrl !== 'string' || baseUrl === '') {
    throw missingOption(name, `the service's URL, ${example}`, 'LATCHKEY_URL');
  }
  // The message does not repeat the value, which may contain a password.
  if (!URL.canParse(baseUrl)) {
    throw new LatchkeyConfigError(`${name} must be the service's absolute URL, ${example}.`);
  }
  const url = new URL(baseUrl);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new LatchkeyConfigError(`${name} must start with https:// or http://, ${example}.`);
  }
  if (url.username || url.password || baseUrl.includes('?') || baseUrl.includes('#')) {
    throw new LatchkeyConfigError(
      `${name} must have no user name, password, query or fragment, ${example}.`,
    );
  }
  const isPlain = url.protocol === 'http:' && !LOOPBACK.includes(url.hostname);
  if (isPlain && !(allowHttp ?? environmentVariable('LATCHKEY_ALLOW_HTTP') === '1')) {
    throw new LatchkeyConfigError(
      `${name} must start with https://: with http://, everybody on the way can read the secret. If the network is private, pass allowHttp: true, or set the environment variable LATCHKEY_ALLOW_HTTP to 1.`,
    );
  }
  url.pathname = url.pathname.replace(/\/*$/, '/');
  return url;
}

/** The URL where browsers reach the service, with one slash at the end. */
export const checkPublicUrl = (
  publicUrl: unknown = environmentVariable('LATCHKEY_PUBLIC_URL'),
  { baseUrl, allowHttp }: { baseUrl: URL; allowHttp: boolean | undefined },
): URL => (publicUrl === undefined ? baseUrl : checkBaseUrl(publicUrl, allowHttp, 'publicUrl'));

/** The application's secret, well formed; null only if the option is null. */
export function checkApplicationSecret(
  secret: unknown = environmentVariable('LATCHKEY_APPLICATION_SECRET'),
): string | null {
  if (secret === null) return null;
  const prefix = `${credentialPrefixes.applicationSecret}_`;
  if (typeof secret !== 'string' || secret === '') {
    const what = `the application's secret, ${prefix}…`;
    throw missingOption('applicationSecret', what, 'LATCHKEY_APPLICATION_SECRET');
  }
  if (parseCredential('applicationSecret', secret) !== null) return secret;
  throw new LatchkeyConfigError(
    secret.replace(/^\W+/, '').startsWith(prefix)
      ? 'applicationSecret is incomplete or mistyped. Copy the whole secret, without spaces or quotes.'
      : `applicationSecret is ${kindOf(secret)}. An application secret starts with ${prefix}.`,
  );
}

/** The timeout of a call, in milliseconds. */
export function checkTimeout(timeoutMs: number = DEFAULT_TIMEOUT_MS): number {
  if (timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS) return timeoutMs;
  throw new LatchkeyConfigError(
    `timeoutMs must be a number of milliseconds, greater than 0 and at most ${MAX_TIMEOUT_MS}.`,
  );
}

/** How often a call is retried at most. */
export function checkMaxRetries(maxRetries: number = DEFAULT_MAX_RETRIES): number {
  if (Number.isInteger(maxRetries) && maxRetries >= 0) return maxRetries;
  throw new LatchkeyConfigError('maxRetries must be an integer of 0 or more.');
}

/** The User-Agent header. */
export function checkUserAgent(userAgent: unknown): string {
  if (userAgent === undefined) return CLIENT_USER_AGENT;
  // `fetch` would reject anything else with a message that quotes it.
  if (typeof userAgent === 'string' && /^[\x20-\x7e]+$/.test(userAgent)) {
    return `${userAgent} ${CLIENT_USER_AGENT}`;
  }
  throw new LatchkeyConfigError(
    'userAgent must be printable ASCII and name your program, such as acme/1.2.',
  );
}
