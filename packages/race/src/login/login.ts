import type { Browser } from '../http/browser.ts';
import { NoResponse } from '../http/connection.ts';

/**
 * Gets a code: goes through the authorization request as a user's browser does.
 *
 * @param authorizationUrl - the request to open
 * @param browser - a new one for each code, for logins that need no scripts
 * @returns the URL that the browser was sent to at the end, or the code alone
 */
export type Login = (authorizationUrl: string, browser: Browser) => Promise<string | URL>;

/** A login that ends with an error after a time in milliseconds. */
export function limited(login: Login, timeout: number): Login {
  return async (authorizationUrl, browser) => {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      const error = new NoResponse(`The login brought no code within ${timeout} ms.`, timeout);
      timer = setTimeout(() => reject(error), timeout);
    });
    try {
      return await Promise.race([login(authorizationUrl, browser), tooLate]);
    } finally {
      clearTimeout(timer);
    }
  };
}
