import type { Hosts } from '../hosts.ts';
import { type Request, send } from './connection.ts';

/** More than any login has. */
const MOST_REDIRECTS = 20;

/** A browser without scripts. It stops where a redirect leads to the redirect URI. */
export class Browser {
  readonly #redirectUri: string;
  readonly #hosts: Hosts;
  readonly #timeout: number;
  readonly #cookies = new Map<string, Map<string, string>>();
  #url = '';
  #text = '';
  #status = 0;
  #isDone = false;

  constructor(options: { redirectUri: string; hosts: Hosts; timeout: number }) {
    this.#redirectUri = options.redirectUri;
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
    keep(line, this.#jarOf(new URL(url)));
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
    const [, attributes = '', content = ''] =
      [...this.#text.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/gi)][index] ?? [];
    if (content === '' && attributes === '') {
      throw new Error(`The page ${page.pathname} (status ${this.#status}) has no form to submit.`);
    }
    const form = new URLSearchParams();
    for (const [, input = ''] of content.matchAll(/<input\b([^>]*)>/gi)) {
      const name = attribute(input, 'name');
      const type = attribute(input, 'type') ?? 'text';
      const isLeftOut = /^(?:submit|button|image|reset)$/i.test(type);
      const isUnchecked = /^(?:checkbox|radio)$/i.test(type) && !/\bchecked\b/i.test(input);
      if (name && !isLeftOut && !isUnchecked) form.append(name, attribute(input, 'value') ?? '');
    }
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    const url = new URL(attribute(attributes, 'action') || page, page);
    if (/^post$/i.test(attribute(attributes, 'method') ?? '')) return this.#follow({ url, form });
    url.search = form.toString();
    return this.#follow({ url });
  }

  #jarOf({ hostname }: URL): Map<string, string> {
    const jar = this.#cookies.get(hostname) ?? new Map<string, string>();
    this.#cookies.set(hostname, jar);
    return jar;
  }

  async #follow(first: Request): Promise<string> {
    let next = first;
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const { url, form } = next;
      this.#hosts.check(url);
      const jar = this.#jarOf(url);
      const headers = {
        accept: 'text/html,*/*',
        ...(jar.size > 0 && { cookie: [...jar].map((pair) => pair.join('=')).join('; ') }),
        ...(form && { origin: url.origin }),
      };
      const response = await send({ ...next, headers }, this.#timeout);
      for (const cookie of response.cookies) keep(cookie, jar);
      const { location } = response.headers;
      this.#status = response.status;
      this.#text = response.body;
      this.#url = url.href;
      if (location === undefined) return this.#url;
      this.#url = new URL(location, url).href;
      this.#isDone = this.#url.split(/[?#]/)[0] === this.#redirectUri.split(/[?#]/)[0];
      if (this.#isDone) return this.#url;
      next = { url: new URL(this.#url) };
    }
    throw new Error(`More than ${MOST_REDIRECTS} redirects.`);
  }
}

/** Puts a cookie into a jar, or takes it out. */
function keep(cookie: string, jar: Map<string, string>): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
  const [, maxAge] = /; *Max-Age=(-?\d+)/i.exec(cookie) ?? [];
  const [, expires] = /; *Expires=([^;]+)/i.exec(cookie) ?? [];
  const isOver =
    maxAge === undefined ? expires && Date.parse(expires) <= Date.now() : Number(maxAge) <= 0;
  if (isOver) jar.delete(name);
  else jar.set(name, value);
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };

function attribute(attributes: string, name: string): string | undefined {
  const pattern = new RegExp(
    `(?<![\\w-])${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`,
    'i',
  );
  const [, double, single, bare] = pattern.exec(attributes) ?? [];
  return (double ?? single ?? bare)
    ?.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replace(/&#x([0-9a-f]+);/gi, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replace(/&(amp|lt|gt|quot);/g, (_, entity) => ENTITIES[entity] as string);
}
