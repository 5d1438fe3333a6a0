import { credentialPrefixes, parseCredential } from '@latchkey/schema';
import { isBrowser, variable } from './environment.ts';
import { LatchkeyConfigError } from './errors.ts';
import type { Fetch } from './fetch.ts';
import { kindOf } from './kind-of.ts';
import type { Logger } from './logger.ts';
import { version } from './version.ts';

/** What the {@link Latchkey} constructor takes. An option that is undefined takes its default. */
export interface LatchkeyOptions {
  /**
   * Where the service is, such as `https://latchkey.example.com`. A path is kept, so a service
   * behind a prefix works; a slash at the end makes no difference. Default: `LATCHKEY_URL` of the
   * environment, where there is a `process.env`. Without either, the constructor throws.
   */
  baseUrl?: string | undefined;
  /**
   * The application's secret, `lk_app_…`. Keep it on your servers: never ship it to a browser.
   * Default: `LATCHKEY_APPLICATION_SECRET` of the environment, as for `baseUrl`. `null` is for a
   * server that is no application, and only asks about grants: `account` and `grant` work without.
   */
  applicationSecret?: string | null | undefined;
  /**
   * Milliseconds that a call may take, with its answer, its retries and the waits between them.
   * More than 0, at most 2,147,483,647. Default: 10,000.
   */
  timeoutMs?: number | undefined;
  /**
   * How often a call is tried again where that is safe; the README lists the rules. A whole number,
   * 0 to make each request once. Default: 2.
   */
  maxRetries?: number | undefined;
  /** Sends the requests. It sees every credential. Default: the global `fetch`. */
  fetch?: Fetch | undefined;
  /** Where the client tells what it does, such as `console`. Default: nowhere. */
  logger?: Logger | undefined;
  /**
   * Names your program in the `User-Agent` header, before the client itself: `acme/1.2`. Printable
   * ASCII. Default: the client alone.
   */
  userAgent?: string | undefined;
  /**
   * Lets the client be made in a browser, where whoever looks finds the application secret. For
   * tests under jsdom, and for a page that nobody else can open. Default: false.
   */
  dangerouslyAllowBrowser?: boolean | undefined;
}

/** What every call takes besides its arguments. */
export interface CallOptions {
  /** Aborts the call, which then rejects with `signal.reason`, as `fetch` does. Default: none. */
  signal?: AbortSignal | undefined;
  /**
   * Milliseconds that this call may take, with its answer, its retries and the waits between them.
   * Default: the client's.
   */
  timeoutMs?: number | undefined;
}

/** What `convert` takes besides the code. */
export interface ConvertOptions extends CallOptions {
  /**
   * Whether to ask again where the answer got lost, and to recover the grant if it was made.
   * Default: false. {@link Latchkey.convert} says what it does, and when not to use it.
   */
  recoverLostAnswer?: boolean | undefined;
}

const DEFAULT_TIMEOUT_MS = 10_000;
// The longest that a timer can wait; with more it fires at once.
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

const DEFAULT_MAX_RETRIES = 2;
const CLIENT = `latchkey-client/${version}`;

const missing = (name: string, what: string, variableName: string) =>
  new LatchkeyConfigError(
    `${name} is missing. Pass ${what}, or set the environment variable ${variableName}.`,
  );

/** Refuses to run in a browser, unless told otherwise. */
export function checkPlace(dangerouslyAllowBrowser: boolean | undefined): void {
  if (dangerouslyAllowBrowser || !isBrowser()) return;
  throw new LatchkeyConfigError(
    'This is a browser, where everyone can read the application secret. Call Latchkey from your server. Where nobody else can open this page, pass dangerouslyAllowBrowser: true.',
  );
}

/** The service's address, with one slash at the end. */
export function checkBaseUrl(baseUrl: unknown = variable('LATCHKEY_URL')): URL {
  const example = 'such as https://latchkey.example.com';
  if (typeof baseUrl !== 'string' || baseUrl === '') {
    throw missing('baseUrl', `the service's URL, ${example}`, 'LATCHKEY_URL');
  }
  // The value is not repeated: it may hold a password.
  if (!URL.canParse(baseUrl)) {
    throw new LatchkeyConfigError(`baseUrl must be the service's absolute URL, ${example}.`);
  }
  const url = new URL(baseUrl);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new LatchkeyConfigError(`baseUrl must start with https:// or http://, ${example}.`);
  }
  if (url.username || url.password || baseUrl.includes('?') || baseUrl.includes('#')) {
    throw new LatchkeyConfigError(
      `baseUrl must have no user name, password, query or fragment, ${example}.`,
    );
  }
  url.pathname = url.pathname.replace(/\/*$/, '/');
  return url;
}

/** The application's secret, well formed; null only where it was said that there is none. */
export function checkApplicationSecret(
  secret: unknown = variable('LATCHKEY_APPLICATION_SECRET'),
): string | null {
  if (secret === null) return null;
  const prefix = `${credentialPrefixes.applicationSecret}_`;
  if (typeof secret !== 'string' || secret === '') {
    const what = `the application's secret, ${prefix}…`;
    throw missing('applicationSecret', what, 'LATCHKEY_APPLICATION_SECRET');
  }
  if (parseCredential('applicationSecret', secret) !== null) return secret;
  throw new LatchkeyConfigError(
    secret.startsWith(prefix)
      ? 'applicationSecret is incomplete or mistyped. Copy the whole of it, without spaces or quotes.'
      : `applicationSecret is ${kindOf(secret)}. An application secret starts with ${prefix}.`,
  );
}

/** How long a call may take. */
export function checkTimeout(timeoutMs: number = DEFAULT_TIMEOUT_MS): number {
  if (timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS) return timeoutMs;
  throw new LatchkeyConfigError(
    `timeoutMs must be a number of milliseconds, more than 0 and at most ${MAX_TIMEOUT_MS}.`,
  );
}

/** How often a call is tried again. */
export function checkMaxRetries(maxRetries: number = DEFAULT_MAX_RETRIES): number {
  if (Number.isInteger(maxRetries) && maxRetries >= 0) return maxRetries;
  throw new LatchkeyConfigError('maxRetries must be a whole number, 0 or more.');
}

/** The User-Agent header. */
export function checkUserAgent(userAgent: unknown): string {
  if (userAgent === undefined) return CLIENT;
  // `fetch` would refuse anything else, and repeat it in its message.
  if (typeof userAgent === 'string' && /^[\x20-\x7e]+$/.test(userAgent)) {
    return `${userAgent} ${CLIENT}`;
  }
  throw new LatchkeyConfigError(
    'userAgent must be printable ASCII that names your program, such as acme/1.2.',
  );
}
