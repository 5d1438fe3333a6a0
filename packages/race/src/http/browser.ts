import type { Hosts } from '../hosts.ts';
import { type Request, send } from './connection.ts';
import { Cookies } from './cookies.ts';
import { attribute, fieldsOf, formsOf } from './html.ts';
import { placeOf } from './place.ts';

/** More than any login has. */
const MOST_REDIRECTS = 20;

/** The statuses that send a browser on (RFC 9110, 15.4). */
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** A browser without scripts. It stops where a redirect leads to the redirect URI. */
export class Browser {
  readonly #redirectUri: string | null;
  readonly #hosts: Hosts;
  readonly #timeout: number;
  readonly #cookies = new Cookies();
  #url = '';
  #text = '';
  #status = 0;
  #isDone = false;

  constructor(options: { redirectUri: string; hosts: Hosts; timeout: number }) {
    this.#redirectUri = placeOf(options.redirectUri);
    this.#hosts = options.hosts;
    this.#timeout = options.timeout;
  }

  /** The URL of the page; when it is done, the redirect URI with its parameters. */
  get url(): string {
    return this.#url;
  }

  get text(): string {
    return this.#text;
  }

  /** The HTTP status of the page. */
  get status(): number {
    return this.#status;
  }

  /** Whether it was sent to the redirect URI. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Keeps a cookie, as if a response of that URL had set it: for a login that is no form. */
  setCookie(url: string | URL, line: string): void {
    this.#cookies.keep(new URL(url), line);
  }

  /** Opens a page, and follows redirects. Returns the URL where it ends. */
  open(url: string | URL): Promise<string> {
    return this.#follow({ url: new URL(url, this.#url || undefined) });
  }

  /** Sends a form that a script of the page would send. */
  post(url: string | URL, fields: Record<string, string> = {}): Promise<string> {
    const to = new URL(url, this.#url || undefined);
    return this.#follow({ url: to, form: new URLSearchParams(fields) });
  }

  /**
   * Sends a form of the page, with its hidden and filled fields.
   *
   * @param fields - added to them, or in their place
   * @param index - which form of the page
   * @throws Error if the page has no such form
   */
  submit(fields: Record<string, string> = {}, index = 0): Promise<string> {
    const page = new URL(this.#url);
    const found = formsOf(this.#text)[index];
    if (found === undefined) {
      throw new Error(`The page ${page.pathname} (status ${this.#status}) has no form to submit.`);
    }
    const { attributes, content } = found;
    const form = new URLSearchParams(fieldsOf(content));
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    const url = new URL(attribute(attributes, 'action') || page, page);
    if (/^post$/i.test(attribute(attributes, 'method') ?? '')) return this.#follow({ url, form });
    url.search = form.toString();
    return this.#follow({ url });
  }

  async #follow(first: Request): Promise<string> {
    let next = first;
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const { url, form } = next;
      this.#hosts.check(url);
      const headers = {
        accept: 'text/html,*/*',
        ...this.#cookies.headersFor(url),
        ...(form && { origin: (this.#url ? new URL(this.#url) : url).origin }),
      };
      const response = await send({ ...next, headers }, this.#timeout);
      for (const line of response.cookies) this.#cookies.keep(url, line);
      // Of a page that was created, the address is no redirect.
      const location = REDIRECTS.has(response.status)
        ? response.headers.location
        : refreshOf(response.headers);
      this.#status = response.status;
      this.#text = response.body;
      this.#url = url.href;
      if (location === undefined) return this.#url;
      if (!URL.canParse(location, url.href))
        throw new Error(`${url.pathname} redirects to no URL.`);
      this.#url = new URL(location, url).href;
      this.#isDone = placeOf(this.#url) === this.#redirectUri;
      if (this.#isDone) return this.#url;
      next = { url: new URL(this.#url) };
    }
    throw new Error(`More than ${MOST_REDIRECTS} redirects.`);
  }
}

/** Where a page leads at once, as it starts a native application: what browsers make of `Refresh`. */
const refreshOf = ({ refresh }: Record<string, string | undefined>): string | undefined =>
  /^\s*0\s*;\s*url=(.+)$/i.exec(refresh ?? '')?.[1];
