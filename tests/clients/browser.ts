/** A page that the browser shows. */
export interface Page {
  url: URL;
  status: number;
  text: string;
}

/** More than any way of a link has. */
const MOST_REDIRECTS = 20;

/**
 * A browser without scripts: follows redirects, keeps cookies and sends forms. Like other browsers, it
 * keeps one set of cookies for all ports of a host.
 */
export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();
  readonly #stopAt: (url: URL) => boolean;

  /** @param stopAt - which redirect not to follow; the browser then has a page without status */
  constructor(stopAt: (url: URL) => boolean = () => false) {
    this.#stopAt = stopAt;
  }

  open(url: URL | string): Promise<Page> {
    return this.#follow(new URL(url), { method: 'GET' });
  }

  /** Sends an empty form to a URL, as a button of its application would. */
  post(url: string): Promise<Page> {
    return this.#submit(new URL(url), new URLSearchParams());
  }

  /**
   * Presses a button of a form.
   *
   * @param label - its text, or the beginning of it
   * @throws Error with the page if it has no such button
   */
  press({ url, text }: Page, label: string): Promise<Page> {
    for (const [, attributes = '', content = ''] of text.matchAll(
      /<form\b([^>]*)>([\s\S]*?)<\/form>/gi,
    )) {
      for (const [, button = '', inner = ''] of content.matchAll(
        /<button\b([^>]*)>([\s\S]*?)<\/button>/gi,
      )) {
        if (!textOf(inner).startsWith(label)) continue;
        const fields = new URLSearchParams();
        const inputs = [...content.matchAll(/<input\b([^>]*)>/gi)].map(([, input = '']) => input);
        for (const field of [...inputs, button]) {
          const name = attribute(field, 'name');
          if (name !== undefined) fields.append(name, attribute(field, 'value') ?? '');
        }
        return this.#submit(new URL(attribute(attributes, 'action') ?? url, url), fields, url);
      }
    }
    throw new Error(`${url.pathname} has no button "${label}":\n${text}`);
  }

  #submit(url: URL, body: URLSearchParams, from = url): Promise<Page> {
    const site = from.origin === url.origin ? 'same-origin' : 'same-site';
    const headers = { Origin: from.origin, 'Sec-Fetch-Site': site };
    return this.#follow(url, { method: 'POST', body, headers });
  }

  async #follow(first: URL, request: RequestInit): Promise<Page> {
    let [url, init] = [first, request];
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
      const jar = this.#cookies.get(url.hostname) ?? new Map<string, string>();
      this.#cookies.set(url.hostname, jar);
      const headers = new Headers(init.headers);
      if (jar.size > 0) headers.set('Cookie', [...jar].map((pair) => pair.join('=')).join('; '));
      const response = await fetch(url, { ...init, headers, redirect: 'manual' });
      for (const cookie of response.headers.getSetCookie()) keep(cookie, jar);
      const text = await response.text();
      const location = response.headers.get('Location');
      if (location === null) return { url, status: response.status, text };
      url = new URL(location, url);
      init = { method: 'GET' };
      if (this.#stopAt(url)) return { url, status: 0, text: '' };
    }
    throw new Error(`Too many redirects, the last one to ${url.origin}${url.pathname}.`);
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

const decode = (html: string) =>
  html
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replace(/&#x([0-9a-f]+);/gi, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replace(/&(amp|lt|gt|quot);/g, (_, name) => ENTITIES[name] as string);

const textOf = (html: string) => decode(html.replace(/<[^>]*>/g, '')).trim();

function attribute(attributes: string, name: string): string | undefined {
  const [, value] = new RegExp(`\\b${name}="([^"]*)"`, 'i').exec(attributes) ?? [];
  return value === undefined ? undefined : decode(value);
}
