import { randomUUID } from 'node:crypto';
import { LINKS_KEPT } from '@latchkey/domain/lifetimes';
import type { ErrorCode } from '@latchkey/schema';
import { errorDefinition } from '@latchkey/schema';
import { describe, expect, test } from 'vitest';
import { succeed } from '../http/call.ts';
import { describeOnAnyStore, sqliteDatabase } from '../http/databases.ts';
import { RawConnection } from '../http/raw-connection.ts';
import { refusalsOf } from '../http/refusals-of.ts';
import { operator, useServer } from '../http/running-server.ts';
import {
  addedTo,
  CALLBACK,
  LINKING,
  linkingApplication,
  PUBLIC_URL,
  SIGN_IN_URL,
  VERIFIER,
} from './link-flow.ts';
import {
  formTokenIn,
  identify,
  type OpenPage,
  open,
  openConsent,
  pathOf,
  visit,
} from './page-flow.ts';

describeOnAnyStore('the consent page', (fresh) => {
  const server = useServer(fresh, { ...LINKING, PAGE_HOME: 'https://host.example/home' });

  const answer = (
    { path, cookie, form_token }: OpenPage,
    decision: string,
    headers: Record<string, string> = {},
  ) => visit(server, path, { cookie, headers, form: { form_token, decision } });

  /** A page about an error, which `explain` knows. */
  async function expectErrorPage(
    response: Awaited<ReturnType<typeof visit>>,
    error_code: ErrorCode,
    refusal: object = {},
  ): Promise<void> {
    const request_id = response.headers.get('x-request-id') as string;
    expect(response.status).toBe(errorDefinition(error_code).status);
    expect(response.headers.get('content-type')).toBe('text/html; charset=UTF-8');
    expect(response.headers.has('location')).toBe(false);
    expect(response.headers.has('set-cookie')).toBe(false);
    expect(response.text).toContain(`<dd>${error_code}</dd>`);
    expect(response.text).toContain(request_id);
    await server.service.audit.flush();
    const [explained] = await refusalsOf(server.service, request_id);
    expect(explained).toMatchObject({ error_code, ...refusal });
  }

  describe('is opened by a ticket', () => {
    test('once, for a browser that gets a cookie', async () => {
      const { begin, account_id } = await linkingApplication(server);
      const { link, link_id } = await begin();
      const url = await identify(server, link, { account_id });
      expect(url).toMatch(
        new RegExp(`^${PUBLIC_URL}/link/${link_id}\\?ticket=lk_ticket_[0-9A-Za-z]{71}$`),
      );
      const { status, headers, text } = await visit(server, pathOf(url));
      expect([status, text]).toEqual([303, '']);
      const { page_id } = (await server.service.store.findLink(link_id)) ?? {};
      const address = `${PUBLIC_URL}/link/${link_id}?opened=${page_id}`;
      expect(headers.get('location')).toBe(address);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      const name = `__Host-latchkey_link_${link_id.replaceAll('-', '')}`;
      expect(headers.getSetCookie()).toHaveLength(1);
      const [pair, ...attributes] = headers.getSetCookie()[0]?.split('; ') ?? [];
      expect(pair).toMatch(new RegExp(`^${name}=lk_page_[0-9A-Za-z]{71}$`));
      expect(attributes.sort()).toEqual([
        'HttpOnly',
        // Three hours longer than its link: to say that it is over, and lead back.
        'Max-Age=14400',
        'Path=/',
        'SameSite=Lax',
        'Secure',
      ]);

      const cookie = pair as string;
      expect((await visit(server, pathOf(address), { cookie })).status).toBe(200);
      const again = await visit(server, pathOf(url), { cookie });
      expect([again.status, again.headers.get('location')]).toEqual([303, address]);
      expect(again.headers.has('set-cookie')).toBe(false);
      await expectErrorPage(await visit(server, pathOf(url)), 'page_expired', {
        operation: 'pages.open',
        reason: 'page_ticket_used',
        account_id,
        by: null,
      });
    });

    test('for 300 seconds, and by no HEAD', async () => {
      const { begin, account_id } = await linkingApplication(server);
      const early = await identify(server, (await begin()).link, { account_id });
      const head = await visit(server, pathOf(early), { method: 'HEAD' });
      expect([head.status, head.headers.has('set-cookie')]).toEqual([303, false]);
      server.advance(299_999);
      expect((await visit(server, pathOf(early))).headers.has('set-cookie')).toBe(true);
      const late = await identify(server, (await begin()).link, { account_id });
      server.advance(300_000);
      await expectErrorPage(await visit(server, pathOf(late)), 'page_expired', {
        reason: 'page_ticket_expired',
      });
    });
  });

  test('locks no browser out: the cookies of the newest pages stay', async () => {
    const linking = await linkingApplication(server);
    const jar = new Map([
      ['session', '1'],
      ['__Host-latchkey_link_other', '1'],
    ]);
    const others = jar.size;
    const names: string[] = [];
    for (let times = 0; times < 12; times += 1) {
      server.advance(1);
      const { link, link_id } = await linking.begin();
      const url = await identify(server, link, linking);
      const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
      const { headers } = await visit(server, pathOf(url), { cookie });
      const name = `__Host-latchkey_link_${link_id.replaceAll('-', '')}`;
      names.push(name);
      for (const set of headers.getSetCookie()) {
        expect(set).toMatch(/; HttpOnly; SameSite=Lax; Path=\/; Secure; Max-Age=\d+$/);
        const [, changed = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        if (set.endsWith('Max-Age=0')) expect(jar.delete(changed)).toBe(true);
        else jar.set(changed, value);
      }
      // The opened page stays, even if others were begun after it.
      expect(jar.has(name)).toBe(true);
      expect(jar.size).toBeLessThanOrEqual(others + 8);
    }
    expect([...jar.keys()].slice(others)).toEqual(names.slice(-8));
  });

  test('opens an old page beside newer ones', async () => {
    const linking = await linkingApplication(server);
    const { link, link_id } = await linking.begin();
    const url = await identify(server, link, linking);
    const id = (n: number) => `__Host-latchkey_link_f${n}${'0'.repeat(30)}`;
    const cookie = Array.from({ length: 9 }, (_, n) => `${id(n)}=1`).join('; ');
    const { headers } = await visit(server, pathOf(url), { cookie });
    const [set = '', ...ended] = headers.getSetCookie();
    expect(set).toContain(link_id.replaceAll('-', ''));
    expect(ended.map((header) => header.split('=')[0])).toEqual([id(0), id(1)]);
  });

  test.each([
    ['allow', 0, ['300']],
    ['deny', 0, ['300']],
    ['switch', 0, []],
    // The same decision again, 100 seconds before the link request is deleted.
    ['deny', 14_300_000, ['100']],
  ])('%s: the cookie is needed for a short time only, after %d ms', async (how, after, left) => {
    const page = await openConsent(server, await linkingApplication(server));
    const form = { form_token: page.form_token, decision: how };
    const decide = () => visit(server, page.path, { cookie: page.cookie, form });
    const first = await decide();
    server.advance(after);
    const { status, headers } = after === 0 ? first : await decide();
    expect(status).toBe(303);
    const attributes = '; HttpOnly; SameSite=Lax; Path=/; Secure; Max-Age=';
    expect(headers.getSetCookie()).toEqual(
      left.map((seconds) => page.cookie + attributes + seconds),
    );
  });

  test('shows who asks for what, and where it leads', async () => {
    const profile = {
      name: 'Acme & <b>Sons</b>',
      logo_uri: 'https://logos.example:8443/acme.png',
      homepage_uri: 'https://acme.example/home',
    };
    const linking = await linkingApplication(server, profile);
    const { path, cookie } = await openConsent(server, linking);
    const { status, headers, text } = await visit(server, path, { cookie });
    expect(status).toBe(200);
    const shown = Object.fromEntries(headers);
    expect(shown).toMatchObject({
      'content-type': 'text/html; charset=UTF-8',
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'x-robots-tag': 'noindex',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https://logos.example:8443; base-uri 'none'; frame-ancestors 'none'",
    });
    expect(shown).not.toHaveProperty('set-cookie');
    expect(shown).not.toHaveProperty('cross-origin-opener-policy');
    for (const bdi of [
      'Acme &amp; &lt;b&gt;Sons&lt;/b&gt;',
      'Ada Lovelace',
      'ada',
      'Read your profile',
      'Your name and your picture.',
      'Read your posts',
      '<strong>acme.example</strong>',
      '<strong>app.example</strong>',
    ]) {
      expect(text).toContain(`<bdi>${bdi}</bdi>`);
    }
    expect(text).toContain('<bdi>host.example</bdi>');
    // The pages are under the path of PUBLIC_URL.
    expect(text).toContain(`action="/base${path}"`);
    for (const [, asset = ''] of text.matchAll(/(?:src|href)="\/base(\/link\/assets\/[^"]+)"/g)) {
      const file = await visit(server, asset);
      expect([file.status, file.headers.get('cache-control')]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ]);
      expect(file.headers.get('x-content-type-options')).toBe('nosniff');
      const other = await visit(server, `${asset}x`);
      expect(other.headers.get('cache-control')).toBe('no-cache');
    }
    const head = await visit(server, path, { cookie, method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
  });

  test('leads to the application with a code, as often as it is allowed', async () => {
    const linking = await linkingApplication(server);
    const page = await openConsent(server, linking);
    const both = await Promise.all([answer(page, 'allow'), answer(page, 'allow')]);
    const [first, second] = both.map(({ headers }) => headers.get('location') ?? '');
    expect(second).toBe(first);
    for (const { status, headers } of both) {
      expect(status).toBe(303);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.getSetCookie()).toEqual([expect.stringMatching(/; Max-Age=300$/)]);
    }
    const { code, ...rest } = addedTo(`${CALLBACK}&`, first ?? '');
    expect(rest).toEqual({ state: linking.request.state, iss: PUBLIC_URL });

    const redemption = { code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
    const grant = await succeed(server, 'grants.convert', redemption, linking.bearer);
    expect(grant.account.id).toBe(linking.account_id);
    await expectErrorPage(await answer(page, 'allow'), 'link_decided', {
      operation: 'admin.links.approve',
      by: 'user',
    });
    await expectErrorPage(await answer(page, 'deny'), 'link_decided', {
      operation: 'admin.links.deny',
    });
  });

  test('leads to the application with a denial, as often as it is denied', async () => {
    const page = await openConsent(server, await linkingApplication(server));
    for (const response of [await answer(page, 'deny'), await answer(page, 'deny')]) {
      const added = addedTo(`${CALLBACK}&`, response.headers.get('location') ?? '');
      expect(added).toMatchObject({ error: 'access_denied', error_code: 'access_denied' });
      expect(added.request_id).toBe(response.headers.get('x-request-id'));
    }
    await expectErrorPage(await answer(page, 'allow'), 'link_decided');
  });

  test('leads back to the sign-in page for another account', async () => {
    const linking = await linkingApplication(server);
    const page = await openConsent(server, linking);
    // A second click on a slow line asks once more.
    const former = await answer(page, 'switch');
    const { headers, status } = await answer(page, 'switch');
    expect([former.status, status]).toEqual([303, 303]);
    expect(former.headers.get('location')).not.toBe(headers.get('location'));
    const { link, ...rest } = addedTo(`${SIGN_IN_URL}&`, headers.get('location') ?? '');
    expect(rest).toEqual({ prompt: 'select_account' });
    expect(link).not.toBe(page.link);
    // The page asks about the former account, until the host names another one.
    const url = await identify(server, link, linking);
    for (const decision of ['allow', 'deny', 'switch']) {
      await expectErrorPage(await answer(page, decision), 'page_expired', {
        reason: 'page_superseded',
        account_id: linking.account_id,
      });
    }
    expect((await answer(await open(server, url), 'allow')).status).toBe(303);
  });

  test('leads back to the application once it has expired', async () => {
    const linking = await linkingApplication(server, { homepage_uri: 'https://acme.example/' });
    const page = await openConsent(server, linking);
    server.advance(3_600_000);
    for (const response of [
      await visit(server, page.path, page),
      await answer(page, 'allow'),
      await answer(page, 'deny'),
      await answer(page, 'switch'),
    ]) {
      await expectErrorPage(response, 'link_expired', { by: 'user' });
      const [, href = ''] = /<a [^>]*href="([^"]+)" rel="noreferrer">/.exec(response.text) ?? [];
      const added = addedTo(`${CALLBACK}&`, href.replaceAll('&amp;', '&'));
      expect(added).toMatchObject({ error: 'access_denied', state: linking.request.state });
    }
    server.advance(LINKS_KEPT - 1);
    await expectErrorPage(await visit(server, page.path, page), 'link_expired');
    server.advance(1);
    await expectErrorPage(await visit(server, page.path, page), 'page_expired');
  });

  test('leads to the host where it knows no other way back', async () => {
    const home =
      'href="https://host.example/home" rel="noreferrer">Back to <bdi>host.example</bdi>';
    const page = await openConsent(server, await linkingApplication(server));
    for (const response of [
      await visit(server, '/link/nobody'),
      await visit(server, '/oauth/authorize'),
      await answer(page, 'perhaps'),
    ]) {
      expect(response.text).toContain(home);
    }
  });

  test('shows the way to the homepage of an application after a mistake', async () => {
    const linking = await linkingApplication(server, { homepage_uri: 'https://acme.example/' });
    const page = await openConsent(server, linking);
    const response = await answer(page, 'perhaps');
    await expectErrorPage(response, 'parameter_invalid', { operation: 'pages.open', by: 'user' });
    expect(response.text).toContain('href="https://acme.example/" rel="noreferrer"');
    expect(response.headers.get('content-security-policy')).toMatch(/; form-action 'self'$/);
  });

  describe('checks a form in this order:', () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const wrong = { ...form, 'sec-fetch-site': 'cross-site' };
    const cases: [
      string,
      (page: OpenPage) => Parameters<typeof visit>[2],
      ErrorCode,
      string | null,
    ][] = [
      [
        'the cookie',
        () => ({ body: 'x', headers: { 'content-type': 'a/b' } }),
        'page_expired',
        'page_cookie_missing',
      ],
      [
        'the media type',
        ({ cookie }) => ({
          cookie,
          body: 'x'.repeat(17_000),
          headers: { ...wrong, 'content-type': 'text/plain' },
        }),
        'media_type_unsupported',
        null,
      ],
      [
        'the size',
        ({ cookie }) => ({ cookie, body: 'x'.repeat(17_000), headers: wrong }),
        'body_too_large',
        null,
      ],
      [
        'Sec-Fetch-Site',
        ({ cookie }) => ({ cookie, body: 'form_token=%', headers: wrong }),
        'form_rejected',
        'form_of_another_site',
      ],
      [
        'a sibling site',
        ({ cookie, form_token }) => ({
          cookie,
          body: `form_token=${form_token}&decision=allow`,
          headers: { ...form, 'sec-fetch-site': 'same-site' },
        }),
        'form_rejected',
        'form_of_another_site',
      ],
      [
        'the Origin',
        ({ cookie, form_token }) => ({
          cookie,
          body: `form_token=${form_token}`,
          headers: { ...form, origin: 'https://link.example.evil' },
        }),
        'form_rejected',
        'form_of_another_origin',
      ],
      [
        'the encoding',
        ({ cookie }) => ({ cookie, body: 'form_token=%', headers: form }),
        'body_malformed',
        null,
      ],
      [
        'the form token',
        ({ cookie }) => ({ cookie, form: {} }),
        'form_rejected',
        'form_token_missing',
      ],
      [
        'its value',
        ({ cookie, form_token }) => ({
          cookie,
          form: { form_token: `${form_token.slice(0, -1)}.` },
        }),
        'form_rejected',
        'form_token_wrong',
      ],
      [
        'that there is one',
        ({ cookie, form_token }) => ({
          cookie,
          headers: form,
          body: `form_token=${form_token}&form_token=${form_token}&decision=allow`,
        }),
        'form_rejected',
        'form_token_wrong',
      ],
      [
        'the decision',
        ({ cookie, form_token }) => ({ cookie, form: { form_token } }),
        'parameter_invalid',
        null,
      ],
      [
        'its value',
        ({ cookie, form_token }) => ({ cookie, form: { form_token, decision: 'toString' } }),
        'parameter_invalid',
        null,
      ],
      [
        'that there is one',
        ({ cookie, form_token }) => ({
          cookie,
          headers: form,
          body: `form_token=${form_token}&decision=deny&decision=allow`,
        }),
        'parameter_invalid',
        null,
      ],
    ];
    test.each(cases)('%s', async (_, request, error_code, reason) => {
      const linking = await linkingApplication(server);
      const page = await openConsent(server, linking);
      const response = await visit(server, page.path, { method: 'POST', ...request(page) });
      await expectErrorPage(response, error_code, { operation: 'pages.open', reason });
      const again = `href="/base${page.path}">Open the page again</a>`;
      expect(response.text.includes(again)).toBe(error_code === 'form_rejected');
      // Nothing was decided.
      const { link } = page;
      const { status } = await succeed(server, 'admin.links.read', { link }, operator);
      expect(status).toBe('identified');
    });

    test('a form of ours passes', async () => {
      const linking = await linkingApplication(server);
      for (const headers of [
        { 'sec-fetch-site': 'same-origin', origin: 'https://link.example' },
        { origin: 'null' },
      ]) {
        const page = await openConsent(server, linking);
        expect((await answer(page, 'allow', headers)).status).toBe(303);
      }
    });
  });

  test('tells nobody why a page is not open', async () => {
    const linking = await linkingApplication(server, { homepage_uri: 'https://acme.example/' });
    const other = await linkingApplication(server);
    const page = await openConsent(server, linking);
    const elsewhere = await openConsent(server, other);
    const superseded = await openConsent(server, linking, { ui_locales: 'de' });
    await identify(server, superseded.link, { ...linking, locale: 'de' });
    const erased = await openConsent(server, other);
    await succeed(server, 'admin.accounts.erase', { account_id: other.account_id }, operator);
    const session = page.cookie.split('=')[1];
    const [name] = elsewhere.cookie.split('=');
    const responses = [
      await visit(server, `/link/${randomUUID()}`),
      await visit(server, '/link/nobody'),
      await visit(server, `/link/%0d%0aSet-Cookie:%20a=b`),
      await visit(server, page.path),
      await visit(server, page.path, { cookie: `${page.cookie}x` }),
      await visit(server, elsewhere.path, { cookie: `${name}=${session}` }),
      await visit(server, superseded.path, superseded),
      await visit(server, erased.path, erased),
      await visit(server, `${page.path}?ticket=lk_ticket_x`),
      await visit(server, `${page.path}?${pathOf(page.url).split('?')[1]}&ticket=x`),
      await visit(server, `${elsewhere.path}?${pathOf(page.url).split('?')[1]}`),
    ];
    const { application_id } = linking;
    await succeed(server, 'admin.applications.disable', { application_id }, operator);
    responses.push(await visit(server, page.path, page));
    responses.push(await answer(page, 'allow'));
    const pages = responses.map(({ status, headers, text }) => {
      const request_id = headers.get('x-request-id') as string;
      return `${status} ${text.replaceAll(request_id, 'REQUEST_ID')}`;
    });
    expect(new Set(pages).size).toBe(1);
    expect(pages[0]).toMatch(/^410 .*<dd>page_expired<\/dd>/s);
  });

  test('is over for an answer whose last byte arrives after the application is disabled', async () => {
    const homepage_uri = 'https://acme.example/';
    const linking = await linkingApplication(server, { homepage_uri });
    const { path, cookie, form_token } = await openConsent(server, linking);
    const body = `form_token=${form_token}&decision=allow`;
    const connection = new RawConnection(server);
    connection.request([
      `POST ${path} HTTP/1.1`,
      'Host: x',
      'Expect: 100-continue',
      `Cookie: ${cookie}`,
      'Content-Type: application/x-www-form-urlencoded',
      `Content-Length: ${body.length}`,
    ]);
    expect((await connection.response()).status).toBe(100);
    const { application_id } = linking;
    await succeed(server, 'admin.applications.disable', { application_id }, operator);
    connection.socket.write(body);
    const { status, body: page } = await connection.response();
    connection.end();
    expect([status, page.includes('page_expired')]).toEqual([410, true]);
    // Like every page of this kind, it does not tell what it was about.
    expect(page).not.toContain(homepage_uri);
  });

  test('is in the first language that there is', async () => {
    const linking = await linkingApplication(server);
    const languageOf = async (
      locale: string | undefined,
      ui_locales: string | undefined,
      accept: string,
    ) => {
      const { link } = await linking.begin({ ui_locales });
      const { account_id } = linking;
      const url = await identify(server, link, { account_id, ...(locale && { locale }) });
      const { path, cookie } = await open(server, url);
      const headers = { 'accept-language': accept };
      const { text } = await visit(server, path, { cookie, headers });
      const scope = text.includes('<li lang="de"><p class="name"><bdi>Ihre Beiträge')
        ? 'de'
        : 'plain';
      return [/<html lang="(\w+)"/.exec(text)?.[1], scope];
    };
    expect(await languageOf(undefined, undefined, '')).toEqual(['en', 'plain']);
    expect(await languageOf(undefined, undefined, 'fr, de-CH;q=0.8, en;q=0.7')).toEqual([
      'de',
      'de',
    ]);
    expect(await languageOf(undefined, 'fr de', 'en')).toEqual(['de', 'de']);
    expect(await languageOf('en', undefined, 'fr')).toEqual(['en', 'plain']);
    const error = await visit(server, '/link/nobody', { headers: { 'accept-language': 'de' } });
    expect(error.text).toContain('Diese Seite ist abgelaufen');
    const begun = await visit(server, '/oauth/authorize?ui_locales=nl%20de-AT');
    expect(begun.text).toContain('Diese Anwendung ist hier nicht bekannt');
  });

  test('of one link leaves that of another alone', async () => {
    const linking = await linkingApplication(server);
    const one = await openConsent(server, linking);
    const other = await openConsent(server, linking);
    const cookie = `${one.cookie}; ${other.cookie}`;
    expect((await answer({ ...one, cookie, form_token: other.form_token }, 'allow')).status).toBe(
      403,
    );
    const codes = [];
    for (const page of [one, other]) {
      const { headers } = await answer({ ...page, cookie }, 'allow');
      codes.push(addedTo(`${CALLBACK}&`, headers.get('location') ?? '').code);
    }
    expect(new Set(codes).size).toBe(2);
  });

  test('is in the audit, with what the user did there', async () => {
    const linking = await linkingApplication(server);
    const page = await openConsent(server, linking);
    const before = server.lines.length;
    await answer(page, 'switch');
    const second = await openConsent(server, linking);
    await answer(second, 'allow');
    await visit(server, '/link/nobody');
    const lines = server.lines.slice(before).map((line) => JSON.parse(line));
    const audited = lines.filter(({ msg, by }) => msg === 'audit' && by !== 'operator');
    expect(audited.map(({ action, by, result }) => [action, by, result])).toEqual([
      ['links.switch', 'user', 'done'],
      ['links.begin', 'user', 'done'],
      ['pages.open', 'user', 'done'],
      ['pages.open', 'user', 'done'],
      ['admin.links.approve', 'user', 'done'],
      ['pages.open', null, 'page_expired'],
    ]);
    const approval = audited.find(({ action }) => action === 'admin.links.approve');
    expect(approval).toMatchObject({
      link_id: second.link_id,
      application_id: linking.application_id,
      account_id: linking.account_id,
      grant_id: expect.any(String),
    });
    const text = server.lines.join('');
    for (const secret of [page.form_token, page.cookie.split('=')[1] ?? '', 'lk_ticket_']) {
      expect(text).not.toContain(secret);
    }
  });
});

describe('wrong tickets and forms', () => {
  const server = useServer(sqliteDatabase, {
    ...LINKING,
    RATE_LIMIT: 'authentications=3/60',
  });

  test('count against their address, and what is right passes', async () => {
    const linking = await linkingApplication(server);
    const page = await openConsent(server, linking);
    const { path, cookie } = page;
    const wrong = () =>
      visit(server, path, { cookie, form: { form_token: 'x', decision: 'allow' } });
    expect((await wrong()).status).toBe(403);
    expect((await visit(server, `${path}?ticket=x`)).status).toBe(410);
    expect((await visit(server, path, { cookie: `${cookie}x` })).status).toBe(410);
    for (const limited of [await wrong(), await visit(server, `${path}?ticket=x`)]) {
      expect(limited.status).toBe(429);
      expect(limited.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(limited.text).toContain('Too many attempts');
    }
    // Without a cookie, nobody has guessed anything.
    expect((await visit(server, path)).status).toBe(410);
    const { text } = await visit(server, path, { cookie });
    const form = { form_token: formTokenIn(text), decision: 'allow' };
    expect((await visit(server, path, { cookie, form })).status).toBe(303);
  });
});

describe('with the flow off', () => {
  const server = useServer(sqliteDatabase);

  test.each([
    '/link/0193aa00-0000-7000-8000-000000000001',
    '/connections',
    '/connections/0193aa00-0000-7000-8000-000000000001',
    '/link/assets/page.css',
  ])('there is no %s', async (path) => {
    const { status, text } = await visit(server, path);
    expect([status, JSON.parse(text).error_code]).toEqual([404, 'route_not_found']);
    const page = await visit(server, path, { headers: { accept: 'text/html' } });
    expect([page.status, page.text]).toEqual([404, expect.stringMatching(/^<!doctype html>/)]);
  });
});
