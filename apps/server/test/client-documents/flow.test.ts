import { setImmediate as turn } from 'node:timers/promises';
import { type Reason, reasons } from '@latchkey/domain/reasons';
import { type OperationName, operations } from '@latchkey/schema';
import { exportJWK, generateKeyPair } from 'jose';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { invoke, type Json, preflight, send, succeed } from '../http/call.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { postForm } from '../http/forms.ts';
import { refusalsOf } from '../http/refusals-of.ts';
import { operator, type ServerWithDatabase, useServer } from '../http/running-server.ts';
import { authorize, LINKING, linkingApplication, PUBLIC_URL } from '../linking/link-flow.ts';
import { visit } from '../linking/page-flow.ts';
import { approved, begin, CALLBACK, redeem, request, SETTINGS } from './document-flow.ts';
import { type PublishedDocument, publish, useWorld } from './document-server.ts';
import { signed, signingClient } from './signing-client.ts';

const world = useWorld();

const asOperator = (server: ServerWithDatabase, name: OperationName, input: object = {}) =>
  succeed(server, name, { ...input }, operator);

async function newAccount(server: ServerWithDatabase): Promise<string> {
  const { account_id } = await linkingApplication(server);
  return account_id;
}

async function link(server: ServerWithDatabase, published: PublishedDocument, account_id: string) {
  const { answer, code } = await approved(server, await begin(server, published), account_id);
  const { json } = await redeem(server, code, { client_id: published.address });
  return { application: answer.application as Json, token: json.access_token as string };
}

describeOnAnyStore('an application that nobody registered', (fresh) => {
  const server = useServer(fresh, SETTINGS);

  test('links, uses its grant and ends it, with its address as client_id', async () => {
    const published = await publish(world, { client_uri: 'https://localhost/about' });
    const { address: document_uri } = published;
    const account_id = await newAccount(server);
    const asked = await begin(server, published);
    const { application: before } = await asOperator(server, 'admin.links.read', { link: asked });
    expect(before).toMatchObject({
      ...{ id: null, document_uri, name: 'Notes Reader', public: true },
      homepage_uri: 'https://localhost/about',
    });
    const documents = () => asOperator(server, 'admin.applications.list', { documents: true });
    const isListed = async () =>
      (await documents()).data.some((one: Json) => one.document_uri === document_uri);
    // Strangers leave no rows.
    expect(await isListed()).toBe(false);

    published.respond = (response) => response.destroy();
    const { answer, code } = await approved(server, asked, account_id);
    const { id } = answer.application;
    expect(id).toMatch(/^[\da-f-]{36}$/);
    expect(await isListed()).toBe(true);
    const got = await asOperator(server, 'admin.applications.get', { application_id: id });
    expect(operations['admin.applications.get'].output.parse(got)).toStrictEqual(got);
    expect(got).toMatchObject({
      ...{ object: 'application', id, document_uri, name: 'Notes Reader', disabled: false },
      ...{ created_at: expect.any(String), secrets: [], redirect_uris: [CALLBACK] },
      ...{ scopes: null, default_scopes: null, logo_uri: null, public: true },
      ...{ homepage_uri: 'https://localhost/about', policy_uri: null, tos_uri: null },
      ...{ resource_server: false, challenge_required: false },
      ...{ idle_days: 90, grants_per_account: 10 },
    });

    const byId = await redeem(server, code, { client_id: id });
    expect([byId.status, byId.json.error_code]).toEqual([400, 'credentials_invalid']);
    const { status, json } = await redeem(server, code, { client_id: document_uri });
    expect([status, json.scope]).toEqual([200, 'profile.read']);
    const bearer = `Bearer ${json.access_token}`;
    const grant = await succeed(server, 'account.grant', {}, bearer);
    expect(grant).toMatchObject({ application_id: id, document_uri });
    const host = await linkingApplication(server, { resource_server: true });
    const introspected = await postForm(
      server,
      '/oauth/introspect',
      { token: json.access_token },
      host.bearer,
    );
    expect(introspected.json).toMatchObject({ active: true, client_id: document_uri });

    const audited = server.lines.map((line): Json => JSON.parse(line));
    expect(audited).toContainEqual(
      expect.objectContaining({
        action: 'admin.links.approve',
        application_id: id,
        result: 'done',
      }),
    );
    const ended = { token: json.access_token, client_id: document_uri };
    expect((await postForm(server, '/oauth/revoke', ended)).status).toBe(200);
    expect((await invoke(server, 'REST', 'account.grant', {}, bearer)).status).toBe(401);
    expect(published.requests).toBe(1);
  });

  const gone: [what: string, change: (published: PublishedDocument) => unknown][] = [
    [
      'is another one',
      (one) => Object.assign(one.members, { client_name: 'Bank', redirect_uris: [] }),
    ],
    ['is not found', (one) => setResponse(one, (response) => response.writeHead(404).end())],
    ['is refused', (one) => addMembers(one, { client_secret: 'hush' })],
    ['hangs', (one) => setResponse(one, () => undefined)],
  ];

  test.each(gone)('goes on with what the user saw, if the document %s since', async (_, change) => {
    const published = await publish(world);
    const account_id = await newAccount(server);
    const asked = await begin(server, published);
    change(published);
    server.advance(3_000_000);
    const { answer, code } = await approved(server, asked, account_id);
    expect(answer.application.name).toBe('Notes Reader');
    expect((await redeem(server, code, { client_id: published.address })).status).toBe(200);
    expect(published.requests).toBe(1);
  });

  test('is one application, whoever approves, and keeps what the latest link kept', async () => {
    const published = await publish(world);
    const account_id = await newAccount(server);
    const links: string[] = [];
    for (let number = 0; number < 6; number++) {
      links.push(
        await begin(server, published, { redirect_uri: `http://127.0.0.1:${number}/callback` }),
      );
    }
    const answers = await Promise.all(links.map((one) => approved(server, one, account_id)));
    const ids = new Set(answers.map(({ answer }) => answer.application.id));
    expect(ids.size).toBe(1);
    const [application_id] = ids;
    const { redirect_uris } = await asOperator(server, 'admin.applications.get', {
      application_id,
    });
    expect(redirect_uris.toSorted()).toEqual(
      links.map((_, number) => `http://127.0.0.1:${number}/callback`),
    );

    published.members = { client_name: 'Renamed' };
    server.advance(3_600_000);
    const { application } = await link(server, published, account_id);
    expect(application).toMatchObject({ id: application_id, name: 'Renamed' });
    expect(await asOperator(server, 'admin.applications.get', { application_id })).toMatchObject({
      name: 'Renamed',
    });
  });

  test('is changed by the operator only where its document has no say', async () => {
    const published = await publish(world);
    const { application } = await link(server, published, await newAccount(server));
    const { id: application_id } = application;
    const update = (members: object) =>
      invoke(server, 'REST', 'admin.applications.update', { application_id, ...members }, operator);
    for (const members of [{ name: 'Notes Reader' }, { scopes: null, tos_uri: null }]) {
      expect((await update(members)).body.error_code).toBe('application_documented');
    }
    const secret = await invoke(
      server,
      'REST',
      'admin.applications.secrets.create',
      { application_id },
      operator,
    );
    expect(secret.body.error_code).toBe('application_documented');
    expect((await update({ scopes: ['posts.read'], idle_days: null })).status).toBe(200);

    // The scope that it may not ask for is left out, and nothing is left.
    const { headers } = await authorize(server, request(published));
    expect(new URL(headers.get('location') ?? '').searchParams.get('error_code')).toBe(
      'scope_unknown',
    );
  });

  test('stays out while it is disabled, and comes back once it is deleted', async () => {
    const published = await publish(world);
    const account_id = await newAccount(server);
    const undecided = await begin(server, published);
    const { application, token } = await link(server, published, account_id);
    const { id: application_id } = application;
    await asOperator(server, 'admin.applications.disable', { application_id });
    const before = published.requests;
    const refused = await authorize(server, request(published));
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining('client_unknown'),
    ]);
    expect(published.requests).toBe(before);
    const approval = { link: undecided, account_id };
    const late = await invoke(server, 'REST', 'admin.links.approve', approval, operator);
    expect(late.body.error_code).toBe('link_not_found');

    await asOperator(server, 'admin.applications.delete', { application_id });
    const again = await link(server, published, account_id);
    expect(again.application.id).not.toBe(application_id);
    const old = await invoke(server, 'REST', 'account.grant', {}, `Bearer ${token}`);
    expect(old.status).toBe(401);
    const id = await authorize(server, { ...request(published), client_id: again.application.id });
    expect([id.status, id.text]).toEqual([400, expect.stringContaining('client_unknown')]);
  });

  test('asks on a page that names its host, and why its document is refused', async () => {
    const published = await publish(world);
    const account_id = await newAccount(server);
    const asked = await begin(server, published);
    const identified = await asOperator(server, 'admin.links.identify', {
      link: asked,
      account_id,
    });
    const path = identified.redirect_to.slice(PUBLIC_URL.length);
    const opened = await visit(server, path);
    const cookie = (opened.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const { text } = await visit(server, path.split('?')[0] ?? '', { cookie });
    expect(text.replaceAll(/<\/?span[^>]*>/g, '')).toContain(
      '<h1><bdi><strong>localhost</strong></bdi>, which calls itself “<bdi>Notes Reader</bdi>”, wants',
    );
    expect(text).toContain('runs on this device');

    const [, form_token = ''] = /name="form_token" value="([^"]*)"/.exec(text) ?? [];
    const form = { form_token, decision: 'allow' };
    const allowed = await visit(server, path.split('?')[0] ?? '', { cookie, form });
    expect(allowed.status).toBe(303);
    const { application } = await asOperator(server, 'admin.links.read', { link: asked });
    expect(server.lines.map((line): Json => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        ...{ action: 'admin.links.approve', by: 'user', result: 'done' },
        application_id: application.id,
      }),
    );

    const bad = await publish(world, { client_secret: 'hush' });
    const page = await authorize(server, request(bad));
    expect(page.status).toBe(400);
    expect(page.text).toContain('client_document_invalid');
    expect(page.text).toContain('client_secret is in a document that everybody can read.');
    expect(page.text).not.toContain('hush');
  });

  test('may ask for more scopes than there are', async () => {
    const published = await publish(world, { scope: 'openid profile.read' });
    await newAccount(server);
    const scopeOf = async (scope: string) =>
      (
        await asOperator(server, 'admin.links.read', {
          link: await begin(server, published, { scope }),
        })
      ).scope;
    expect(await scopeOf(' profile.read offline_access posts.read')).toBe('profile.read');
    published.members = { scope: 'openid email' };
    server.advance(3_600_000);
    expect(await scopeOf('profile.read openid  posts.read')).toBe('profile.read posts.read');
  });

  test('looks up the scopes that are asked for, not the thousands that its document names', async () => {
    const scope = Array.from({ length: 2_500 }, (_, n) => n.toString(36)).join(' ');
    const published = await publish(world, { scope: `${scope} profile.read` });
    await newAccount(server);
    const asked = vi.spyOn(server.service.store, 'findDescriptionIds');
    onTestFinished(() => asked.mockRestore());
    await begin(server, published, { scope: 'profile.read posts.read' });
    expect(asked.mock.calls.flatMap(([scopes]) => [...scopes])).not.toContain('1');
    expect(asked).toHaveBeenCalled();
  });
});

describeOnAnyStore('an application with keys', (fresh) => {
  const server = useServer(fresh, SETTINGS);

  test.each([true, false])(
    'redeems with what it signs (keys in the document: %s)',
    async (inline) => {
      const { published, sign } = await signingClient(world, server, { inline });
      const account_id = await newAccount(server);
      const { code } = await approved(server, await begin(server, published), account_id);
      const client_id = published.address;
      const outcome = async (client: Record<string, string>) => {
        const { status, json } = await redeem(server, code, client);
        return [status, json.error_code];
      };
      const refused = [400, 'credentials_invalid'];
      expect(await outcome({ client_id })).toEqual(refused);
      const { privateKey: other } = await generateKeyPair('ES256');
      expect(await outcome(signed(await sign('first', other)))).toEqual(refused);
      expect(await outcome(signed('no token'))).toEqual(refused);
      const invalid = [400, 'parameter_invalid'];
      const assertion = await sign();
      expect(await outcome({ ...signed(assertion), client_secret: 'x' })).toEqual(invalid);
      expect(await outcome({ client_assertion: assertion, client_assertion_type: 'x' })).toEqual(
        invalid,
      );

      // Its server vanishes: what was read before goes on.
      if (inline) published.respond = (response) => response.destroy();
      expect(await outcome(signed(assertion))).toEqual([200, undefined]);
    },
  );

  test('no longer redeems with a key that its document has lost for an hour', async () => {
    const { published, keys, sign } = await signingClient(world, server, { inline: true });
    const account_id = await newAccount(server);
    const { code } = await approved(server, await begin(server, published), account_id);
    expect((await redeem(server, code, signed(await sign()))).status).toBe(200);
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    keys.list.splice(0, 1, { ...(await exportJWK(publicKey)), kid: 'second' });
    server.advance(3_600_000);
    const revoke = async (assertion: string) =>
      (await postForm(server, '/oauth/revoke', { token: code, ...signed(assertion) })).status;
    expect(await revoke(await sign())).toBe(400);
    expect(await revoke(await sign('second', privateKey))).toBe(200);
  });

  test('is asked for newer keys at most once a minute', async () => {
    const { published, keys, sign } = await signingClient(world, server);
    const account_id = await newAccount(server);
    const { code } = await approved(server, await begin(server, published), account_id);
    expect((await redeem(server, code, signed(await sign()))).status).toBe(200);

    const rotate = async (kid: string) => {
      const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
      keys.list = [{ ...(await exportJWK(publicKey)), kid }];
      return () => sign(kid, privateKey);
    };
    const revoke = async (assertion: string) =>
      (await postForm(server, '/oauth/revoke', { token: code, ...signed(assertion) })).status;
    const second = await rotate('second');
    expect(await revoke(await second())).toBe(200);
    const third = await rotate('third');
    expect(await revoke(await third())).toBe(400);
    server.advance(60_000);
    expect(await revoke(await third())).toBe(200);
  });

  test('whose keys are nowhere to be had consumes nothing', async () => {
    const { published, sign } = await signingClient(world, server);
    published.members.jwks_uri = 'https://localhost:1/keys.json';
    const account_id = await newAccount(server);
    const { code } = await approved(server, await begin(server, published), account_id);
    const { status, json, headers } = await redeem(server, code, signed(await sign()));
    expect([status, json.error_code]).toEqual([503, 'client_keys_unavailable']);
    expect(headers.get('retry-after')).toBe('5');
    const { codes } = await asOperator(server, 'admin.accounts.export', { account_id });
    expect(codes).toHaveLength(1);
  });
});

const faults: [reason: Reason, arrange: (published: PublishedDocument) => unknown][] = [
  ['document_connection_failed', (one) => setResponse(one, (response) => response.destroy())],
  ['document_too_large', (one) => addMembers(one, { x: 'x'.repeat(10_240) })],
  ['document_status', (one) => setResponse(one, (response) => response.writeHead(404).end())],
  ['document_gone', (one) => setResponse(one, (response) => response.writeHead(410).end())],
  ['document_no_json', (one) => setBody(one, { 'content-type': 'application/json' })],
  ['document_content_type', (one) => setBody(one, { 'content-type': 'text/html' })],
  [
    'document_encoded',
    (one) => setBody(one, { 'content-type': 'application/json', 'content-encoding': 'gzip' }),
  ],
  ['document_client_id', (one) => addMembers(one, { client_id: `${one.address}x` })],
  ['document_client_secret', (one) => addMembers(one, { client_secret: 'hush' })],
  ['document_grant_types', (one) => addMembers(one, { grant_types: ['refresh_token'] })],
  ['document_response_types', (one) => addMembers(one, { response_types: ['token'] })],
  ['document_redirect_uris', (one) => addMembers(one, { redirect_uris: ['javascript:alert(1)'] })],
  ['document_auth_method', (one) => addMembers(one, { token_endpoint_auth_method: 'tls_client' })],
  ['document_keys', (one) => addMembers(one, { ...signing })],
  ['document_keys_address', (one) => addMembers(one, { ...signing, jwks_uri: 'http://a.b/c' })],
  [
    'document_keys_secret',
    (one) => addMembers(one, { ...signing, jwks: { keys: [{ kty: 'oct' }] } }),
  ],
  [
    'document_signing_alg',
    (one) => addMembers(one, { ...signing, token_endpoint_auth_signing_alg: 'HS256' }),
  ],
];

const signing = { token_endpoint_auth_method: 'private_key_jwt' };
const addMembers = (one: PublishedDocument, members: object) => Object.assign(one.members, members);
const setResponse = (one: PublishedDocument, respond: PublishedDocument['respond']) =>
  Object.assign(one, { respond });
const setBody = (one: PublishedDocument, headers: Record<string, string>) =>
  setResponse(one, (response) => response.writeHead(200, headers).end('<html>'));

async function expectReason(server: ServerWithDatabase, headers: Headers, reason: Reason) {
  await server.service.audit.flush();
  const request_id = headers.get('x-request-id') ?? '';
  expect(await refusalsOf(server.service, request_id)).toMatchObject([{ reason }]);
}

describeOnAnyStore('a document that is refused', (fresh) => {
  const server = useServer(fresh, SETTINGS);

  test.each(faults)('says why on the page, and to the operator: %s', async (reason, arrange) => {
    const published = await publish(world);
    arrange(published);
    const asked = request(published);
    const { status, headers, text } = await authorize(server, asked);
    const { code, found } = reasons[reason];
    const isTemporary = code === 'client_document_unavailable';
    expect([status, text]).toEqual([isTemporary ? 503 : 400, expect.stringContaining(code)]);
    expect(headers.get('retry-after')).toBe(isTemporary ? '30' : null);
    expect(text).toContain(found);
    // The same request again.
    const [, again] = /<a [^>]*href="([^"]*\/oauth\/authorize[^"]*)"/.exec(text) ?? [];
    const { pathname, searchParams } = new URL(again?.replaceAll('&amp;', '&') ?? 'a:', server.url);
    expect([pathname, Object.fromEntries(searchParams)]).toEqual(
      isTemporary ? ['/base/oauth/authorize', asked] : ['', {}],
    );
    await expectReason(server, headers, reason);
  });

  test.each([
    'https://127.0.0.1/client.json',
    'https://LOCALHOST/client.json',
    'https://localhost/',
    'https://localhost/a?b',
    'https://localhost/a/../b',
    'https://user@localhost/client.json',
    'https://other.example/client.json',
  ])('is not fetched at %s', async (client_id) => {
    const app = await linkingApplication(server);
    const { status, text, headers } = await authorize(server, { ...app.request, client_id });
    expect([status, text]).toEqual([400, expect.stringContaining('client_unknown')]);
    await expectReason(server, headers, 'client_address_not_taken');
  });
});

describeOnAnyStore('documents that strangers name', (fresh) => {
  const server = useServer(fresh, { ...SETTINGS, RATE_LIMIT: 'links=3/60' });

  test('are counted before they are fetched, once, also if they are refused', async () => {
    const refused = await publish(world, { client_secret: 'hush' });
    const good = await publish(world);
    await newAccount(server);
    const statusOf = async (one: PublishedDocument) =>
      (await authorize(server, request(one))).status;
    expect([await statusOf(refused), await statusOf(good), await statusOf(refused)]).toEqual([
      400, 303, 400,
    ]);
    const other = await publish(world);
    expect([await statusOf(other), await statusOf(good)]).toEqual([429, 429]);
    expect(other.requests).toBe(0);
  });
});

describeOnAnyStore('a caller with slow documents', (fresh) => {
  const server = useServer(fresh, { ...SETTINGS, METRICS: 'on', RATE_LIMIT: 'on' });
  const unlimited = useServer(fresh, { ...SETTINGS, RATE_LIMIT: 'off' });

  /** Begins links with documents that are not there yet; and with them all once the test says so. */
  async function beginSlowly(on: ServerWithDatabase, count: number) {
    const held: (() => void)[] = [];
    const links = Array.from({ length: count }, async () => {
      const published = await publish(world);
      const { respond } = published;
      published.respond = (response) => {
        held.push(() => respond(response));
      };
      return (await authorize(on, request(published))).status;
    });
    const load = () => on.service.linking?.clientDocuments?.load().documents;
    while ((load()?.running ?? 0) + (load()?.waiting ?? 0) < count) await turn();
    async function end() {
      for (let sent = 0; sent < count; sent += 1) {
        while (held.length <= sent) await turn();
        held[sent]?.();
      }
      return Promise.all(links);
    }
    return { load, end };
  }

  test('has 2 that are fetched and 2 that wait', async () => {
    await Promise.all([server, unlimited].map(newAccount));
    const { load, end } = await beginSlowly(server, 4);
    const { status, text } = await authorize(server, request(await publish(world)));
    expect([status, text]).toEqual([429, expect.stringContaining('rate_limited')]);
    expect(load()).toEqual({ running: 2, waiting: 2 });
    const metrics = async () => (await fetch(`${server.url}/metrics`)).text();
    expect(await metrics()).toContain(
      'latchkey_outbound_fetches{kind="documents",state="waiting"} 2',
    );
    expect(await end()).toEqual([303, 303, 303, 303]);
    const counted = await metrics();
    for (const [result, count] of Object.entries({ good: 4, no_place: 1, temporary: 0, kept: 0 })) {
      expect(counted).toContain(`latchkey_document_fetches_total{result="${result}"} ${count}`);
    }
  });

  test('has as many as there are places, where RATE_LIMIT is off', async () => {
    const { load, end } = await beginSlowly(unlimited, 5);
    expect(load()).toEqual({ running: 2, waiting: 3 });
    expect(await end()).toEqual([303, 303, 303, 303, 303]);
  });
});

describeOnAnyStore('a document in a private network', (fresh) => {
  const server = useServer(fresh, { ...LINKING, CLIENT_DOCUMENTS: 'localhost' });

  test('is refused where OUTBOUND_ALLOW has no private', async () => {
    const published = await publish(world);
    const { text } = await authorize(server, request(published));
    expect(text).toContain(reasons.document_address_refused.found);
    expect(published.requests).toBe(0);
  });
});

describe('a browser as client', () => {
  describeOnAnyStore('with CLIENT_DOCUMENTS', (fresh) => {
    const server = useServer(fresh, SETTINGS);

    test('may read the metadata, redeem and revoke, and nothing else', async () => {
      for (const path of [
        '/oauth/token',
        '/oauth/revoke',
        '/.well-known/oauth-authorization-server',
      ]) {
        const { status, headers } = await send(server, preflight(path));
        expect([status, headers.get('access-control-allow-origin')]).toEqual([204, '*']);
        expect(headers.get('access-control-allow-headers')).toBe(
          'authorization, content-type, mcp-protocol-version',
        );
        const error = await send(server, { method: 'DELETE', path });
        expect(error.headers.get('access-control-allow-origin')).toBe('*');
        expect(error.headers.get('access-control-expose-headers')).toBe(
          'WWW-Authenticate, Retry-After, X-Request-Id',
        );
      }
      for (const path of [
        '/oauth/introspect',
        '/v1/grant',
        '/admin/applications',
        '/oauth/authorize',
      ]) {
        const { status, headers } = await send(server, preflight(path));
        expect([status, headers.get('access-control-allow-origin')]).toEqual([405, null]);
      }
    });

    test('is told in the metadata', async () => {
      const path = '/.well-known/oauth-authorization-server';
      const { json } = await send(server, { method: 'GET', path });
      expect(json).toMatchObject({
        client_id_metadata_document_supported: true,
        token_endpoint_auth_methods_supported: expect.arrayContaining(['private_key_jwt', 'none']),
        introspection_endpoint_auth_methods_supported: expect.arrayContaining(['private_key_jwt']),
        token_endpoint_auth_signing_alg_values_supported: expect.arrayContaining(['ES256']),
      });
    });
  });

  describeOnAnyStore('without it', (fresh) => {
    const server = useServer(fresh, LINKING);

    test('finds nothing of it', async () => {
      const { status, headers } = await send(server, preflight('/oauth/token'));
      expect([status, headers.get('access-control-allow-origin')]).toEqual([405, null]);
      const path = '/.well-known/oauth-authorization-server';
      const { text } = await send(server, { method: 'GET', path });
      expect(text).not.toContain('client_id_metadata_document_supported');
      expect(text).not.toContain('private_key_jwt');
      const asked = await authorize(server, {
        ...request({ address: 'https://localhost:1/client.json' } as PublishedDocument),
      });
      expect([asked.status, asked.text]).toEqual([400, expect.stringContaining('client_unknown')]);
    });
  });
});
