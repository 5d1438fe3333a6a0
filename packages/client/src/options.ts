import { credentialPrefixes, parseCredential } from '@latchkey/schema';
import { LatchkeyConfigError } from './errors.ts';
import type { Fetch } from './fetch.ts';
import { kindOf } from './kind-of.ts';

/** What the {@link Latchkey} constructor takes. */
export interface LatchkeyOptions {
  /**
   * Where the service is, such as `https://latchkey.example.com`. A path is kept, so a service
   * behind a prefix works; a slash at the end makes no difference. Undefined, as an environment
   * variable may be, is refused with a message that says so.
   */
  baseUrl: string | undefined;
  /**
   * The application's secret, `lk_app_…`. Keep it on your servers: never ship it to a browser.
   * Undefined is refused, like that of `baseUrl`.
   */
  applicationSecret: string | undefined;
  /** Milliseconds that a call may take, its answer included. Default: 10,000. */
  timeoutMs?: number | undefined;
  /** Used in place of the global `fetch`. */
  fetch?: Fetch | undefined;
}

/** What every call takes besides its arguments. */
export interface CallOptions {
  /** Aborts the call, which then rejects with `signal.reason`, as `fetch` does. */
  signal?: AbortSignal | undefined;
  /** Milliseconds that this call may take, its answer included. Default: the client's. */
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
// The longest that setTimeout can wait; with more it fires at once.
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

const missing = (name: string, what: string) =>
  new LatchkeyConfigError(
    `${name} is missing. Pass ${what}; where it comes from an environment variable, check that it is set.`,
  );

/** The service's address without a slash at the end. */
export function checkBaseUrl(baseUrl: unknown): URL {
  const example = 'such as https://latchkey.example.com';
  if (typeof baseUrl !== 'string' || baseUrl === '') throw missing('baseUrl', "the service's URL");
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
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/** The application's secret, well formed. */
export function checkApplicationSecret(secret: unknown): string {
  const prefix = `${credentialPrefixes.applicationSecret}_`;
  if (typeof secret !== 'string' || secret === '') {
    throw missing('applicationSecret', `the application's secret, ${prefix}…`);
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
    `timeoutMs must be a number of milliseconds from 1 to ${MAX_TIMEOUT_MS}.`,
  );
}
