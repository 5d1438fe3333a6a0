import type { Reason } from '@latchkey/domain/reasons';
import { objects } from '@latchkey/schema';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Json, preflight, send as sendAny, succeed } from '../http/call.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { postForm } from '../http/forms.ts';
import { refusalsOf } from '../http/refusals-of.ts';
import { operator, startTestServer, type TestServer, useServer } from '../http/running-server.ts';
import {
  authorize,
  CHALLENGE,
  type Changes,
  LINKING,
  linkingApplication,
  PUBLIC_URL,
} from '../linking/link-flow.ts';
import { open, visit } from '../linking/page-flow.ts';
import { OF_STRANGERS, redeem, STRANGER, toThisMachine } from './document-flow.ts';
import { publish, useWorld } from './document-server.ts';
import { signed, unsigned } from './signing-client.ts';

const world = useWorld();

const CURSOR = 'cursor://anysphere.cursor-mcp/oauth/callback';
const CURSOR_WEB = 'https://www.cursor.com/agents/mcp/oauth/callback';
const LOOPBACK = 'http://localhost:8787/callback';

const SETTINGS = { ...LINKING, PAGE_NAME: 'Example Shop', CLIENT_REGISTRATION: 'www.cursor.com' };

type Server = { url: string };

const send = (server: Server, request: Partial<Parameters<typeof sendAny>[1]>) =>
  sendAny(server, { method: 'GET', path: '/', ...request });

const post = (server: Server, body: unknown, headers: Record<string, string> = {}) =>
  send(server, {
    method: 'POST',
    path: '/oauth/register',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

async function register(
  server: Server,
  redirect_uris: string[],
  client_name?: string,
): Promise<string> {
  const { status, text, json } = await post(server, { redirect_uris, client_name });
  if (status !== 201) throw new Error(`Not registered: ${status} ${text}`);
  return json.client_id;
}

const pathOf = (client_id: string) => client_id.slice(PUBLIC_URL.length);

const request = (client_id: string, redirect_uri: string): Record<string, string> => ({
  ...{ client_id, redirect_uri, response_type: 'code', scope: 'profile.read' },
  ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256' },
});

async function begin(server: Server, parameters: Changes): Promise<string> {
  const { status, headers, text } = await authorize(server, parameters);
  const link = new URL(headers.get('location') ?? '').searchParams.get('link');
  if (link === null) throw new Error(`No link was begun: ${status} ${text}`);
  return link;
}

async function refused(server: TestServer, parameters: Changes) {
  const { status, headers, text } = await authorize(server, parameters);
  const [refusal] = await refusalsOf(server.service, headers.get('x-request-id') ?? '');
  expect([status, headers.get('location')]).toEqual([400, null]);
  expect(text).toContain(refusal?.error_code);
  return [refusal?.error_code, refusal?.reason];
}

const NOT_TAKEN: [string, Reason] = ['client_unknown', 'client_address_not_taken'];

const textOf = (html: string) =>
  html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&amp;', '&');
const headingIn = (html: string) => textOf(/<h1>(.*?)<\/h1>/s.exec(html)?.[1] ?? '');

/** Identifies the account, and opens the consent page. */
async function consentPage(server: Server, link: string, account_id: string, locale = 'en') {
  const identified = await succeed(
    server,
    'admin.links.identify',
    { link, account_id, locale },
    operator,
  );
  const { path, cookie, form_token } = await open(server, identified.redirect_to);
  const { text } = await visit(server, path, { cookie });
  const press = (decision: string) =>
    visit(server, path, { cookie, form: { form_token, decision } });
  return { identified, text, press };
}

async function connectionsPage(server: Server, account_id: string, locale = 'en') {
  const input = { page: 'connections', account_id, locale };
  const { url } = await succeed(server, 'admin.pages.create', input, operator);
  const { cookie, form_token } = await open(server, url);
  const { text } = await visit(server, '/connections', { cookie });
  return { text, cookie, form_token };
}

/** Registers, asks, is allowed by the host, and redeems the code. */
async function link(server: Server, client_id: string, redirect_uri: string, account_id: string) {
  const asked = await begin(server, request(client_id, redirect_uri));
  const answer = await succeed(
    server,
    'admin.links.approve',
    { link: asked, account_id },
    operator,
  );
  const code = new URL(answer.redirect_to).searchParams.get('code') ?? '';
  const { status, json } = await redeem(server, code, { client_id, redirect_uri });
  expect([status, json.token_type]).toEqual([200, 'Bearer']);
  return { application: answer.application as Json, token: json.access_token as string };
}

/** Of a call with a grant. */
async function statusOf(server: Server, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await send(server, { path: '/v1/grant', headers })).status;
}

/** Ends the grant, as its client. */
async function revoke(server: Server, client_id: string, token: string): Promise<void> {
  const { status, json } = await postForm(server, '/oauth/revoke', { client_id, token });
  expect([status, json]).toEqual([200, {}]);
  expect(await statusOf(server, token)).toBe(401);
}

const recordsOf = async (server: Server) => {
  const { data } = await succeed(
    server,
    'admin.applications.list',
    { documents: true, limit: 100 },
    operator,
  );
  return data as Json[];
};

describeOnAnyStore('a client that registers itself', (fresh) => {
  const server = useServer(fresh, SETTINGS);

  test('gets an address that says it all, and leaves nothing behind', async () => {
    const asked = { client_name: 'Cursor', redirect_uris: [CURSOR, CURSOR_WEB, LOOPBACK] };
    const lines = server.lines.length;
    const { status, headers, json } = await post(
      server,
      {
        ...asked,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_post',
        scope: 'everything',
      },
      { authorization: 'Bearer of nothing' },
    );
    expect(status).toBe(201);
    expect(headers.get('content-type')).toBe('application/json; charset=UTF-8');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    const client = {
      client_id: expect.stringMatching(/^https:\/\/link\.example\/base\/oauth\/clients\/[\w-]+$/),
      ...asked,
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
    expect(json).toEqual(client);
    expect(objects.registeredClient.strict().parse(json)).toStrictEqual(json);

    const got = await send(server, { path: pathOf(json.client_id) });
    expect([got.status, got.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    expect(got.json).toEqual({
      ...{ ...client, client_id: json.client_id },
      redirect_uris: [CURSOR, 'http://localhost/callback', CURSOR_WEB],
    });
    const head = await send(server, { method: 'HEAD', path: pathOf(json.client_id) });
    expect([head.status, head.text]).toEqual([200, '']);

    expect(await recordsOf(server)).toEqual([]);
    const audited = server.lines.slice(lines).filter((line) => line.includes('"clients.'));
    expect(audited.filter((line) => line.includes('"audit"'))).toEqual([]);
  });

  test.each<[string, unknown, string, string | null]>([
    ['no redirect URIs', {}, 'registration_invalid', 'redirect_uris'],
    ['null', { redirect_uris: null }, 'registration_invalid', 'redirect_uris'],
    ['a text', { redirect_uris: LOOPBACK }, 'registration_invalid', 'redirect_uris'],
    ['none of them', { redirect_uris: [] }, 'registration_invalid', 'redirect_uris'],
    ['no texts', { redirect_uris: [7] }, 'registration_invalid', 'redirect_uris'],
    [
      'too many',
      { redirect_uris: Array.from({ length: 21 }, () => LOOPBACK) },
      'registration_invalid',
      'redirect_uris',
    ],
    [
      'a prototype',
      '{"__proto__":{"redirect_uris":["http://localhost/"]}}',
      'registration_invalid',
      'redirect_uris',
    ],
    [
      'other grants',
      { redirect_uris: [LOOPBACK], grant_types: ['refresh_token'] },
      'registration_invalid',
      'grant_types',
    ],
    [
      'grants that are no list',
      { redirect_uris: [LOOPBACK], grant_types: 'authorization_code' },
      'registration_invalid',
      'grant_types',
    ],
    [
      'other responses',
      { redirect_uris: [LOOPBACK], response_types: ['token'] },
      'registration_invalid',
      'response_types',
    ],
    [
      'too much for an address',
      { redirect_uris: [`http://localhost/${'a'.repeat(450)}`] },
      'registration_invalid',
      'redirect_uris',
    ],
    [
      'redirect URIs of 2,000 characters',
      { redirect_uris: Array.from({ length: 7 }, (_, i) => `cursor://${i}/${'a'.repeat(2_000)}`) },
      'registration_redirect_refused',
      null,
    ],
    [
      'redirect URIs that are not taken',
      { redirect_uris: ['https://evil.example/', 'javascript:alert(1)'] },
      'registration_redirect_refused',
      null,
    ],
    ['no object', '[]', 'body_malformed', null],
    ['deep JSON', '['.repeat(8_000), 'body_malformed', null],
  ])('is refused with %s', async (_what, sent, error_code, member) => {
    const { status, headers, json } = await post(server, sent);
    expect([status, json.error_code]).toEqual([400, error_code]);
    expect(json.error_description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
    expect(json.error_description).not.toContain('Bearer');
    if (member === null) expect(json.issues).toBeUndefined();
    else {
      expect(json.error).toBe('invalid_client_metadata');
      expect(json.issues[0].path[0]).toBe(member);
      expect(json.error_description.startsWith(`${member}`)).toBe(true);
    }
    if (error_code === 'registration_redirect_refused') {
      expect(json.error).toBe('invalid_redirect_uri');
      expect(json.error_description).toContain('cursor:, vscode:');
      expect(json.error_description).toContain('https: at www.cursor.com.');
    }
    const [refusal] = await refusalsOf(server.service, headers.get('x-request-id') ?? '');
    expect([refusal?.operation, refusal?.error_code]).toEqual(['clients.register', error_code]);
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });

  test('sends JSON', async () => {
    const form = await postForm(server, '/oauth/register', { redirect_uris: LOOPBACK });
    expect([form.status, form.json.error_code]).toEqual([415, 'media_type_unsupported']);
    const get = await send(server, { path: '/oauth/register' });
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('can do so in a browser', async () => {
    for (const path of ['/oauth/register', '/oauth/clients/anything']) {
      const { status, headers } = await send(server, preflight(path));
      expect([status, headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    }
  });

  test('is named in the metadata', async () => {
    const { json } = await send(server, { path: '/.well-known/oauth-authorization-server' });
    expect(json.registration_endpoint).toBe(`${PUBLIC_URL}/oauth/register`);
    expect(json).not.toHaveProperty('client_id_metadata_document_supported');
    expect(json.token_endpoint_auth_methods_supported).not.toContain('private_key_jwt');
  });

  test('links, uses its grant and ends it, with its address as client_id', async () => {
    const client_id = await register(server, [LOOPBACK], 'Cursor');
    const { account_id } = await linkingApplication(server);
    const asked = await begin(server, request(client_id, LOOPBACK));
    const read = await succeed(server, 'admin.links.read', { link: asked }, operator);
    expect(read).toMatchObject({
      ...{ redirect_kind: 'loopback', redirect_host: 'localhost', redirect_vouched: false },
      application: {
        ...{ id: null, document_uri: client_id, name: 'Cursor', vouched: false, public: true },
        ...{ logo_uri: null, homepage_uri: null },
      },
    });
    expect(await recordsOf(server)).not.toContainEqual(
      expect.objectContaining({ document_uri: client_id }),
    );

    const { application, token } = await link(server, client_id, LOOPBACK, account_id);
    const { id: application_id } = application;
    const grant = await succeed(server, 'account.grant', {}, `Bearer ${token}`);
    expect(grant).toMatchObject({ application_id, document_uri: client_id });
    const record = { application_id };
    expect(await succeed(server, 'admin.applications.get', record, operator)).toMatchObject({
      ...{ document_uri: client_id, name: 'Cursor', public: true, redirect_uris: [LOOPBACK] },
      ...{ idle_days: 90, grants_per_account: 10 },
    });
    // On every device and at each registration, it is the same.
    const again = await register(server, ['http://localhost:1/callback'], 'Cursor');
    const second = await link(server, again, 'http://localhost:1/callback', account_id);
    expect([again, second.application.id]).toEqual([client_id, application_id]);

    const byId = await postForm(server, '/oauth/revoke', { client_id: application_id, token });
    expect([byId.status, byId.json.error_code]).toEqual([400, 'credentials_invalid']);
    const introspected = await postForm(server, '/oauth/introspect', { client_id, token });
    expect(introspected.json.error_code).toBe('credentials_invalid');
    await revoke(server, client_id, token);
  });

  test('is a record like one with a document', async () => {
    const client_id = await register(server, [LOOPBACK], 'Kept');
    const { account_id } = await linkingApplication(server);
    const { application } = await link(server, client_id, LOOPBACK, account_id);
    const record = { application_id: application.id };
    const change = await send(server, {
      ...{ method: 'PATCH', path: `/admin/applications/${application.id}` },
      headers: { authorization: operator, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Other' }),
    });
    expect([change.status, change.json.error_code]).toEqual([409, 'application_documented']);

    await succeed(server, 'admin.applications.disable', record, operator);
    expect(await refused(server, request(client_id, LOOPBACK))).toEqual([
      ...['client_unknown', 'client_disabled'],
    ]);
    expect((await send(server, { path: pathOf(client_id) })).status).toBe(200);
    await succeed(server, 'admin.applications.delete', record, operator);
    const { application: next } = await link(server, client_id, LOOPBACK, account_id);
    expect(next.id).not.toBe(application.id);
  });

  test.each<[string, (client_id: string) => Changes, string, string]>([
    ['another redirect URI', () => ({ redirect_uri: 'http://localhost/other' }), '', ''],
    ['one of another host', () => ({ redirect_uri: 'http://127.0.0.1:8787/callback' }), '', ''],
    ['a segment in other letters', (id) => ({ client_id: `${id}=` }), ...NOT_TAKEN],
    ['percent-encoding', (id) => ({ client_id: id.replace('/eyJ', '/%65yJ') }), ...NOT_TAKEN],
    ['a port', (id) => ({ client_id: id.replace('.example', '.example:443') }), ...NOT_TAKEN],
    ['no client', (id) => ({ client_id: id.replace(/eyJ.*/, '') }), ...NOT_TAKEN],
  ])('begins no link with %s', async (_what, changes, error_code, reason) => {
    const client_id = await register(server, [LOOPBACK]);
    const asked = { ...request(client_id, LOOPBACK), ...changes(client_id) };
    expect(await refused(server, asked)).toEqual(
      error_code === ''
        ? ['redirect_uri_unregistered', 'redirect_uri_other']
        : [error_code, reason],
    );
  });

  test.each(['=', 'A', '?x', '/', '%'])('is not found with %j behind it', async (more) => {
    const path = pathOf(await register(server, [LOOPBACK]));
    const { status, headers, json } = await send(server, { path: path + more });
    // A query is none of the address.
    if (more === '?x') return expect(status).toBe(200);
    expect([status, json.error_code]).toEqual([404, 'route_not_found']);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    const encoded = await send(server, { path: path.replace('/eyJ', '/%65yJ') });
    expect([encoded.status, encoded.json.error_code]).toEqual([404, 'route_not_found']);
  });

  test('needs a challenge, and is led to no page by an error', async () => {
    const client_id = await register(server, [CURSOR, CURSOR_WEB]);
    const changes = { code_challenge: undefined, code_challenge_method: undefined };
    expect(await refused(server, { ...request(client_id, CURSOR), ...changes })).toEqual([
      ...['challenge_required', 'challenge_of_public_application'],
    ]);
    // The operator vouches for a redirect URI that is listed, and for nothing else of it.
    const listed = await authorize(server, { ...request(client_id, CURSOR_WEB), ...changes });
    expect(listed.headers.get('location')).toMatch(/^https:\/\/www\.cursor\.com\/.*challenge_/);
    const asked = await begin(server, request(client_id, CURSOR_WEB));
    expect(await succeed(server, 'admin.links.read', { link: asked }, operator)).toMatchObject({
      ...{ redirect_vouched: true, redirect_kind: 'web', redirect_host: 'www.cursor.com' },
      application: { vouched: false, name: 'www.cursor.com' },
    });
  });
});

describeOnAnyStore('a page names a client that registered itself', (fresh) => {
  const server = useServer(fresh, SETTINGS);

  const HEADINGS: [redirect_uri: string, name: string | undefined, en: string, de: string][] = [
    [CURSOR_WEB, 'Cursor', 'www.cursor.com, which calls itself “Cursor”,', 'www.cursor.com,'],
    [CURSOR_WEB, undefined, 'www.cursor.com wants', 'www.cursor.com möchte'],
    [
      ...([
        LOOPBACK,
        'Cursor',
        'An application on this device, which calls itself “Cursor”,',
      ] as const),
      'Eine Anwendung auf diesem Gerät, nach eigener Angabe „Cursor“,',
    ],
    [
      LOOPBACK,
      undefined,
      'An application on this device wants',
      'Eine Anwendung auf diesem Gerät möchte',
    ],
    [
      ...([CURSOR, 'Cursor'] as const),
      'The application on this device that opens cursor: links, which calls itself “Cursor”,',
      'Die Anwendung auf diesem Gerät für cursor:-Links, nach eigener Angabe „Cursor“,',
    ],
    [
      ...([
        LOOPBACK,
        'localhost',
        'An application on this device, which calls itself “localhost”,',
      ] as const),
      'Eine Anwendung auf diesem Gerät, nach eigener Angabe „localhost“,',
    ],
  ];

  test.each(HEADINGS)('by %s and %s', async (redirect_uri, name, en, de) => {
    const { account_id } = await linkingApplication(server);
    const client_id = await register(server, [CURSOR, CURSOR_WEB, LOOPBACK], name);
    const asked = () => begin(server, request(client_id, redirect_uri));
    const german = await consentPage(server, await asked(), account_id, 'de');
    expect(headingIn(german.text)).toContain(de);
    const { text, identified, press } = await consentPage(server, await asked(), account_id);
    expect(headingIn(text)).toContain(en);
    expect(headingIn(text)).toContain('to connect to your Example Shop account');
    // Never the host of the service itself.
    expect(textOf(text)).not.toContain('link.example');
    const isOnDevice = redirect_uri !== CURSOR_WEB;
    expect(textOf(text).includes('runs on this device. Continue only if')).toBe(isOnDevice);
    expect(text.includes('class="logo device"')).toBe(isOnDevice);
    expect(textOf(text)).not.toContain('trust An application');
    expect(identified.application.name).toBe(name ?? identified.redirect_host);

    const { headers } = await press('allow');
    expect(headers.get('location')).toMatch(isOnDevice ? /\/done\?start$/ : /^https:\/\/www\.cur/);
    await link(server, client_id, redirect_uri, account_id);
    const { text: list, cookie } = await connectionsPage(server, account_id);
    const who = en.replace(/(,| wants)$/, '');
    expect(textOf(list)).toContain(who);
    expect(textOf(list)).not.toContain('link.example');
    const [, id = ''] = /href="\/base(\/connections\/[\da-f-]+)"/.exec(list) ?? [];
    const { text: question } = await visit(server, id, { cookie });
    expect(headingIn(question)).toBe(
      isOnDevice ? 'Disconnect this application?' : 'Disconnect www.cursor.com?',
    );
    expect(textOf(question).includes(`(“${name}”)`)).toBe(isOnDevice && name !== undefined);
    expect(textOf(question)).not.toContain('link.example');
  });

  test('by where it was last led back to, and by nothing that it claims of the service', async () => {
    const { account_id } = await linkingApplication(server);
    const client_id = await register(server, [CURSOR_WEB, LOOPBACK], 'Support of the example shop');
    expect((await send(server, { path: pathOf(client_id) })).json).not.toHaveProperty(
      'client_name',
    );
    const names: string[] = [];
    for (const redirect_uri of [LOOPBACK, CURSOR_WEB, LOOPBACK]) {
      const { application } = await link(server, client_id, redirect_uri, account_id);
      const { id: application_id } = application;
      const got = await succeed(server, 'admin.applications.get', { application_id }, operator);
      names.push(got.name);
    }
    expect(names).toEqual(['localhost', 'www.cursor.com', 'localhost']);
    const { text } = await connectionsPage(server, account_id);
    expect(textOf(text)).toContain('An application on this device');
  });
});

describe('CLIENT_REGISTRATION', () => {
  const FILE = 'file::memory:';

  async function started(settings: NodeJS.ProcessEnv, database = FILE) {
    const server = await startTestServer(database, { ...LINKING, ...settings });
    onTestFinished(() => server.close());
    return server;
  }

  test('vouches for a redirect URI that it lists, whoever the client is', async () => {
    const redirect_uri = 'https://elsewhere.example:8443/x';
    const published = await publish(world, { redirect_uris: [redirect_uri] }, STRANGER);
    for (const [CLIENT_REGISTRATION, isVouched] of [
      ['on', false],
      ['elsewhere.example', true],
      [redirect_uri, true],
      [`${redirect_uri}y`, false],
    ] as const) {
      const server = await startTestServer(
        FILE,
        { ...OF_STRANGERS, CLIENT_REGISTRATION },
        toThisMachine,
      );
      onTestFinished(() => server.close());
      await linkingApplication(server);
      const asked = await begin(server, request(published.address, redirect_uri));
      const read = await succeed(server, 'admin.links.read', { link: asked }, operator);
      expect([read.redirect_vouched, read.application.vouched]).toEqual([isVouched, false]);
    }
  });

  test('lets clients register without a limit, and takes nothing of the limits of others', async () => {
    const server = await started({
      ...{ CLIENT_REGISTRATION: 'on', RATE_LIMIT: 'authentications=1/60,links=1/60,requests=1/60' },
    });
    await linkingApplication(server);
    let client_id = '';
    for (let times = 0; times < 3; times++) {
      client_id = await register(server, [LOOPBACK]);
      expect((await post(server, {})).status).toBe(400);
      expect((await send(server, { path: pathOf(client_id) })).status).toBe(200);
      expect((await send(server, { path: `${pathOf(client_id)}x` })).status).toBe(404);
    }
    await begin(server, request(client_id, LOOPBACK));
    expect(await statusOf(server, 'nothing')).toBe(401);
    expect(await statusOf(server, 'nothing')).toBe(429);
  });

  test('makes no client that the operator vouches for, by the name of the own host', async () => {
    const server = await started({ CLIENT_REGISTRATION: 'on', CLIENT_DOCUMENTS: 'link.example' });
    await linkingApplication(server);
    const asked = await begin(server, request(await register(server, [LOOPBACK]), LOOPBACK));
    const read = await succeed(server, 'admin.links.read', { link: asked }, operator);
    expect([read.redirect_vouched, read.application.vouched]).toEqual([false, false]);
  });

  test.each(['on', 'off'])(
    'fetches nothing below the own address while it is %s',
    async (setting) => {
      const own = await publish(world);
      const other = await publish(world);
      const { origin } = new URL(own.address);
      const settings = { CLIENT_DOCUMENTS: 'any,localhost', OUTBOUND_ALLOW: 'private' };
      const server = await started({
        ...settings,
        ...{ PUBLIC_URL: `${origin}/base`, CLIENT_REGISTRATION: setting },
      });
      const { account_id } = await linkingApplication(server);
      for (const path of ['/oauth/clients/a', '/%6fauth/clients/%ff', '/oauth/clients']) {
        own.members = { client_id: `${origin}/base${path}` };
        const asked = request(`${origin}/base${path}`, 'http://127.0.0.1/callback');
        expect(await refused(server, asked)).toEqual(NOT_TAKEN);
      }
      // Nor for the keys of another client.
      other.members = {
        token_endpoint_auth_method: 'private_key_jwt',
        jwks_uri: `${origin}/base/oauth/clients/keys`,
      };
      const asked = await begin(server, request(other.address, 'http://127.0.0.1/callback'));
      await succeed(server, 'admin.links.approve', { link: asked, account_id }, operator);
      const [iss, aud] = [other.address, `${origin}/base`];
      const exp = Math.floor(server.now() / 1000) + 60;
      const proof = signed(unsigned({ iss, sub: iss, aud, exp }));
      const { json } = await redeem(server, 'lk_code_x', { client_id: iss, ...proof });
      expect(json.error_code).toBe('client_keys_unavailable');
      expect([own.requests, other.requests]).toEqual([0, 1]);
    },
  );

  test('that is off has no routes, and begins no link', async () => {
    const on = await started({ CLIENT_REGISTRATION: 'on' });
    const client_id = await register(on, [LOOPBACK]);
    for (const settings of [{}, { CLIENT_DOCUMENTS: 'any' }]) {
      const server = await started(settings);
      const posted = await post(server, { redirect_uris: [LOOPBACK] });
      expect([posted.status, posted.json.error_code]).toEqual([404, 'route_not_found']);
      const got = await send(server, { path: pathOf(client_id) });
      expect([got.status, got.json.error_code]).toEqual([404, 'route_not_found']);
      const { json } = await send(server, { path: '/.well-known/oauth-authorization-server' });
      expect(json).not.toHaveProperty('registration_endpoint');
      const { headers } = await authorize(server, request(client_id, LOOPBACK));
      const [refusal] = await refusalsOf(server.service, headers.get('x-request-id') ?? '');
      expect(refusal?.error_code).toBe('client_unknown');
    }
  });
});

describeOnAnyStore('a grant of a client that registered itself', (fresh) => {
  test.each([
    ['registration is off', LINKING],
    ['the linking flow is off', { PUBLIC_URL }],
    ['only other redirect URIs are taken', { ...LINKING, CLIENT_REGISTRATION: 'a.example' }],
  ])('goes on while %s, and is revoked by its client', async (_what, settings) => {
    const database = await fresh();
    onTestFinished(() => database.remove());
    const before = await startTestServer(database.url, SETTINGS);
    const { account_id } = await linkingApplication(before);
    const client_id = await register(before, [CURSOR_WEB, LOOPBACK], 'Cursor');
    const { token, application } = await link(before, client_id, CURSOR_WEB, account_id);
    await before.close();

    const server = await startTestServer(database.url, settings);
    onTestFinished(() => server.close());
    expect(await statusOf(server, token)).toBe(200);
    // The operator still sees where it was led back to, and never the host of the service.
    const got = await succeed(
      server,
      'admin.applications.get',
      { application_id: application.id },
      operator,
    );
    expect(got.name).toBe('Cursor');
    await revoke(server, client_id, token);
  });
});
