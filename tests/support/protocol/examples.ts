import { readFile } from 'node:fs/promises';
import { codeBlocks, tableBelow } from '../markdown.ts';

const folder = new URL('../../../docs/protocol/', import.meta.url);

/** A page of docs/protocol, by its name. */
export const protocolPage = (name: string) => readFile(new URL(name, folder), 'utf8');

/** The pages with examples, in the order in which the examples follow each other. */
const PAGES = ['operations.md', 'linking.md', 'errors.md'];

/** A request or a response as it stands on a page. */
interface Message {
  /** The request line or the status line. */
  start: string;
  headers: [name: string, value: string][];
  body: string;
}

/** A request, and the response that the page promises. */
export interface Example {
  /** Where it stands: `operations.md:120`. */
  place: string;
  request: Message;
  response: Message;
}

export async function readExamples(): Promise<Example[]> {
  const examples: Example[] = [];
  for (const page of PAGES) {
    const blocks = codeBlocks(await protocolPage(page)).filter(
      ({ language }) => language === 'http',
    );
    for (let i = 0; i < blocks.length; i += 2) {
      const [request, response] = blocks.slice(i, i + 2).map(({ code }) => parse(code));
      const place = `${page}:${blocks[i]?.line}`;
      if (request === undefined || !response?.start.startsWith('HTTP/1.1 ')) {
        throw new Error(`The example at ${place} has no response.`);
      }
      examples.push({ place, request, response });
    }
  }
  return examples;
}

function parse(code: string): Message {
  const [head = '', body = ''] = code.split(/\n\n([\s\S]*)/);
  const [start = '', ...lines] = head.trim().split('\n');
  const headers = lines.map((line) => line.split(/: (.*)/).slice(0, 2) as [string, string]);
  return { start, headers, body: body.trim() };
}

/** The values of the examples, by name. */
export async function readValues(): Promise<ReadonlyMap<string, string>> {
  const readme = await protocolPage('README.md');
  const rows = [...tableBelow(readme, 'Values'), ...tableBelow(readme, 'Codes')];
  return new Map(rows.map(([name = '', value = '']) => [name, value]));
}

/** What may stand for a value that a service makes up. */
const MADE_UP = [
  /lk_[a-z]+_[0-9A-Za-z]{71}/,
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/,
  /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00/,
  // Seconds since 1970.
  /\b1[78]\d{8}\b/,
].map(({ source }) => source);

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Which value of a running service stands for which value of the page. */
export class Values {
  readonly #live = new Map<string, string>();

  bind(shown: string, live: string): void {
    this.#live.set(shown, live);
    // As a parameter of a query.
    if (encodeURIComponent(shown) !== shown) {
      this.#live.set(encodeURIComponent(shown), encodeURIComponent(live));
    }
  }

  /** A text of the page, for the service. */
  toLive(text: string): string {
    const basic = /^Basic (\S+)$/.exec(text)?.[1];
    if (basic !== undefined) return `Basic ${btoa(this.toLive(atob(basic)))}`;
    return text.replace(this.#known(), (shown) => this.#live.get(shown) as string);
  }

  /** A text of the service, for the page. */
  toShown(text: string): string {
    const shown = [...this.#live].sort(([, a], [, b]) => b.length - a.length);
    return shown.reduce((done, [value, live]) => done.replaceAll(live, value), text);
  }

  /**
   * Whether the service says what the page says. A value that the page has not shown before is bound to
   * what the service made up.
   */
  matches(shown: string, live: string): boolean {
    const madeUp: string[] = [];
    const pattern = shown
      .split(new RegExp(`(${[this.#known().source, ...MADE_UP].join('|')})`))
      .map((part, index) => {
        if (index % 2 === 0) return escaped(part);
        const known = this.#live.get(part);
        if (known !== undefined) return escaped(known);
        madeUp.push(part);
        return `(${MADE_UP.find((one) => new RegExp(`^${one}$`).test(part))})`;
      })
      .join('');
    const found = new RegExp(`^${pattern}$`).exec(live);
    for (const [index, value] of (found ? madeUp : []).entries()) {
      this.bind(value, found?.[index + 1] as string);
    }
    return found !== null;
  }

  #known(): RegExp {
    const longestFirst = [...this.#live.keys()].sort((a, b) => b.length - a.length);
    return new RegExp(longestFirst.map(escaped).join('|'), 'g');
  }
}

/** Sends the request of an example. */
export async function sendExample(
  { request }: Pick<Example, 'request'>,
  service: { url: string },
  values: Values,
): Promise<Response> {
  const [method = '', target = ''] = request.start.split(' ');
  const headers = request.headers
    .filter(([name]) => name !== 'Host')
    .map(([name, value]): [string, string] => [name, values.toLive(value)]);
  const body = request.body === '' ? null : values.toLive(request.body);
  const url = service.url + values.toLive(target);
  return fetch(url, { method, headers, body, redirect: 'manual' });
}

/** Stands for members that an example does not show. */
const MORE = '…';

/** What every response with JSON has, so no example shows it. */
const OF_JSON: [name: string, value: string][] = [
  ['Content-Type', 'application/json; charset=UTF-8'],
  ['Cache-Control', 'no-store'],
];

/** How a response differs from that of the page. Empty if it does not. */
export async function differences(
  { response: shown }: Example,
  response: Response,
  values: Values,
  options: { ignoresDescriptions: boolean },
): Promise<string[]> {
  const found: string[] = [];
  const compare = (what: string, expected: string, actual: string) => {
    if (!values.matches(expected, actual)) {
      found.push(`${what}: ${expected} expected, ${values.toShown(actual)} received`);
    }
  };
  const [, status = ''] = shown.start.split(' ');
  compare('status', status, String(response.status));
  const isJson = shown.body !== '';
  for (const [name, value] of [...shown.headers, ...(isJson ? OF_JSON : [])]) {
    compare(name, value, response.headers.get(name) ?? 'nothing');
  }
  const text = await response.text();
  if (!isJson) return found;
  if (!/^[{[]/.test(text)) return [...found, `body: ${text.slice(0, 80)}`];

  const visit = (path: string, expected: unknown, actual: unknown): void => {
    if (options.ignoresDescriptions && path.endsWith('.error_description')) {
      compareDescription(path, actual);
    } else if (isText(expected) && typeof actual === typeof expected) {
      compare(path, String(expected), String(actual));
    } else if (isBranch(expected) && isBranch(actual)) {
      const { [MORE]: more, ...members } = expected;
      const names = new Set(Object.keys(members));
      if (more === undefined) for (const name of Object.keys(actual)) names.add(name);
      for (const name of names) visit(`${path}.${name}`, expected[name], actual[name]);
    } else if (expected !== actual) {
      found.push(
        `${path}: ${JSON.stringify(expected)} expected, ${JSON.stringify(actual)} received`,
      );
    }
  };
  // RFC 6749, section 5.2.
  const compareDescription = (path: string, actual: unknown) => {
    if (typeof actual !== 'string' || !/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/.test(actual)) {
      found.push(`${path}: ${actual}`);
    }
  };
  visit('body', JSON.parse(shown.body), JSON.parse(text));
  return found;
}

const isText = (value: unknown) => typeof value === 'string' || typeof value === 'number';

const isBranch = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
