import { randomUUID } from 'node:crypto';
import { errorCodes, errorDefinition } from '@latchkey/schema';
import { describe, expect, test } from 'vitest';
import { JSON_TYPE, send, succeed } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import {
  confidentialMethods,
  FORM_TYPE,
  type FormFields,
  postForm,
  publicMethods,
  tokenRequest,
} from './forms.ts';
import { asBearer, type LinkedApplication, linkedApplication } from './linked-application.ts';
import { RawConnection } from './raw-connection.ts';
import { refusalsOf } from './refusals-of.ts';
import { operator, useServer } from './running-server.ts';
import { unknownCredential } from './unknown-credential.ts';

const ROUTES = ['/oauth/token', '/oauth/revoke', '/oauth/introspect'] as const;
type Path = (typeof ROUTES)[number];

const BASIC = 'Basic realm="latchkey"';
const BEARER = 'Bearer realm="latchkey"';
const INVALID_BEARER = `${BEARER}, error="invalid_token"`;

const basic = (user: string, password: string) => `Basic ${btoa(`${user}:${password}`)}`;

/** A form that succeeds if its sender is who it has to be. */
async function rightForm(path: Path, linked: LinkedApplication): Promise<Record<string, string>> {
  return path === '/oauth/token'
    ? tokenRequest((await linked.issue()).code)
    : { token: unknownCredential('grantSecret') };
}

describeOnAnyStore('an OAuth client', (fresh) => {
  const server = useServer(fresh);

  describe.each(ROUTES)('at %s', (path) => {
    test.each(Object.entries(confidentialMethods))('authenticates by %s', async (_, method) => {
      const linked = await linkedApplication(server);
      const { fields, authorization } = method(linked);
      const form = { ...(await rightForm(path, linked)), ...fields };
      expect((await postForm(server, path, form, authorization)).status).toBe(200);
    });

    test.each(Object.entries(publicMethods))('that is public calls by %s', async (_, method) => {
      const linked = await linkedApplication(server, { public: true });
      const { fields, authorization } = method(linked);
      const form = { ...(await rightForm(path, linked)), ...fields };
      const { status, json, headers } = await postForm(server, path, form, authorization);
      if (path !== '/oauth/introspect') return expect(status).toBe(200);
      // Whoever introspects has to be somebody (RFC 7662, section 2.1).
      expect([status, json.error_code, headers.get('www-authenticate')]).toEqual(
        authorization === undefined
          ? [400, 'credentials_invalid', null]
          : [401, 'credentials_invalid', BASIC],
      );
    });
  });
});

describeOnAnyStore('the credentials of an OAuth client', (fresh) => {
  const server = useServer(fresh);

  test('may be percent-encoded, and the id in any case', async () => {
    const linked = await linkedApplication(server);
    const { application_id, secret } = linked;
    const encoded = (text: string) =>
      [...text].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('');
    for (const authorization of [
      basic(application_id.toUpperCase(), secret),
      basic(encoded(application_id), encoded(secret)),
      basic(application_id, encoded(secret)),
    ]) {
      const form = await rightForm('/oauth/token', linked);
      expect((await postForm(server, '/oauth/token', form, authorization)).status).toBe(200);
    }
    const form = await rightForm('/oauth/token', linked);
    const fields = { client_id: application_id.toUpperCase(), client_secret: secret };
    expect((await postForm(server, '/oauth/token', { ...form, ...fields })).status).toBe(200);
    // No percent-encoding, so it is taken as it is: a wrong secret, and no failure of ours.
    const { status } = await postForm(server, '/oauth/token', form, basic(application_id, '%zz'));
    expect(status).toBe(401);
  });

  describe.each(ROUTES)('at %s', (path) => {
    type Sent = { fields?: FormFields; authorization?: string };
    test.each<[string, (linked: LinkedApplication) => Sent | Promise<Sent>, string | null]>([
      [
        'a wrong secret, by Basic',
        ({ application_id: id }) => ({
          authorization: basic(id, unknownCredential('applicationSecret', id)),
        }),
        BASIC,
      ],
      [
        'a secret that is none, by Basic',
        ({ application_id: id }) => ({ authorization: basic(id, 'x') }),
        BASIC,
      ],
      [
        'the secret of another application, by Basic',
        ({ secret }) => ({ authorization: basic(randomUUID(), secret) }),
        BASIC,
      ],
      ['no user, by Basic', ({ secret }) => ({ authorization: basic('', secret) }), BASIC],
      [
        'no password of an application that has a secret, by Basic',
        ({ application_id: id }) => ({ authorization: basic(id, '') }),
        BASIC,
      ],
      ['nothing, by Basic', () => ({ authorization: 'Basic' }), BASIC],
      ['no colon, by Basic', () => ({ authorization: `Basic ${btoa('x')}` }), BASIC],
      ['a wrong secret, by Bearer', () => ({ authorization: 'Bearer x' }), INVALID_BEARER],
      [
        'a grant secret, by Bearer',
        async ({ link }) => ({ authorization: asBearer(await link()) }),
        INVALID_BEARER,
      ],
      ['an unknown scheme', () => ({ authorization: 'Digest x' }), INVALID_BEARER],
      [
        'a wrong secret, in the form',
        ({ application_id: id }) => ({
          fields: {
            client_id: id,
            client_secret: unknownCredential('applicationSecret', id),
          },
        }),
        null,
      ],
      [
        'the secret of another application, in the form',
        ({ secret }) => ({ fields: { client_id: randomUUID(), client_secret: secret } }),
        null,
      ],
      [
        'a secret without id, in the form',
        ({ secret }) => ({ fields: { client_secret: secret } }),
        null,
      ],
      [
        'the id of an application that has a secret, in the form',
        ({ application_id: client_id }) => ({ fields: { client_id } }),
        null,
      ],
      ['an unknown id, in the form', () => ({ fields: { client_id: randomUUID() } }), null],
      ['an id that is none, in the form', () => ({ fields: { client_id: 'acme' } }), null],
    ])('%s: refused', async (_, arrange, challenge) => {
      const linked = await linkedApplication(server);
      const { fields = {}, authorization } = await arrange(linked);
      const form = [...Object.entries(await rightForm(path, linked)), ...Object.entries(fields)];
      const response = await postForm(server, path, form as [string, string][], authorization);
      expect(response.json).toMatchObject({
        error: 'invalid_client',
        error_code: 'credentials_invalid',
      });
      expect(response.status).toBe(challenge === null ? 400 : 401);
      expect(response.headers.get('www-authenticate')).toBe(challenge);
    });

    test('of a disabled application are 403 in either place', async () => {
      for (const registration of [{}, { public: true }]) {
        const linked = await linkedApplication(server, registration);
        const { application_id } = linked;
        const form = await rightForm(path, linked);
        await succeed(server, 'admin.applications.disable', { application_id }, operator);
        const methods = Object.values(linked.secret === '' ? publicMethods : confidentialMethods);
        if (linked.secret === '' && path === '/oauth/introspect') continue;
        for (const method of methods) {
          const { fields, authorization } = method(linked);
          const { status, json } = await postForm(
            server,
            path,
            { ...form, ...fields },
            authorization,
          );
          expect([status, json.error_code, json.error]).toEqual([
            403,
            'application_disabled',
            'unauthorized_client',
          ]);
        }
      }
    });

    test('are given once: two ways at once, or two clients, are refused', async () => {
      const linked = await linkedApplication(server);
      const { application_id, secret, bearer } = linked;
      const form = await rightForm(path, linked);
      const header = basic(application_id, secret);
      for (const [fields, authorization, name] of [
        [{ client_secret: secret }, header, 'client_secret'],
        [{ client_secret: 'x' }, bearer, 'client_secret'],
        [{ client_id: randomUUID() }, header, 'client_id'],
        [{ client_id: randomUUID() }, bearer, 'client_id'],
      ] as const) {
        const { status, json } = await postForm(
          server,
          path,
          { ...form, ...fields },
          authorization,
        );
        expect([status, json.error_code]).toEqual([400, 'parameter_invalid']);
        expect(json.issues).toEqual([{ path: [name], message: expect.any(String) }]);
        const body = JSON.stringify({ ...form, ...fields });
        const request = { method: 'POST', path, headers: JSON_TYPE, authorization, body };
        expect((await send(server, request)).json.issues).toEqual(json.issues);
      }
      const same = { ...form, client_id: application_id.toUpperCase() };
      expect((await postForm(server, path, same, header)).status).toBe(200);
    });

    test('that are repeated are refused', async () => {
      const linked = await linkedApplication(server);
      const { application_id, secret } = linked;
      const form = Object.entries(await rightForm(path, linked));
      const right: [string, string][] = [
        ['client_id', application_id],
        ['client_secret', secret],
      ];
      for (const [name, value] of [...right, ...form]) {
        const fields: [string, string][] = [...form, ...right, [name, value]];
        const { status, json } = await postForm(server, path, fields);
        expect([status, json.error_code]).toEqual([400, 'parameter_invalid']);
        expect(json.issues).toEqual([{ path: [name], message: 'Must be given only once.' }]);
        expect(json.error_description).toBe(
          `${name}: Must be given only once. Send each parameter listed in issues as its message says.`,
        );
      }
      // A parameter without a value counts as left out, and an unknown one is ignored.
      const more: [string, string][] = [
        ['client_id', ''],
        ['audience', 'a'],
        ['audience', 'b'],
      ];
      const { status } = await postForm(server, path, [...form, ...right, ...more]);
      expect(status).toBe(200);
    });

    test('that are missing are asked for, and nothing but a form is read before', async () => {
      const fromJson = path === '/oauth/revoke' ? BEARER : BASIC;
      const unread = `{"code":"${'x'.repeat(40_000)}`;
      for (const [headers, body, challenge] of [
        [FORM_TYPE, 'token=x', BASIC],
        [FORM_TYPE, '', BASIC],
        [FORM_TYPE, 'client_id=&client_secret=', BASIC],
        [JSON_TYPE, unread, fromJson],
        [{ 'content-type': 'text/plain' }, unread, fromJson],
        [{}, undefined, fromJson],
      ] as const) {
        const response = await send(server, { method: 'POST', path, headers, body });
        expect([response.status, response.json.error_code]).toEqual([401, 'credentials_missing']);
        expect(response.headers.get('www-authenticate')).toBe(challenge);
      }
    });

    test('that are in JSON, in the query, or in another type are told where to go', async () => {
      const { application_id: client_id, secret } = await linkedApplication(server);
      const sent = { client_id, client_secret: secret };
      const query = `${path}?${new URLSearchParams(sent)}`;
      const multipart = { 'content-type': 'multipart/form-data; boundary=x' };
      for (const [to, headers, body] of [
        [path, JSON_TYPE, JSON.stringify(sent)],
        [query, FORM_TYPE, 'token=x'],
        [query, {}, undefined],
        [path, multipart, '--x\r\n'],
        [path, { 'content-type': 'text/plain' }, `${new URLSearchParams(sent)}`],
      ] as const) {
        const { json } = await send(server, { method: 'POST', path: to, headers, body });
        // RFC 7009 has no JSON: that is an operation of our own.
        const isOwn = path === '/oauth/revoke' && headers === JSON_TYPE;
        const { description } = errorDefinition('credentials_missing');
        expect(json.error_description).toBe(
          isOwn
            ? description
            : 'Send client_id and client_secret in a form, Content-Type: application/x-www-form-urlencoded, or as Authorization: Basic.',
        );
      }
    });

    test('come after the media type, the size and the encoding of a form', async () => {
      for (const [headers, body, status, error_code] of [
        [{}, `a=${'x'.repeat(16 * 1024)}`, 413, 'body_too_large'],
        [{}, 'a=%zz', 400, 'body_malformed'],
        [{}, new Uint8Array([0x61, 0x3d, 0xff]), 400, 'body_malformed'],
        [{ 'content-encoding': 'gzip' }, 'a=b', 415, 'media_type_unsupported'],
        [{ 'content-type': `${FORM_TYPE['content-type']};charset=latin1` }, 'a=b', 415],
      ] as const) {
        const request = { method: 'POST', path, headers: { ...FORM_TYPE, ...headers }, body };
        const response = await send(server, request);
        expect([response.status, response.json.error_code]).toEqual([
          status,
          error_code ?? 'media_type_unsupported',
        ]);
        // With a header, they come first.
        expect((await send(server, { ...request, authorization: 'Bearer x' })).status).toBe(401);
      }
      const utf8 = { 'content-type': 'Application/X-WWW-Form-URLEncoded; charset="UTF-8"' };
      const request = { method: 'POST', path, headers: utf8, body: 'client_id=x' };
      expect((await send(server, request)).json.error_code).toBe('credentials_invalid');
    });

    test('in two Authorization headers are invalid', async () => {
      const { application_id, secret } = await linkedApplication(server);
      const line = `Authorization: ${basic(application_id, secret)}`;
      const connection = new RawConnection(server);
      connection.request([`POST ${path} HTTP/1.1`, 'Host: x', line, line]);
      const { status, lines } = await connection.response();
      expect([status, lines.includes(`WWW-Authenticate: ${BASIC}`)]).toEqual([401, true]);
      connection.end();
    });
  });

  test('are not taken by Basic or in a form elsewhere', async () => {
    const { application_id, secret } = await linkedApplication(server);
    for (const path of ['/oauth/convert', '/oauth/recover', '/trpc/grants.introspect']) {
      const authorization = basic(application_id, secret);
      const { status } = await send(server, { method: 'POST', path, authorization });
      expect(status).toBe(401);
      const form = await postForm(server, path, {
        client_id: application_id,
        client_secret: secret,
      });
      expect(form.status).toBe(401);
      expect(form.headers.get('www-authenticate')).toBe(BEARER);
    }
  });

  test('are looked up again after a body that came late', async () => {
    const linked = await linkedApplication(server);
    const { application_id, secret } = linked;
    const body = new URLSearchParams(await rightForm('/oauth/token', linked)).toString();
    const connection = new RawConnection(server);
    connection.socket.write(
      [
        'POST /oauth/token HTTP/1.1',
        'Host: x',
        `Authorization: ${basic(application_id, secret)}`,
        'Content-Type: application/x-www-form-urlencoded',
        `Content-Length: ${body.length}`,
        'Expect: 100-continue',
        '\r\n',
      ].join('\r\n'),
    );
    expect((await connection.response()).status).toBe(100);
    await succeed(server, 'admin.applications.disable', { application_id }, operator);
    connection.socket.write(body);
    expect((await connection.response()).status).toBe(403);
    connection.end();
  });
});

describeOnAnyStore('too many failures of OAuth clients', (fresh) => {
  const server = useServer(fresh, {
    TRUST_PROXY: 'true',
    RATE_LIMIT: 'authentications=3/60,exchanges=3/60,requests=5/60',
  });
  let addresses = 0;
  const newAddress = () => `192.0.2.${addresses++}`;
  const post = async (
    address: string,
    fields: Record<string, string>,
    authorization?: string,
    path = '/oauth/token',
  ) => {
    const headers = { ...FORM_TYPE, 'x-forwarded-for': address };
    const body = new URLSearchParams(fields).toString();
    const request = { method: 'POST', path, headers, authorization, body };
    const { status, headers: received } = await send(server, request);
    return status === 429 ? `429, ${received.get('ratelimit-limit')}` : status;
  };

  test('count against the address, and right credentials pass', async () => {
    const linked = await linkedApplication(server);
    const { application_id: client_id, secret } = linked;
    const address = newAddress();
    const wrong = { client_id, client_secret: 'x' };
    for (const expected of [400, 400, 400, '429, 3'])
      expect(await post(address, wrong)).toBe(expected);
    expect(await post(address, {}, basic(client_id, 'x'))).toBe('429, 3');
    // What fails before it is known who calls fails as it would with wrong credentials.
    expect(await post(address, { client_id: '' })).toBe('429, 3');
    const headers = { ...FORM_TYPE, 'x-forwarded-for': address };
    const malformed = { method: 'POST', path: '/oauth/token', headers, body: 'a=%' };
    expect((await send(server, malformed)).status).toBe(429);

    const form = tokenRequest((await linked.issue()).code);
    expect(await post(address, { ...form, client_id, client_secret: secret })).toBe(200);
  });

  test('of a public application count against the address, never against the application', async () => {
    const linked = await linkedApplication(server, { public: true });
    const { application_id: client_id } = linked;
    const address = newAddress();
    const wrong = { ...tokenRequest('x'), client_id };
    for (let i = 0; i < 10; i++) {
      expect(await post(address, wrong)).toBe(i < 3 ? 400 : '429, 3');
    }
    expect(await post(address, { client_id })).toBe('429, 3');
    const right = async () => ({ ...tokenRequest((await linked.issue()).code), client_id });
    for (let i = 0; i < 5; i++)
      expect(await post(i % 2 ? newAddress() : address, await right())).toBe(200);
    // What succeeds counts as the requests of the application.
    expect(await post(newAddress(), await right())).toBe('429, 5');
  });

  test('of a public application leave its requests to those who have its grants', async () => {
    const linked = await linkedApplication(server, { public: true });
    const { application_id: client_id } = linked;
    const grantOf = async ({ issue }: LinkedApplication) => {
      const form = { ...tokenRequest((await issue()).code), client_id };
      const { json } = await postForm(server, '/oauth/token', form, undefined);
      return json.access_token as string;
    };
    const one = await grantOf(linked);
    const other = await linkedApplication(server);
    const another = await grantOf({
      ...linked,
      issue: () =>
        succeed(
          server,
          'admin.codes.issue',
          {
            ...{ application_id: client_id, account_id: other.account_id, scope: 'profile.read' },
          },
          operator,
        ),
    });
    const use = async (token: string) => {
      const request = { method: 'GET', path: '/v1/account', authorization: `Bearer ${token}` };
      return (await send(server, request)).status;
    };
    const revoke = (address: string, token: string) =>
      post(address, { token, client_id }, undefined, '/oauth/revoke');

    for (let i = 0; i < 6; i++) expect(await use(one)).toBe(i < 5 ? 200 : 429);
    const address = newAddress();
    for (let i = 0; i < 10; i++) expect(await revoke(address, 'x')).toBe(i < 3 ? 200 : '429, 3');
    expect(await use(another)).toBe(200);
    expect(await revoke(address, another)).toBe(200);
    expect(await use(another)).toBe(401);
    // Nothing of this took from the conversions, of which there were two.
    for (let i = 0; i < 4; i++) {
      const form = { ...tokenRequest((await linked.issue()).code), client_id };
      expect(await post(newAddress(), form)).toBe(i < 3 ? 200 : '429, 5');
    }
    expect(await revoke(newAddress(), one)).toBe(200);
  });

  test('to convert count against an application with a secret', async () => {
    const linked = await linkedApplication(server);
    const authorization = basic(linked.application_id, linked.secret);
    const { code } = await linked.issue({ redirect_uri: 'https://app.example/' });
    const wrongUri = tokenRequest(code, { redirect_uri: 'https://app.example' });
    const unasked = tokenRequest((await linked.issue()).code, { code_verifier: 'x'.repeat(43) });
    for (const [form, expected] of [
      [wrongUri, 400],
      [unasked, 400],
      [wrongUri, 400],
      [unasked, '429, 3'],
      [tokenRequest(code, { redirect_uri: 'https://app.example/' }), 200],
    ] as const) {
      expect(await post(newAddress(), form, authorization)).toBe(expected);
    }
  });
});

describeOnAnyStore('the audit', (fresh) => {
  const server = useServer(fresh);

  test('has a token request as grants.convert, and each revocation by its own name', async () => {
    const linked = await linkedApplication(server);
    const { application_id, secret } = linked;
    const authorization = basic(application_id, secret);
    const form = tokenRequest((await linked.issue()).code);
    const { json: response } = await postForm(server, '/oauth/token', form, authorization);
    const token = response.access_token;
    const converted = response.grant.grant_id;
    const { grant_id } = await linked.link();
    server.lines.length = 0;
    const json = (path: string, body: object) =>
      send(server, {
        ...{ method: 'POST', path, authorization, headers: JSON_TYPE },
        body: JSON.stringify(body),
      });
    await json('/oauth/token', form);
    await json('/oauth/introspect', { token });
    await json('/oauth/revoke', { grant_id });
    await json('/oauth/revoke', { token });
    await postForm(server, '/oauth/revoke', { token }, authorization);
    await postForm(server, '/oauth/revoke', { token }, 'Bearer x');
    const audited = server.lines
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'audit')
      .map(({ action, by, result, grant_id: about }) => [action, by, result, about]);
    expect(audited).toEqual([
      ['grants.convert', 'application', 'code_already_used', converted],
      ['grants.introspect', 'application', 'done', converted],
      ['grants.revoke', 'application', 'done', grant_id],
      ['grants.revokeToken', 'application', 'done', converted],
      // It had ended before. Whose id is in the token is only a claim.
      ['grants.revokeToken', 'application', 'done', undefined],
      ['grants.revokeToken', null, 'credentials_invalid', undefined],
    ]);
  });

  test('has the reason why a client was refused', async () => {
    const linked = await linkedApplication(server);
    const form = await rightForm('/oauth/token', linked);
    for (const [fields, reason] of [
      [{ client_id: 'acme' }, 'client_id_no_uuid'],
      [{ client_id: randomUUID() }, 'application_unknown'],
      [{ client_id: linked.application_id }, 'secret_required'],
      [{ client_secret: linked.secret }, 'client_id_of_another_application'],
    ] as const) {
      const { headers } = await postForm(server, '/oauth/token', { ...form, ...fields });
      await server.service.audit.flush();
      const request_id = headers.get('x-request-id') ?? '';
      expect(await refusalsOf(server.service, request_id)).toMatchObject([
        { operation: 'grants.convert', error_code: 'credentials_invalid', reason },
      ]);
    }
  });
});

// OAuth clients can't send a Bearer secret there: the test above has what they are told instead.
test('no description but that of missing credentials names Bearer', () => {
  const named = errorCodes.filter((code) => errorDefinition(code).description.includes('Bearer'));
  expect(named).toEqual(['credentials_missing']);
});
