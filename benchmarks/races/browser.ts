import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

/** What an authorization needs of a browser: cookies, forms and redirects. */
export class Browser {
  readonly #cookies = new Map<string, string>();

  /** Applies Set-Cookie headers. */
  keepCookies(lines: readonly string[]): void {
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
  }

  /**
   * Opens a page or posts a form, and follows redirects on the same server.
   *
   * @returns the last page, or the first URL on another server, which is not opened
   */
  async visit(url: URL, form?: Record<string, string>): Promise<URL> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    // Not `fetch`: its `sec-fetch-mode: cors` tells a server that it is no page load.
    const call = request(url, {
      method: form ? 'POST' : 'GET',
      headers: {
        cookie,
        accept: 'text/html',
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
    });
    call.end(form && new URLSearchParams(form).toString());
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    response.resume();
    const { 'set-cookie': cookies = [], location } = response.headers;
    this.keepCookies(cookies);
    if (location === undefined) return url;
    const next = new URL(location, url);
    return next.origin === url.origin ? this.visit(next) : next;
  }
}
