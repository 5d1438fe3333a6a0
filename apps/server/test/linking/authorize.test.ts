import { randomUUID } from 'node:crypto';
import { DomainError } from '@latchkey/domain/domain-error';
import { errorDefinition } from '@latchkey/schema';
import { describe, expect, test } from 'vitest';
import { invoke, send, succeed } from '../http/call.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { refusalsOf } from '../http/refusals-of.ts';
import { operator, useServer } from '../http/running-server.ts';
import {
  addedTo,
  authorize,
  CALLBACK,
  CHALLENGE,
  type Changes,
  LINKING,
  linkingApplication,
  PUBLIC_URL,
  SIGN_IN_URL,
} from './link-flow.ts';
import { visit } from './page-flow.ts';

const LOCALHOST = 'http://localhost:8080/cb';

describeOnAnyStore('GET /oauth/authorize', (fresh) => {
  const server = useServer(fresh, LINKING);

  test('keeps a link request and leads to the sign-in page', async () => {
    const { request } = await linkingApplication(server);
    const hints = { login_hint: 'ada@example.com', ui_locales: 'de-AT en' };
    const ignored = { prompt: 'none', nonce: 'n', resource: 'https://x.example', request: 'r' };
    const { status, headers, text } = await authorize(server, { ...request, ...hints, ...ignored });
    expect([status, text]).toEqual([303, '']);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.has('set-cookie')).toBe(false);
    const { link, ...rest } = addedTo(`${SIGN_IN_URL}&`, headers.get('location') ?? '');
    expect(link).toMatch(/^lk_link_[0-9A-Za-z]{71}$/);
    expect(rest).toEqual(hints);

    const kept = await succeed(server, 'admin.links.read', { link }, operator);
    expect(kept).toMatchObject({ status: 'open', scope: request.scope, ...hints });
    expect(kept).toMatchObject({ account_id: null, grant_id: null, redirect_host: 'app.example' });
    expect(Date.parse(kept.expires_at) - Date.parse(kept.created_at)).toBe(3_600_000);
  });

  test('answers HEAD as GET', async () => {
    const { request } = await linkingApplication(server);
    const { status, headers } = await authorize(server, request, { method: 'HEAD' });
    expect(status).toBe(303);
    expect(headers.get('location')).toContain('link=lk_link_');
  });

  test.each(['POST', 'PUT', 'DELETE'])('does not support %s', async (method) => {
    const { status, headers, json } = await authorize(server, {}, { method });
    expect([status, json.error_code]).toEqual([405, 'method_not_allowed']);
    expect(headers.get('allow')).toBe('GET, HEAD');
  });

  /** A page without a Location, whose request id `explain` knows. */
  async function expectPage(
    parameters: Changes,
    [error_code, reason]: readonly [string, string | null],
    headers?: Record<string, string>,
  ): Promise<string> {
    const response = await authorize(server, parameters, { ...(headers && { headers }) });
    const request_id = response.headers.get('x-request-id') as string;
    expect(response.status).toBe(errorDefinition(error_code as 'state_invalid').status);
    expect(response.headers.get('content-type')).toBe('text/html; charset=UTF-8');
    expect(response.headers.has('location')).toBe(false);
    expect(response.text).toContain(error_code);
    expect(response.text).toContain(request_id);
    await expectExplained(request_id, { error_code, reason });
    return response.text.replaceAll(request_id, 'REQUEST_ID');
  }

  async function expectExplained(request_id: string, refusal: object): Promise<void> {
    await server.service.audit.flush();
    const [explained] = await refusalsOf(server.service, request_id);
    expect(explained).toMatchObject({ operation: 'links.begin', by: null, ...refusal });
  }

  test('tells nobody why a client is unknown, but the operator', async () => {
    const { application_id, request } = await linkingApplication(server);
    const { application_id: disabled } = await linkingApplication(server);
    await succeed(server, 'admin.applications.disable', { application_id: disabled }, operator);
    const cases: [Changes[string], string][] = [
      [undefined, 'client_id_missing'],
      ['', 'client_id_missing'],
      [[application_id, application_id], 'client_id_repeated'],
      ['acme', 'client_id_ill_formed'],
      [randomUUID(), 'client_not_found'],
      [disabled, 'client_disabled'],
    ];
    const pages = new Set<string>();
    for (const [client_id, reason] of cases) {
      const page = await expectPage({ ...request, client_id }, ['client_unknown', reason]);
      // What was sent is on it, and nothing else differs.
      pages.add(
        page.replace(
          /<div class="notes quiet">\n<p>[^<]*<\/p>\n<p class="address">.*?<\/div>/s,
          '',
        ),
      );
    }
    expect(pages.size).toBe(1);
    const { status } = await authorize(server, {
      ...request,
      client_id: [application_id.toUpperCase(), ''],
    });
    expect(status).toBe(303);
  });

  test.each([
    ['0193aa00-0000-7000-8000-00000000dead', '0193aa00-0000-7000-8000-00000000dead'],
    ['https://acme.example/oauth.json', 'https://acme.example/oauth.json'],
    ['https://acme.example/oauth.json?a=b', null],
    ['Call 0900 now', null],
    [['acme', 'other'], null],
    [undefined, null],
  ])('shows the developers of an application its unknown client_id: %j', async (...one) => {
    const [client_id, shown] = one;
    const { request } = await linkingApplication(server);
    const { text } = await authorize(server, { ...request, client_id });
    const [, address = null] = /<p class="address"><bdi>(.*?)<\/bdi><\/p>/.exec(text) ?? [];
    expect(address).toBe(shown);
    expect(text).toContain('<a href="/base/docs/errors#client_unknown">client_unknown</a>');
  });

  test('shows a page to a person whose path does not exist', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml;q=0.9', 'accept-language': 'de' };
    const { status, text } = await visit(server, '/link', { headers });
    expect([status, text]).toEqual([
      404,
      expect.stringContaining('Diese Seite gibt es nicht</h1>'),
    ]);
    for (const program of [{}, { headers, method: 'POST' }]) {
      const answer = JSON.parse((await visit(server, '/link', program)).text);
      expect(answer.error_code).toBe('route_not_found');
    }
  });

  test('redirects nobody to an address that is not registered', async () => {
    const { request } = await linkingApplication(server, { redirect_uris: [CALLBACK, LOCALHOST] });
    const refused: [Changes[string], string][] = [
      [undefined, 'redirect_uri_omitted'],
      [[CALLBACK, CALLBACK], 'redirect_uri_repeated'],
      [`${CALLBACK}/`, 'redirect_uri_other'],
      [CALLBACK.toUpperCase(), 'redirect_uri_other'],
      ['http://127.0.0.1:8080/cb', 'redirect_uri_other'],
      ['http://localhost:123456/cb', 'redirect_uri_other'],
    ];
    for (const [redirect_uri, reason] of refused) {
      await expectPage({ ...request, redirect_uri }, ['redirect_uri_unregistered', reason]);
    }
    for (const redirect_uri of [LOCALHOST, 'http://localhost/cb', 'http://localhost:65535/cb']) {
      expect((await authorize(server, { ...request, redirect_uri })).status).toBe(303);
    }
    const single = await linkingApplication(server);
    expect((await authorize(server, { ...single.request, redirect_uri: '' })).status).toBe(303);
    const none = await linkingApplication(server, { redirect_uris: [] });
    const omitted = { ...none.request, redirect_uri: undefined };
    await expectPage(omitted, ['redirect_uri_unregistered', 'redirect_uri_omitted']);
  });

  test('takes a loopback port that no browser does, and the host can read and deny it', async () => {
    const { request } = await linkingApplication(server, { redirect_uris: [LOCALHOST] });
    const redirect_uri = 'http://localhost:99999/cb';
    const { headers } = await authorize(server, { ...request, redirect_uri });
    const link = new URL(headers.get('location') ?? '').searchParams.get('link') ?? '';
    const read = await succeed(server, 'admin.links.read', { link }, operator);
    expect(read).toMatchObject({ redirect_host: 'localhost', redirect_kind: 'loopback' });
    const denied = await succeed(server, 'admin.links.deny', { link }, operator);
    expect(denied.redirect_to).toMatch(/^http:\/\/localhost:99999\/cb\?error=access_denied&/);
  });

  test('shows the way to the homepage of the application that it redirects nobody to', async () => {
    const homepage_uri = 'https://acme.example/';
    const { request } = await linkingApplication(server, { homepage_uri });
    for (const mistake of [{ redirect_uri: 'https://evil.example/' }, { state: 'é' }]) {
      const { text } = await authorize(server, { ...request, ...mistake });
      expect(text).toContain(`href="${homepage_uri}" rel="noreferrer"`);
    }
  });

  test.each([
    ['https://evil.example/cb?a=(1)&b=%20~', 'https://evil.example/cb?a=(1)&amp;b=%20~'],
    [`https://evil.example/${'x'.repeat(300)}`, `https://evil.example/${'x'.repeat(300)}`],
    // Cut, it would hide whose host it is.
    [`https://good.example.${'x.'.repeat(240)}evil.example/`, null],
    ['https://evil.example/é', null],
    ['https://evil.example/<b>', null],
    ['https://evil.example/ x', null],
    [['https://evil.example/1', 'https://evil.example/2'], null],
    ['', null],
  ])('shows the developers of an application the address that was refused: %j', async (...one) => {
    const [redirect_uri, shown] = one;
    const redirect_uris = ['https://app.example/1', 'https://app.example/2'];
    const { request } = await linkingApplication(server, { redirect_uris });
    const { text } = await authorize(server, { ...request, redirect_uri });
    expect(text).toContain('redirect_uri_unregistered');
    const [, address = null] = /<p class="address"><bdi>(.*?)<\/bdi><\/p>/.exec(text) ?? [];
    expect(address).toBe(shown);
    // Nobody follows it by a click.
    expect(text).not.toMatch(/href="[^"]*evil/);
    expect(text.includes('For the developers of the application')).toBe(shown !== null);
  });

  test('redirects nobody with a state that it could not return', async () => {
    const { request } = await linkingApplication(server);
    const refused: [Changes[string], string][] = [
      [['one', 'two'], 'state_repeated'],
      ['x'.repeat(2_049), 'state_ill_formed'],
      ['line\r\nSet-Cookie: a=b', 'state_ill_formed'],
      ['ü', 'state_ill_formed'],
    ];
    for (const [state, reason] of refused) {
      await expectPage({ ...request, state }, ['state_invalid', reason]);
    }
    expect((await authorize(server, { ...request, state: 'x'.repeat(2_048) })).status).toBe(303);
  });

  /** Each case breaks a later check too, so that the order shows. */
  const unscoped = { scope: undefined };
  const unchallenged = { code_challenge: undefined, code_challenge_method: undefined };
  const redirected: [string, Changes, string, string | null, string?][] = [
    [
      'no response type',
      { response_type: '', response_mode: 'form_post' },
      'parameter_invalid',
      null,
      'response_type: Must be code.',
    ],
    [
      'two response types',
      { response_type: ['code', 'code'], ...unscoped },
      'parameter_invalid',
      null,
      'response_type: Must be given only once.',
    ],
    [
      'an unknown response type',
      { response_type: 'token', response_mode: 'fragment' },
      'response_type_unsupported',
      null,
    ],
    [
      'an unknown response mode',
      { response_mode: 'fragment', ...unscoped },
      'parameter_invalid',
      null,
      'response_mode: Must be query, or left out.',
    ],
    [
      'two scopes',
      { scope: ['profile.read', 'posts.read'], ...unchallenged, state: undefined },
      'parameter_invalid',
      null,
      'scope: Must be given only once.',
    ],
    [
      'two challenges',
      { code_challenge: [CHALLENGE, CHALLENGE], ...unscoped },
      'parameter_invalid',
      null,
      'code_challenge: Must be given only once.',
    ],
    [
      'a short challenge',
      { code_challenge: CHALLENGE.slice(1), ...unscoped },
      'parameter_invalid',
      null,
    ],
    [
      'a padded challenge',
      { code_challenge: `${CHALLENGE}=`, ...unscoped },
      'parameter_invalid',
      null,
    ],
    [
      'a plain challenge',
      { code_challenge_method: 'plain', ...unscoped },
      'parameter_invalid',
      null,
      'code_challenge_method: Must be S256.',
    ],
    [
      'a challenge without method',
      { code_challenge_method: undefined, ...unscoped },
      'parameter_invalid',
      null,
      'code_challenge_method: Must be S256.',
    ],
    [
      'a method without challenge',
      { code_challenge: undefined, ...unscoped },
      'parameter_invalid',
      null,
    ],
    [
      'neither challenge nor state',
      { ...unchallenged, state: undefined, ...unscoped },
      'challenge_required',
      'challenge_or_state',
    ],
    ['no scope', unscoped, 'scope_unknown', 'scope_missing'],
    [
      'an ill-formed scope',
      { scope: 'profile.read  posts.read' },
      'scope_unknown',
      'scope_ill_formed',
    ],
    [
      'a repeated scope',
      { scope: 'profile.read profile.read' },
      'scope_unknown',
      'scope_ill_formed',
    ],
    [
      'a scope that is not described',
      { scope: 'profile.read admin' },
      'scope_unknown',
      'scope_undescribed',
    ],
  ];
  test.each(redirected)(
    'tells the application about %s',
    async (_, changes, error_code, reason, description) => {
      const { request } = await linkingApplication(server);
      const response = await authorize(server, { ...request, ...changes });
      expect([response.status, response.text]).toEqual([303, '']);
      expect(response.headers.get('referrer-policy')).toBe('no-referrer');
      const added = addedTo(`${CALLBACK}&`, response.headers.get('location') ?? '');
      const definition = errorDefinition(error_code as 'scope_unknown');
      expect(`${new URLSearchParams(added.error_description)}`.length).toBeLessThanOrEqual(400);
      const state = 'state' in changes ? {} : { state: request.state };
      expect(added).toEqual({
        error: definition.error,
        error_description:
          description === undefined
            ? expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
            : `${description} Send the parameter as this message says.`,
        error_code,
        error_uri: `${PUBLIC_URL}/docs/errors#${error_code}`,
        request_id: response.headers.get('x-request-id'),
        ...state,
        iss: PUBLIC_URL,
      });
      await expectExplained(added.request_id, { error_code, reason });
    },
  );

  test('asks a public application for a challenge, and every one for its own scopes', async () => {
    const native = await linkingApplication(server, { public: true, scopes: ['profile.read'] });
    const location = async (changes: Changes) => {
      const { headers } = await authorize(server, { ...native.request, ...changes });
      return new URL(headers.get('location') ?? '').searchParams.get('error_code');
    };
    expect(await location({ ...unchallenged })).toBe('challenge_required');
    expect(await location({})).toBe('scope_unknown');
    expect(await location({ scope: 'profile.read' })).toBeNull();
  });

  test.each([
    ['nothing', undefined],
    ['a scope without value', ''],
    ['spaces', '  '],
  ])('asks for the default where a request names %s, as far as it can', async (_, scope) => {
    const default_scopes = ['posts.read', 'nobody.knows', 'profile.read'];
    const app = await linkingApplication(server, { default_scopes });
    const asked = async () => {
      const { link } = await app.begin({ scope });
      return (await succeed(server, 'admin.links.read', { link }, operator)).scope;
    };
    expect(await asked()).toBe('posts.read profile.read');
    const { application_id } = app;
    const own = { application_id, scopes: ['profile.read', 'nobody.knows'] };
    await succeed(server, 'admin.applications.update', own, operator);
    expect(await asked()).toBe('profile.read');
  });

  test('takes a request without state if it has a challenge, and the other way round', async () => {
    const { request } = await linkingApplication(server);
    for (const changes of [{ state: undefined }, unchallenged]) {
      const { headers } = await authorize(server, { ...request, ...changes });
      expect(headers.get('location')).toContain('link=lk_link_');
    }
  });

  test('ignores hints that are not well formed', async () => {
    const { request } = await linkingApplication(server);
    const hints = { login_hint: 'x'.repeat(201), ui_locales: 'de\nen' };
    const { headers } = await authorize(server, { ...request, ...hints });
    const added = addedTo(`${SIGN_IN_URL}&`, headers.get('location') ?? '');
    expect(Object.keys(added)).toEqual(['link']);
  });

  test.each([
    ['com.example.app:/callback', 'com.example.app'],
    ['cursor://app.example/callback', 'cursor'],
  ])(
    'leads to an application of the machine itself by its own scheme: %s',
    async (scheme, redirect_host) => {
      const app = await linkingApplication(server, { redirect_uris: [scheme] });
      const { headers } = await authorize(server, {
        ...app.request,
        redirect_uri: scheme,
        scope: 'no',
      });
      expect(addedTo(`${scheme}?`, headers.get('location') ?? '').error_code).toBe('scope_unknown');
      const { link } = await app.begin({ redirect_uri: scheme });
      const kept = await succeed(server, 'admin.links.read', { link }, operator);
      expect(kept).toMatchObject({ redirect_host, redirect_kind: 'app' });
    },
  );

  // Whoever asks has shown no credential, and the texts may be a few megabytes.
  test('reads no texts of scopes, and neither does the metadata', async () => {
    const { request } = await linkingApplication(server);
    const { store } = server.service;
    const { listScopes } = store;
    store.listScopes = () => Promise.reject(new DomainError('store_unavailable'));
    try {
      const { headers } = await authorize(server, request);
      expect(headers.get('location')).toContain('link=lk_link_');
      for (const metadata of ['oauth-authorization-server', 'oauth-protected-resource/v1']) {
        const path = `/.well-known/${metadata}`;
        const { json } = await send(server, { method: 'GET', path });
        expect(json.scopes_supported).toEqual(['posts.read', 'profile.read']);
      }
    } finally {
      store.listScopes = listScopes;
    }
  });

  test('shows a page if the store does not respond', async () => {
    const { request } = await linkingApplication(server);
    const { store } = server.service;
    const { createLink } = store;
    store.createLink = () => Promise.reject(new DomainError('store_unavailable'));
    try {
      await expectPage(request, ['store_unavailable', null]);
    } finally {
      store.createLink = createLink;
    }
  });
});

describeOnAnyStore('the limit on all link requests together', (fresh) => {
  const settings = { RATE_LIMIT: 'links=100/60,links_total=10/60', TRUST_PROXY: 'true' };
  const server = useServer(fresh, { ...LINKING, ...settings });

  test('keeps a fifth for the addresses that had a link approved within a day', async () => {
    const { request, account_id } = await linkingApplication(server);
    let strangers = 0;
    const from = (address = `198.51.100.${strangers++}`) =>
      authorize(server, request, { headers: { 'x-forwarded-for': address } });
    const known = '192.0.2.1';
    const statuses = async (count: number, address?: string) => {
      const all: number[] = [];
      for (let sent = 0; sent < count; sent++) all.push((await from(address)).status);
      return all.map((status) => (status === 303 ? '.' : status)).join('');
    };

    const begun = await from(known);
    const { link } = addedTo(`${SIGN_IN_URL}&`, begun.headers.get('location') ?? '');
    await succeed(server, 'admin.links.approve', { link, account_id }, operator);
    // The first of the known address came before its approval.
    expect(await statuses(8)).toBe('.......429');
    const refused = await from();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    await server.service.audit.flush();
    const id = refused.headers.get('x-request-id') ?? '';
    const [explained] = await refusalsOf(server.service, id);
    expect(explained).toMatchObject({ reason: 'too_many_links_together' });
    expect(await statuses(3, known)).toBe('..429');

    server.advance(86_340_000);
    expect(await statuses(9)).toBe('........429');
    expect(await statuses(1, known)).toBe('.');
    server.advance(60_000);
    expect(await statuses(9)).toBe('........429');
    expect(await statuses(1, known)).toBe('429');
  });
});

describeOnAnyStore('the limit on link requests', (fresh) => {
  const server = useServer(fresh, { ...LINKING, RATE_LIMIT: 'links=3/60', TRUST_PROXY: 'true' });

  test('counts those that are kept, by address', async () => {
    const { request } = await linkingApplication(server);
    const from = (address: string, changes: Changes = {}) =>
      authorize(server, { ...request, ...changes }, { headers: { 'x-forwarded-for': address } });
    for (let sent = 0; sent < 5; sent++) {
      const image = { 'x-forwarded-for': '192.0.2.1', 'sec-fetch-dest': 'image' };
      expect((await authorize(server, request, { headers: image })).status).toBe(400);
      expect((await from('192.0.2.1', { scope: 'unknown' })).status).toBe(303);
      expect((await from('192.0.2.1', { client_id: 'unknown' })).status).toBe(400);
    }
    const { store } = server.service;
    const { createLink } = store;
    store.createLink = () => Promise.reject(new DomainError('store_unavailable'));
    for (let sent = 0; sent < 5; sent++) expect((await from('192.0.2.1')).status).toBe(503);
    store.createLink = createLink;
    for (let sent = 0; sent < 3; sent++) expect((await from('192.0.2.1')).status).toBe(303);
    // The limit comes before everything else.
    const { status, headers, text } = await from('192.0.2.1', { client_id: 'unknown' });
    expect([status, headers.get('retry-after')]).toEqual([429, '60']);
    expect(headers.get('content-type')).toBe('text/html; charset=UTF-8');
    expect(text).toContain('rate_limited');
    expect((await from('192.0.2.2')).status).toBe(303);
    server.advance(60_000);
    expect((await from('192.0.2.1')).status).toBe(303);
  });
});

describe('without SIGN_IN_URL', () => {
  describeOnAnyStore('the linking flow', (fresh) => {
    const server = useServer(fresh);

    test('is not there, but what serves other codes is', async () => {
      const { status, json } = await send(server, { method: 'GET', path: '/oauth/authorize' });
      expect([status, json.error_code]).toEqual([404, 'route_not_found']);
      for (const wire of ['REST', 'tRPC'] as const) {
        const link = { link: 'lk_link_x' };
        const read = await invoke(server, wire, 'admin.links.read', link, operator);
        expect([read.status, read.body.error_code]).toEqual([404, 'route_not_found']);
        const scopes = await invoke(server, wire, 'admin.scopes.list', {}, operator);
        expect(scopes.status).toBe(200);
      }
    });
  });
});
