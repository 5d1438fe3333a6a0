import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

/** As much of a user's browser as an authorization needs: cookies, forms, and where it is sent. */
export class Browser {
  readonly #cookies = new Map<string, string>();

  /** Takes cookies as an answer sets them, and forgets those that it deletes. */
  keepCookies(lines: readonly string[]): void {
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
  }

  /**
   * Visits a page, or posts its form, and follows redirects as long as they stay on the server.
   *
   * @returns where it ends up: on another page, or where another server would be asked
   */
  async visit(url: URL, form?: Record<string, string>): Promise<URL> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    // Not `fetch`, which says of itself that it is a script: a page is what a script is not sent.
    const call = request(url, {
      method: form ? 'POST' : 'GET',
      headers: {
        cookie,
        accept: 'text/html',
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
    });
    call.end(form && new URLSearchParams(form).toString());
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    answer.resume();
    const { 'set-cookie': cookies = [], location } = answer.headers;
    this.keepCookies(cookies);
    if (location === undefined) return url;
    const next = new URL(location, url);
    return next.origin === url.origin ? this.visit(next) : next;
  }
}
