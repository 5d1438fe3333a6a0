// The lifetime of a link request.
const MAX_AGE_SECONDS = 3600;

// A reload from the history, or of a tab that the browser opens again.
const NOTE_SECONDS = 600;

// Browsers drop a cookie of more than 4,096 bytes. nginx refuses a header of more than 8 KiB, and every
// open link adds its cookie: without a limit, any site could open `connect` until the application refuses
// the user's requests.
const MAX_RETURN_TO = 1024;
const MAX_OPEN_LINKS = 5;

// 32 bytes in base64url.
const STATE = /^[\w-]{43}$/;

// A verifier, of the same form; or a note, with the id of the grant. What follows is the path.
const VALUE = /^(?:([\w-]{43})|denied|done\.([\da-f-]{36}))(?:\.(.*))?$/;

/**
 * The values that a browser keeps until the callback. Afterwards they are a note of how the link ended,
 * for the same callback if it comes again. A note proves nothing: a browser can write its own.
 */
export interface Kept {
  /** Absent in a note. */
  readonly codeVerifier?: string | undefined;
  /** The grant of a note; absent after a denial. */
  readonly grantId?: string | undefined;
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
  keep(state: string, { codeVerifier, grantId, returnTo = '' }: Kept): string {
    const encoded = `${new URLSearchParams({ '': returnTo })}`.slice(1);
    if (encoded.length > MAX_RETURN_TO) {
      throw new RangeError(`returnTo has more than ${MAX_RETURN_TO} characters when URL-encoded.`);
    }
    if (codeVerifier) {
      const value = encoded ? `${codeVerifier}.${encoded}` : codeVerifier;
      return this.#header(state, value, MAX_AGE_SECONDS);
    }
    const note = grantId ? `done.${grantId}` : 'denied';
    return this.#header(state, `${note}.${encoded}`, NOTE_SECONDS);
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
    if (!STATE.test(state)) return undefined;
    const start = `${this.#name(state)}=`;
    const cookie = header.split(/; */).find((pair) => pair.startsWith(start)) ?? '';
    const found = VALUE.exec(cookie.slice(start.length));
    if (!found) return undefined;
    const [, codeVerifier, grantId, path = ''] = found;
    return {
      codeVerifier,
      grantId,
      returnTo: new URLSearchParams(`=${path}`).get('') || undefined,
    };
  }

  /** With the prefix, browsers accept the cookie only from this host, not from a sibling domain. */
  #name(state: string): string {
    return `${this.#isSecure ? '__Host-' : ''}latchkey-linking-${state.slice(0, 8)}`;
  }

  /** Lax: with Strict, the cookie would not come with the redirect from the service. */
  #header(state: string, value: string, maxAge: number): string {
    const cookie = `${this.#name(state)}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax`;
    return this.#isSecure ? `${cookie}; Secure` : cookie;
  }
}
