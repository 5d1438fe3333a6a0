import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { invoke, JSON_TYPE, type Json, requestOf, send, unwrapped, wires } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { type LinkedApplication, linkedApplication } from './linked-application.ts';
import { RawConnection } from './raw-connection.ts';
import { operator, useServer } from './running-server.ts';

const LIMIT = 16 * 1024;

describeOnAnyStore('a body', (fresh) => {
  const server = useServer(fresh);
  let linked: LinkedApplication;
  beforeAll(async () => {
    linked = await linkedApplication(server);
  });

  for (const wire of wires) {
    const { path } = requestOf(wire, 'grants.convert');
    const post = async (
      body: string | Uint8Array<ArrayBuffer>,
      headers: Record<string, string> = JSON_TYPE,
    ): Promise<Json> => {
      const authorization = linked.bearer;
      const response = await send(server, { method: 'POST', path, authorization, headers, body });
      return unwrapped(wire, response.json);
    };
    const accepted = { error_code: 'code_not_found' };

    test.each([
      'application/json',
      'application/json; charset=utf-8',
      'application/json;charset=UTF-8',
      'Application/JSON ; Charset="UTF-8"',
      'application/json; profile="x"; charset=utf-8',
    ])(`over ${wire} is accepted as %s`, async (type) => {
      expect(await post('{"code":"x"}', { 'content-type': type })).toMatchObject(accepted);
    });

    test(`over ${wire} may begin with a byte order mark`, async () => {
      expect(await post('\ufeff{"code":"x"}')).toMatchObject(accepted);
    });

    test.each([
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/octet-stream',
      'application/jsonp',
      'application/json+x',
      'application/problem+json',
      'application/json; charset=latin1',
      'application/json; charset=utf-16',
      'application/json; charset="iso-8859-1"',
      'application/json, text/plain',
    ])(`over ${wire} is refused as %s`, async (type) => {
      const { error_code } = await post('{"code":"x"}', { 'content-type': type });
      expect(error_code).toBe('media_type_unsupported');
    });

    test(`over ${wire} is refused without a Content-Type`, async () => {
      // For bytes, `fetch` adds no Content-Type.
      const { error_code } = await post(new TextEncoder().encode('{"code":"x"}'), {});
      expect(error_code).toBe('media_type_unsupported');
    });

    test(`over ${wire} is refused if it is compressed`, async () => {
      const gzip = new Uint8Array(gzipSync('{"code":"x"}'));
      for (const [encoding, expected] of [
        ['gzip', 'media_type_unsupported'],
        ['br, gzip', 'media_type_unsupported'],
        ['identity', 'body_malformed'],
      ] as const) {
        const headers = { ...JSON_TYPE, 'content-encoding': encoding };
        expect((await post(gzip, headers)).error_code).toBe(expected);
      }
    });

    test(`over ${wire} may have 16 KiB and not a byte more`, async () => {
      const padded = (length: number) => '{"code":"x"}'.padEnd(length);
      expect(await post(padded(LIMIT))).toMatchObject(accepted);
      expect((await post(padded(LIMIT + 1))).error_code).toBe('body_too_large');
      // The limit counts bytes, not characters.
      const umlauts = `{"code":"${'ä'.repeat(LIMIT / 2)}"}`;
      expect(umlauts.length).toBeLessThan(LIMIT);
      expect((await post(umlauts)).error_code).toBe('body_too_large');
    });

    test(`over ${wire} may have unknown members from an application`, async () => {
      const body = '{"code":"x","__proto__":{"code":7},"constructor":null,"extra":[{}],"":1}';
      expect(await post(body)).toMatchObject(accepted);
    });

    test(`over ${wire} may have no unknown members from an operator`, async () => {
      const input = { name: 'Acme', redirect_uri: ['https://app.example/cb'], more: 1 };
      const made = await invoke(server, wire, 'admin.applications.create', input, operator);
      expect([made.status, made.body.error_code, made.body.issues]).toEqual([
        400,
        'parameter_invalid',
        [
          {
            path: ['redirect_uri'],
            message:
              'There is no such member. redirect_uris was probably meant. Unknown members besides: 1.',
          },
        ],
      ]);
      const { application_id } = linked;
      const fixed = { application_id, public: true };
      const updated = await invoke(server, wire, 'admin.applications.update', fixed, operator);
      expect([updated.status, updated.body.issues[0].path]).toEqual([400, ['public']]);
    });

    test(`over ${wire} may have null only in expires_at`, async () => {
      const { account_id, application_id } = linked;
      const whole = {
        account_id,
        username: 'a',
        display_name: 'a',
        twitter: null,
        verified: true,
        supporter: true,
      };
      const put = (input: object) =>
        invoke(server, wire, 'admin.accounts.put', { ...input }, operator);
      expect((await put(whole)).status).toBe(200);
      for (const member of ['username', 'display_name', 'verified', 'supporter']) {
        const { status, body } = await put({ ...whole, [member]: null });
        expect([status, body.issues[0].path]).toEqual([400, [member]]);
      }
      const secret = { application_id, expires_at: null };
      const made = await invoke(
        server,
        wire,
        'admin.applications.secrets.create',
        secret,
        operator,
      );
      expect([made.status, made.body.expires_at]).toEqual([200, null]);
    });

    test(`over ${wire} is optional if no member is required`, async () => {
      const { application_id } = linked;
      const disable = requestOf(wire, 'admin.applications.enable', { application_id });
      const response = await send(server, { ...disable, authorization: operator });
      expect(response.status).toBe(200);
    });
  }

  test.each([
    ['no body and no Content-Type', {}, undefined],
    ['a Content-Type and no body', JSON_TYPE, undefined],
    ['an empty object', JSON_TYPE, '{}'],
  ])('of an operation without members: %s is accepted', async (_, headers, body) => {
    const path = `/admin/applications/${linked.application_id}/enable`;
    const request = { method: 'POST', path, authorization: operator, headers, body };
    expect((await send(server, request)).status).toBe(200);
  });

  test.each([
    ['[]', 'body_malformed'],
    ['null', 'body_malformed'],
    ['x', 'body_malformed'],
  ])('of an operation without members: %s is %s', async (body, error_code) => {
    const path = `/admin/applications/${linked.application_id}/enable`;
    const request = { method: 'POST', path, authorization: operator, headers: JSON_TYPE, body };
    expect((await send(server, request)).json.error_code).toBe(error_code);
  });

  test('does not override the identifier in the path', async () => {
    const other = await linkedApplication(server);
    const path = `/admin/applications/${linked.application_id}/enable`;
    const body = JSON.stringify({ application_id: other.application_id });
    const request = { method: 'POST', path, authorization: operator, headers: JSON_TYPE, body };
    expect((await send(server, request)).json.id).toBe(linked.application_id);
  });

  test.each([
    ['%37', 'is decoded', 'parameter_invalid'],
    ['%zz', 'is badly encoded', 'parameter_invalid'],
    ['..%2f', 'goes up', 'parameter_invalid'],
    ['0193aa00-0000-7000-8000-00000000000g', 'has a wrong digit', 'parameter_invalid'],
    ['{account_id}', 'is a template', 'parameter_invalid'],
  ])('the identifier %s in a path, which %s, is %s', async (id, _, error_code) => {
    const request = { method: 'GET', path: `/admin/accounts/${id}`, authorization: operator };
    const { status, json } = await send(server, request);
    expect([status, json.error_code]).toEqual([400, error_code]);
    expect(json.issues[0].path).toEqual(['account_id']);
  });

  const head = (path: string, ...lines: string[]) => [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    `Authorization: ${linked.bearer}`,
    ...lines,
  ];
  const chunked = (...chunks: string[]) =>
    [...chunks, ''].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
  const JSON_LINE = 'Content-Type: application/json';
  const CHUNKED = 'Transfer-Encoding: chunked';

  test.each([
    ['in chunks is read', [JSON_LINE], chunked('{"code"', ':"x"}'), 'code_not_found'],
    ['in chunks needs a media type', [], chunked('{"code":"x"}'), 'media_type_unsupported'],
    [
      'in chunks has its media type checked before its size',
      ['Content-Type: text/plain'],
      chunked(...Array<string>(20).fill('x'.repeat(1024))),
      'media_type_unsupported',
    ],
    [
      'in chunks has the same limit',
      [JSON_LINE],
      chunked(...Array<string>(17).fill('x'.repeat(1024))),
      'body_too_large',
    ],
    ['of no chunks is no body', [], chunked(), 'body_malformed'],
  ])('%s', async (_, lines, body, error_code) => {
    const connection = new RawConnection(server);
    connection.request(head('/oauth/convert', CHUNKED, ...lines), body);
    expect(JSON.parse((await connection.response()).body).error_code).toBe(error_code);
    connection.end();
  });

  test('of no chunks is accepted if no body is required', async () => {
    const connection = new RawConnection(server);
    const path = `/admin/applications/${linked.application_id}/enable`;
    const lines = [`POST ${path} HTTP/1.1`, 'Host: x', `Authorization: ${operator}`, CHUNKED];
    connection.request(lines, chunked());
    expect((await connection.response()).status).toBe(200);
    connection.end();
  });
});
