// The lifetime of a link request.
const MAX_AGE_SECONDS = 3600;

// Browsers drop a cookie of more than 4,096 bytes. nginx refuses a header of more than 8 KiB, and every
// open link adds its cookie: without a limit, any site could open `connect` until the application refuses
// the user's requests.
const MAX_RETURN_TO = 1024;
const MAX_OPEN_LINKS = 5;

// 32 bytes in base64url: a state, or a verifier.
const RANDOM_TEXT = /^[\w-]{43}$/;

/** The values that a browser keeps until the callback. */
export interface Kept {
  readonly codeVerifier: string;
  /** The path where the browser goes on after the link. */
  readonly returnTo?: string | undefined;
}

/**
 * The cookie of one link. It has a part of the state in its name, so that links in several tabs don't
 * disturb each other.
 */
export class LinkingCookie {
  readonly #isSecure: boolean;

  /** @param isSecure - whether the application is reached over https; without it, it is on loopback */
  constructor(isSecure: boolean) {
    this.#isSecure = isSecure;
  }

  /** The Set-Cookie header that makes the browser keep it. */
  keep(state: string, { codeVerifier, returnTo }: Kept): string {
    if (returnTo === undefined) return this.#header(state, codeVerifier, MAX_AGE_SECONDS);
    const encoded = `${new URLSearchParams({ '': returnTo })}`.slice(1);
    if (encoded.length > MAX_RETURN_TO) {
      throw new RangeError(`returnTo has more than ${MAX_RETURN_TO} characters when URL-encoded.`);
    }
    return this.#header(state, `${codeVerifier}.${encoded}`, MAX_AGE_SECONDS);
  }

  /** The Set-Cookie header that makes the browser forget it. */
  forget(state: string): string {
    return this.#header(state, '', 0);
  }

  /**
   * The Set-Cookie headers that make the browser forget its oldest links, if it has no room for another.
   *
   * @param header - the Cookie header, in which the oldest cookie is the first (RFC 6265, section 5.4)
   */
  makeRoom(header: string): string[] {
    const start = this.#name('');
    const links = header.split(/; */).filter((pair) => pair.startsWith(start));
    return links
      .slice(0, 1 - MAX_OPEN_LINKS)
      .map((pair) => this.forget(pair.slice(start.length, pair.indexOf('='))));
  }

  /**
   * Finds the cookie for a callback.
   *
   * @param header - the Cookie header
   * @param state - the state in the callback, which may be anything
   * @returns the content of the cookie; undefined if there is no such cookie
   */
  read(header: string, state: string): Kept | undefined {
    if (!RANDOM_TEXT.test(state)) return undefined;
    const start = `${this.#name(state)}=`;
    const cookie = header.split(/; */).find((pair) => pair.startsWith(start)) ?? '';
    const [codeVerifier = '', ...path] = cookie.slice(start.length).split('.');
    if (!RANDOM_TEXT.test(codeVerifier)) return undefined;
    const returnTo = new URLSearchParams(`=${path.join('.')}`).get('') || undefined;
    return { codeVerifier, returnTo };
  }

  // With the prefix, browsers accept the cookie only from this host, not from a sibling domain.
  #name(state: string): string {
    return `${this.#isSecure ? '__Host-' : ''}latchkey-linking-${state.slice(0, 8)}`;
  }

  // Lax: with Strict, the cookie would not come with the redirect from the service.
  #header(state: string, value: string, maxAge: number): string {
    const cookie = `${this.#name(state)}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax`;
    return this.#isSecure ? `${cookie}; Secure` : cookie;
  }
}
