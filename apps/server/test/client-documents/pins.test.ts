import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { invoke, JSON_TYPE, type Json, send, succeed, wires } from '../http/call.ts';
import { describeOnAnyStore, describeOnEachStore } from '../http/databases.ts';
import { operator, startTestServer, type TestServer, useServer } from '../http/running-server.ts';
import { authorize, LINKING, linkingApplication } from '../linking/link-flow.ts';
import {
  approved,
  begin,
  OF_STRANGERS,
  pin,
  redeem,
  request,
  SETTINGS,
  STRANGER,
  toThisMachine,
} from './document-flow.ts';
import { publish, useWorld } from './document-server.ts';
import { signed, signingClient } from './signing-client.ts';

const world = useWorld();

type Server = { url: string };

const unpin = (server: Server, document_uri: string) =>
  succeed(server, 'admin.documents.unpin', { document_uri }, operator);

const list = async (server: Server, input: object = {}): Promise<Json[]> =>
  (await succeed(server, 'admin.documents.list', { limit: 100, ...input }, operator)).data;

const read = (server: Server, link: string) =>
  succeed(server, 'admin.links.read', { link }, operator);

describeOnEachStore('a pinned document', (fresh) => {
  const server = useServer(fresh, OF_STRANGERS, toThisMachine);
  let other: TestServer;
  let account_id: string;
  beforeAll(async () => {
    other = await startTestServer(server.database.url, OF_STRANGERS, toThisMachine);
    ({ account_id } = await linkingApplication(server));
  });
  afterAll(() => other.close());

  test('is used on every process, vouched for and without a fetch, until it is unpinned', async () => {
    const published = await publish(world, {}, STRANGER);
    const { address } = published;
    const before = await begin(other, published);
    expect((await read(other, before)).application.vouched).toBe(false);

    const client_name = 'Pinned';
    const pinned = await pin(server, address, { client_name });
    expect(pinned).toEqual({
      ...{ object: 'client_document', document_uri: address, application_id: null },
      ...{ name: client_name, redirect_uris: ['http://127.0.0.1/callback'], method: 'none' },
      ...{ pinned: true, kept_at: expect.any(String), kept_until: null },
    });
    // What it kept, and who vouches for it now.
    expect((await read(other, before)).application).toMatchObject({
      ...{ name: 'Notes Reader', vouched: true },
    });
    const link = await begin(other, published);
    expect((await read(other, link)).application).toMatchObject({ name: client_name });
    expect(published.requests).toBe(1);

    const { answer } = await approved(other, link, account_id);
    const application_id = answer.application.id;
    expect(answer.redirect_vouched).toBe(true);
    expect(await list(other, { pinned: true })).toEqual([{ ...pinned, application_id }]);
    expect(await list(other, { pinned: false })).toEqual([]);

    expect(await unpin(other, address)).toEqual({ ...pinned, application_id });
    expect(await list(server)).toEqual([]);
    for (const process of [server, other]) {
      const again = await read(process, await begin(process, published));
      expect(again.application).toMatchObject({ name: 'Notes Reader', vouched: false });
    }
    expect(published.requests).toBe(3);
  });

  test('leaves to no process what it fetched before', async () => {
    const published = await publish(world, {}, STRANGER);
    await begin(other, published);
    await pin(server, published.address);
    await list(other);
    await unpin(server, published.address);
    await begin(other, published);
    expect(published.requests).toBe(2);
  });

  test('is that of its latest pin', async () => {
    const published = await publish(world, {}, STRANGER);
    for (const client_name of ['One', 'Two']) {
      await pin(server, published.address, { client_name });
      const link = await begin(other, published);
      expect((await read(other, link)).application.name).toBe(client_name);
    }
    await unpin(server, published.address);
  });

  test('is not at an address with U+0000', async () => {
    for (const wire of wires) {
      const input = { document_uri: 'https://app.example/\0' };
      const { body } = await invoke(server, wire, 'admin.documents.unpin', input, operator);
      expect(body.error_code).toBe('document_not_found');
    }
  });
});

describeOnAnyStore('the list of client documents', (fresh) => {
  const server = useServer(fresh, OF_STRANGERS, toThisMachine);

  test('has those that are pinned and those that are kept, by address, and no stranger', async () => {
    const [stranger, kept] = [
      await publish(world, {}, STRANGER),
      await publish(world, {}, STRANGER),
    ];
    const { account_id } = await linkingApplication(server);
    await begin(server, stranger);
    expect(await list(server)).toEqual([]);
    const { answer } = await approved(server, await begin(server, kept), account_id);
    await pin(server, 'https://docs.example/z');
    await pin(server, 'https://docs.example/a');
    const all = await list(server);
    const of = (document: Json) => [document.document_uri, document.pinned];
    expect(all.map(of)).toEqual([
      [kept.address, false],
      ['https://docs.example/a', true],
      ['https://docs.example/z', true],
    ]);
    const { kept_at, kept_until, application_id } = all[0] as Json;
    expect(application_id).toBe(answer.application.id);
    // An hour, since its server says nothing else, and a day.
    expect(Date.parse(kept_until) - Date.parse(kept_at)).toBe(25 * 3_600_000);

    for (const wire of wires) {
      const pages: string[] = [];
      let cursor: string | undefined;
      do {
        const input = { limit: 1, ...(cursor !== undefined && { cursor }) };
        const { body } = await invoke(server, wire, 'admin.documents.list', input, operator);
        pages.push(...body.data.map((one: Json) => one.document_uri));
        cursor = body.next_cursor ?? undefined;
      } while (cursor !== undefined);
      expect(pages).toEqual(all.map((one) => one.document_uri));
    }
    for (const one of all.slice(1)) await unpin(server, one.document_uri);

    await succeed(server, 'admin.applications.disable', { application_id }, operator);
    await succeed(server, 'admin.applications.delete', { application_id }, operator);
    expect(await list(server)).toEqual([]);
  });
});

describeOnAnyStore('a pin', (fresh) => {
  const server = useServer(fresh, { ...SETTINGS, CLIENT_DOCUMENTS: 'docs.example,!out.example' });
  const refusalOf = async (document_uri: string, document: object) => {
    const input = { document_uri, document };
    const { status, body } = await invoke(server, 'REST', 'admin.documents.pin', input, operator);
    return [
      status,
      body.error_code,
      ...(body.issues ?? []).map(({ path }: Json) => path.join('.')),
    ];
  };
  const address = 'https://other.example/client.json';
  const good = { client_id: address, redirect_uris: ['cursor://anysphere.cursor-deeplink/cb'] };

  test('admits its address, but for one that the setting keeps out', async () => {
    await linkingApplication(server);
    const asked = async (client_id: string, redirect_uri: string) => {
      const published = { ...(await publish(world)), address: client_id };
      const { status, text } = await authorize(server, { ...request(published), redirect_uri });
      return [status, /client_unknown/.test(text)];
    };
    const [redirect_uri = ''] = good.redirect_uris;
    expect(await asked(address, redirect_uri)).toEqual([400, true]);
    await pin(server, address, good);
    expect(await asked(address, redirect_uri)).toEqual([303, false]);
    const out = 'https://out.example/client.json';
    await pin(server, out);
    expect(await asked(out, 'http://127.0.0.1/callback')).toEqual([400, true]);
    await unpin(server, address);
    expect(await asked(address, redirect_uri)).toEqual([400, true]);
  });

  const faults: [member: string, members: object][] = [
    ['document.client_id', { client_id: `${address}x` }],
    ['document.client_secret', { client_secret: 'x' }],
    ['document.grant_types', { grant_types: ['implicit'] }],
    ['document.response_types', { response_types: ['token'] }],
    ['document.redirect_uris', { redirect_uris: ['javascript:alert(1)'] }],
    ['document.token_endpoint_auth_method', { token_endpoint_auth_method: 'client_secret_post' }],
    ['document.jwks', { token_endpoint_auth_method: 'private_key_jwt' }],
    [
      'document.jwks',
      { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ kty: 'oct', k: 'x' }] } },
    ],
    [
      'document.jwks_uri',
      { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'http://other.example/keys' },
    ],
    [
      'document.token_endpoint_auth_signing_alg',
      { token_endpoint_auth_method: 'private_key_jwt', token_endpoint_auth_signing_alg: 'HS256' },
    ],
    ['document', { software_statement: 'x'.repeat(10_240) }],
  ];

  test.each(faults)('is refused for its %s', async (member, members) => {
    const refused = [400, 'parameter_invalid', member];
    expect(await refusalOf(address, { ...good, ...members })).toEqual(refused);
  });

  // Regression: JSON.stringify overflowed the stack.
  test('is refused for lists nested 7,000 deep', async () => {
    const document = `{"x":${'['.repeat(7_000)}${']'.repeat(7_000)}}`;
    const { status, json } = await send(server, {
      method: 'POST',
      path: '/admin/documents/pin',
      headers: JSON_TYPE,
      body: `{"document_uri":"${address}","document":${document}}`,
      authorization: operator,
    });
    expect([status, json.issues?.[0].path]).toEqual([400, ['document']]);
  });

  test.each([
    'http://other.example/client.json',
    'https://other.example/',
    'https://other.example/a?b=c',
    'https://OTHER.example/a',
    `https://${'a'.repeat(50)}.other.example/a`,
    `https://other.example/${'a'.repeat(500)}`,
  ])('is refused for its address %s', async (document_uri) => {
    const refused = [400, 'parameter_invalid', 'document_uri'];
    expect(await refusalOf(document_uri, { ...good, client_id: document_uri })).toEqual(refused);
  });

  test('is in the audit log by its address, and a cursor of nothing is refused', async () => {
    await pin(server, address, good);
    await unpin(server, address);
    const audited = server.lines.map((line): Json => JSON.parse(line));
    for (const action of ['admin.documents.pin', 'admin.documents.unpin']) {
      const line = { action, result: 'done', document_uri: address };
      expect(audited).toContainEqual(expect.objectContaining(line));
    }
    const input = { cursor: Buffer.from('no address').toString('base64url') };
    const { body } = await invoke(server, 'REST', 'admin.documents.list', input, operator);
    expect([body.error_code, body.issues[0].path]).toEqual(['parameter_invalid', ['cursor']]);
  });
});

describeOnAnyStore('the keys of a pinned document', (fresh) => {
  const server = useServer(fresh, SETTINGS);

  test('are those in it, and those at its jwks_uri are fetched', async () => {
    const { account_id } = await linkingApplication(server);
    for (const inline of [true, false]) {
      const { published, keys, sign } = await signingClient(world, server, { inline });
      await pin(server, published.address, published.members);
      const { code } = await approved(server, await begin(server, published), account_id);
      const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
      keys.list.push({ ...(await exportJWK(publicKey)), kid: 'second' });
      published.members = { ...published.members, ...(inline && { jwks: { keys: keys.list } }) };
      const { status } = await redeem(server, code, signed(await sign('second', privateKey)));
      expect(status).toBe(inline ? 400 : 200);
      if (inline) expect((await redeem(server, code, signed(await sign()))).status).toBe(200);
      expect([published.requests, keys.requests]).toEqual([0, inline ? 0 : 1]);
    }
  });
});

describeOnAnyStore('without CLIENT_DOCUMENTS', (fresh) => {
  const server = useServer(fresh, LINKING);

  test('there is none of the operations', async () => {
    for (const wire of wires) {
      for (const name of ['pin', 'unpin', 'list'] as const) {
        const { body } = await invoke(server, wire, `admin.documents.${name}`, {}, operator);
        expect(body.error_code).toBe('route_not_found');
      }
    }
  });
});
