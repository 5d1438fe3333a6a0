import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { formatCredential } from '@latchkey/schema';
import { longer } from '@latchkey/test-kit/long';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { succeed } from '../http/call.ts';
import { sqliteDatabase } from '../http/databases.ts';
import { operator, useServer } from '../http/running-server.ts';
import {
  CALLBACK,
  LINKING,
  type LinkingApplication,
  linkingApplication,
  SIGN_IN_URL,
} from '../linking/link-flow.ts';
import { openConnections, openConsent } from '../linking/page-flow.ts';

const numRuns = longer(150, 1_500);

const FORM = 'application/x-www-form-urlencoded';

/** The headers that a browser may get from the flow. More would be a response that was split. */
const KNOWN_HEADERS = new Set([
  ...['connection', 'keep-alive', 'date', 'content-length', 'content-type', 'cache-control'],
  ...['x-request-id', 'location', 'referrer-policy', 'x-frame-options', 'x-content-type-options'],
  ...['x-robots-tag', 'content-security-policy'],
]);

interface Received {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
}

/** Text that means something to a parser of queries, forms, cookies, headers or HTML. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    ...['\r\nSet-Cookie: a=b', '\n\n<script>', '\0', '%', '%zz', '%ff', '%0d%0aX: y', '..', '//x'],
    ...['https://evil.example/', 'javascript:alert(1)', '__proto__', 'a'.repeat(3_000), '\ud800'],
    ...['"><svg onload=x>', '\u202e', '{application}', ';', '=', '&', ',', ' '],
  ),
);

describe('the linking flow, given anything,', () => {
  // Nobody listens there.
  const documents = { CLIENT_DOCUMENTS: '127.0.0.1', OUTBOUND_ALLOW: 'private' };
  const server = useServer(sqliteDatabase, { ...LINKING, ...documents });
  let linking: LinkingApplication;
  beforeAll(async () => {
    linking = await linkingApplication(server);
  });

  /** Sends what no browser would: the path and the headers as they are. */
  async function receive(
    path: string,
    {
      headers = {},
      body,
      method = body === undefined ? 'GET' : 'POST',
      more = [],
    }: {
      headers?: Record<string, string>;
      body?: Buffer | string;
      method?: string;
      more?: readonly string[];
    } = {},
  ): Promise<Received> {
    const sent = httpRequest(server.url, { method, path, headers });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const parts: Buffer[] = await response.toArray();
    const { statusCode: status = 0, headers: received } = response;
    for (const name of Object.keys(received)) {
      const isKnown = KNOWN_HEADERS.has(name) || more.includes(name);
      expect(isKnown || name.startsWith('ratelimit-'), name).toBe(true);
    }
    return { status, headers: received, text: Buffer.concat(parts).toString() };
  }

  test('redirects only to the sign-in page and to the application', async () => {
    const names = fc.constantFrom(
      ...['client_id', 'redirect_uri', 'response_type', 'scope', 'state', 'code_challenge'],
      ...['code_challenge_method', 'response_mode', 'login_hint', 'ui_locales', 'prompt', 'x'],
      'optional_scope',
      'resource',
    );
    const address = hostile.map((text) => `https://127.0.0.1:1/${text}`);
    const changes = fc.array(fc.tuple(names, fc.oneof(hostile, address)), { maxLength: 4 });
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(changes, fc.boolean(), async (added, replaces) => {
        const query = new URLSearchParams(linking.request);
        for (const [name, value] of added) {
          if (replaces) query.set(name, value);
          else query.append(name, value);
        }
        const more = ['retry-after'];
        const { status, headers, text } = await receive(`/oauth/authorize?${query}`, { more });
        seen.add(status);
        if (status === 303) {
          expect(
            [CALLBACK, SIGN_IN_URL].some((url) => headers.location?.startsWith(`${url}&`)),
          ).toBe(true);
          expect(headers.location).toMatch(/^[\x21-\x7e]+$/);
        } else {
          expect(headers.location).toBeUndefined();
          const [, code] = /<dd>(?:<a [^>]*>)?(\w+)</.exec(text) ?? [];
          const isUnavailable = code === 'client_document_unavailable';
          if (!isUnavailable) {
            expect(code).toMatch(/^(client_unknown|redirect_uri_unregistered|state_invalid)$/);
          }
          expect(status).toBe(isUnavailable ? 503 : 400);
          // The page shows a refused address to the developers of the application, as text. Only the
          // link to the same request, which leads nowhere else, may have it.
          const again = / href="\/base\/oauth\/authorize\?[^"]*"/g;
          expect(text.replaceAll(isUnavailable ? again : /$^/g, '')).not.toMatch(
            /<[^>]*evil\.example/,
          );
        }
      }),
      { numRuns },
    );
    expect([...seen].filter((status) => status !== 503).sort()).toEqual([303, 400]);
  });

  test('takes a query that is damaged', async () => {
    const damaged = fc.string({ unit: fc.constantFrom(...'%&=?+;0aF/'), maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(damaged, async (query) => {
        for (const path of ['/oauth/authorize', '/link/x', '/connections', '/connections/x']) {
          expect((await receive(`${path}?${query}`)).status).toBeOneOf([400, 410]);
        }
      }),
      { numRuns: numRuns / 5 },
    );
  });

  test('decides by its own form alone', async () => {
    const page = await openConsent(server, linking);
    const { path, cookie, form_token, link } = page;
    const own = fc.constantFrom(form_token, `${form_token}=`, form_token.toLowerCase());
    const pair = fc.tuple(
      fc.oneof(fc.constantFrom('form_token', 'decision', 'FORM_TOKEN'), hostile),
      fc.oneof(own, fc.constantFrom('Allow', 'allow ', 'allow,deny', 'toString', ''), hostile),
    );
    const form = fc.oneof(
      fc.array(pair, { maxLength: 5 }).map((pairs) => new URLSearchParams(pairs).toString()),
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      fc.string({ unit: 'binary' }).map((text) => `form_token=${form_token}&decision=${text}%`),
    );
    const type = fc.constantFrom(
      FORM,
      `${FORM}; charset=utf-8`,
      `${FORM}; charset=latin1`,
      'text/plain',
    );
    await fc.assert(
      fc.asyncProperty(form, type, async (body, contentType) => {
        const headers = { cookie, 'content-type': contentType };
        const { status } = await receive(path, { headers, body });
        expect(status).toBeOneOf([400, 403, 415]);
      }),
      { numRuns },
    );
    expect((await succeed(server, 'admin.links.read', { link }, operator)).status).toBe(
      'identified',
    );
    const body = new URLSearchParams({ form_token, decision: 'allow' }).toString();
    const headers = { cookie, 'content-type': FORM };
    // The cookie lives on for a repetition.
    expect((await receive(path, { headers, body, more: ['set-cookie'] })).status).toBe(303);
  });

  test('opens its pages to their own cookies alone', async () => {
    const consent = await openConsent(server, linking);
    const connections = await openConnections(server, linking.account_id);
    const headerText = fc.string({
      unit: fc
        .integer({ min: 0x20, max: 0xff })
        .filter((code) => code !== 0x7f)
        .map((code) => String.fromCharCode(code)),
      maxLength: 60,
    });
    for (const { path, cookie } of [consent, connections]) {
      const [name = '', value = ''] = cookie.split('=');
      const wrong = fc.oneof(
        headerText,
        headerText.map((text) => `${name}=${text}`),
        headerText.map((text) => `${name}=${text}; ${cookie}`),
        headerText
          .map((text) => `${text}${name}=${value}`)
          .filter((text) => !/[;,]/.test(text) && text !== cookie),
        fc.constantFrom(
          `${name}=${value}x`,
          `${name}="${value}"`,
          name,
          value,
          `${name.toUpperCase()}=${value}`,
        ),
      );
      await fc.assert(
        fc.asyncProperty(wrong, async (text) => {
          fc.pre(text.split(';')[0]?.trim() !== cookie);
          const { status } = await receive(path, { headers: { cookie: text } });
          // Of several cookies of one name, the first counts. A browser sends one.
          if (!text.includes(`; ${cookie}`)) expect(status).toBe(410);
          else expect(status).toBeOneOf([200, 410]);
        }),
        { numRuns: numRuns / 2 },
      );
      const among = { cookie: `a=b; ${cookie}; ${name}x=y` };
      expect((await receive(path, { headers: among })).status).toBe(200);
    }
  });

  test('leads a HEAD to no header of its own', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, async (id) => {
        const ticket = formatCredential('pageTicket', randomUUID(), new Uint8Array(32));
        const path = `/link/${encodeURIComponent(id.toWellFormed())}?ticket=${ticket}`;
        const { status, headers } = await receive(path, { method: 'HEAD' });
        expect(status).toBeOneOf([303, 404]);
        if (status === 303) expect(headers.location).toMatch(/^[\x21-\x7e]+$/);
      }),
      { numRuns: numRuns / 3 },
    );
  });

  test('repeats nothing of a request in a header', async () => {
    const header = fc.string({ unit: fc.constantFrom(...'aZ0.-_:;,="\'\\/%<>é '), maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(header, header, header, async (id, origin, languages) => {
        const headers = {
          'x-request-id': id,
          origin,
          'accept-language': languages,
          'sec-fetch-site': 'same-origin',
          'content-type': FORM,
        };
        const { status, text } = await receive('/link/x', { headers, body: 'decision=allow' });
        expect([status, text.includes('<html lang="en"')]).toEqual([410, true]);
      }),
      { numRuns: numRuns / 3 },
    );
  });
});
