import { Cookies } from '../../packages/race/src/http/cookies.ts';
import { attribute, decode, formsOf } from '../../packages/race/src/http/html.ts';

/** A page that the browser shows. */
export interface Page {
  url: URL;
  status: number;
  text: string;
}

/** More than any way of a link has. */
const MOST_REDIRECTS = 20;

/**
 * A browser without scripts: follows redirects and `Refresh`, keeps cookies and sends forms.
 */
export class Browser {
  readonly #cookies = new Cookies();
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
    for (const { attributes, content } of formsOf(text)) {
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
      const headers = new Headers(init.headers);
      const { cookie } = this.#cookies.headersFor(url);
      if (cookie !== undefined) headers.set('Cookie', cookie);
      const response = await fetch(url, { ...init, headers, redirect: 'manual' });
      for (const line of response.headers.getSetCookie()) this.#cookies.keep(url, line);
      const text = await response.text();
      const refresh = response.headers.get('Refresh')?.replace(/^0;url=/, '');
      const location = response.headers.get('Location') ?? refresh ?? null;
      if (location === null) return { url, status: response.status, text };
      url = new URL(location, url);
      init = { method: 'GET' };
      if (this.#stopAt(url)) return { url, status: 0, text: '' };
    }
    throw new Error(`Too many redirects, the last one to ${url.origin}${url.pathname}.`);
  }
}

const textOf = (html: string) => decode(html.replace(/<[^>]*>/g, '')).trim();
