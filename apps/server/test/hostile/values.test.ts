import {
  type ErrorCode,
  errorDefinition,
  type OperationContract,
  type OperationName,
  operations,
} from '@latchkey/schema';
import { slow } from '@latchkey/test-kit/long';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { credentialFor, inputsOf } from '../cases/cases.ts';
import { DOCUMENTS, newWorld, type World } from '../cases/world.ts';
import {
  invoke,
  JSON_TYPE,
  type Json,
  requestOf,
  send,
  succeed,
  unwrapped,
  wires,
} from '../http/call.ts';
import { describeOnAnyStore, sqliteDatabase } from '../http/databases.ts';
import { FORM_TYPE } from '../http/forms.ts';
import { asBearer, type LinkedApplication, linkedApplication } from '../http/linked-application.ts';
import { EVENTS, operator, useServer } from '../http/running-server.ts';
import { LINKING } from '../linking/link-flow.ts';

// Values that a store, a template or a language could interpret, in every member of every operation.
// The schema refuses each of them before they reach a store.

/** No member of any operation accepts these. */
const neverTaken: Json[] = [
  { $ne: 'quicksilver' },
  { $gt: '' },
  { $regex: 'quicksilver' },
  { $exists: true },
  { $where: 'return true' },
  { $in: [''] },
  { toString: 'x', length: 1 },
  {},
  [],
  [''],
  [[{ $ne: null }]],
];
/** No text member accepts these. */
const noTexts: Json[] = [...neverTaken, true, 1234567, 0];
/** No text member with a format accepts these. */
const badTexts = ['', '\0', 'a\0b', '\ud800', 'a\udc00', '\ud800\ud800', '\u001b[31m', 'a\u0085'];

describeOnAnyStore('a hostile value', (fresh) => {
  const server = useServer(fresh, { ...LINKING, ...EVENTS, ...DOCUMENTS });
  let world: World;
  let right: ReturnType<typeof inputsOf>;
  beforeAll(async () => {
    world = await newWorld(server);
    right = inputsOf(world);
  });

  /** The state that the values could change, as the operator sees it. */
  async function everything(): Promise<Json> {
    const { application_id, account_id } = world;
    const { last_used_at: _, ...secret } = (
      await succeed(server, 'admin.applications.get', { application_id }, operator)
    ).secrets[0];
    return {
      secret,
      applications: (await succeed(server, 'admin.applications.list', { limit: 100 }, operator))
        .data.length,
      account: await succeed(server, 'admin.accounts.get', { account_id }, operator),
      grants: await succeed(server, 'admin.grants.list', { account_id }, operator),
    };
  }

  const names = Object.keys(operations) as OperationName[];
  const schemaOf = (name: OperationName, member: string): Json =>
    z.toJSONSchema(operations[name].input, { io: 'input' }).properties?.[member];
  const typesOf = (schema: Json): string[] =>
    schema.anyOf?.flatMap(typesOf) ?? [schema.type].flat();

  const typeOf = (value: Json) => (Array.isArray(value) ? 'array' : typeof value);

  /** Some may be any text: it is then unknown, or means nothing. */
  function textsRefusedBy(name: OperationName, member: string): string[] {
    if (['code', 'link', 'token'].includes(member)) return [''];
    // The resource of a code is compared with those that are registered, whatever the text.
    if (member === 'resource' && name !== 'admin.resources.create') return [];
    // Whatever the text, nothing is pinned there.
    if (name === 'admin.documents.unpin') return [];
    const isIgnored = member === 'token_type_hint';
    // A user cannot be asked for another name, so it is cleaned, and compared like that.
    if (name === 'admin.accounts.list' && member === 'username') return [];
    if (name === 'admin.accounts.put') {
      if (member === 'username') return ['', '\0', '\ud800', '\u0085'];
      if (member === 'display_name' || member === 'twitter') return [];
    }
    return isIgnored || (name === 'grants.convert' && member === 'redirect_uri') ? [] : badTexts;
  }

  // Of those that exclude each other, a case has one. The last three have values in tests of their own.
  const EXCLUDED =
    /^admin\.(?:accounts\.list external_id|grants\.\w+ application_id|refusals\.list \w+_id|deliveries\.list endpoint_id|applications\.list documents|resources\.update resource|[\w.]+ choice)$/;

  test('are tried in every other member', () => {
    const untried = names.flatMap((name) => {
      const { properties = {} } = z.toJSONSchema(operations[name].input, { io: 'input' });
      const missing = Object.keys(properties).filter((member) => !(member in right[name]));
      return missing.map((member) => `${name} ${member}`);
    });
    expect(untried.filter((one) => !EXCLUDED.test(one))).toEqual([]);
  });

  for (const wire of wires) {
    test(`in each member is refused over ${wire}, and changes nothing`, slow, async () => {
      const before = await everything();
      let tried = 0;
      for (const name of names) {
        const { method, path }: OperationContract = operations[name];
        for (const member of Object.keys(right[name])) {
          const types = typesOf(schemaOf(name, member));
          const asText = wire === 'REST' && (method === 'GET' || path.includes(`{${member}}`));
          // In an address every value is a text, and these may be nearly any text.
          const isAnyText = asText && (member === 'username' || member === 'scope');
          const noText = isAnyText ? [] : noTexts;
          // A list and a record may be empty.
          const never = neverTaken.filter(
            (value) => Object.keys(value).length > 0 || !types.includes(typeOf(value)),
          );
          const values: Json[] = types.includes('string') ? noText : never;
          const texts = textsRefusedBy(name, member);
          for (const value of types.includes('string') ? [...values, ...texts] : values) {
            // A lone surrogate can't be sent in a path or a query.
            if (asText && typeof value === 'string' && !value.isWellFormed()) continue;
            if (asText && path.includes(`{${member}}`) && value === '') continue;
            const sent = asText && typeof value !== 'string' ? JSON.stringify(value) : value;
            const input = { ...right[name], [member]: sent };
            const { status, body } = await invoke(
              server,
              wire,
              name,
              input,
              credentialFor(name, world),
            );
            const told = [name, member, sent, status, body.error_code, body.issues?.[0]?.path[0]];
            expect(told).toEqual([name, member, sent, 400, 'parameter_invalid', member]);
            expect(JSON.stringify(body.issues)).not.toMatch(/quicksilver|1234567/);
            tried++;
          }
        }
      }
      expect(tried).toBeGreaterThan(200);
      expect(await everything()).toEqual(before);
    });

    test(`in a prototype is no member over ${wire}`, async () => {
      const before = await everything();
      for (const name of names) {
        const { method, path }: OperationContract = operations[name];
        // Members in the path are always sent. A GET over REST has no JSON that could hide members.
        if (wire === 'REST' && (method === 'GET' || path.includes('{'))) continue;
        const { required = [] } = z.toJSONSchema(operations[name].input, { io: 'input' });
        if (required.length === 0) continue;
        for (const hidden of ['__proto__', 'constructor', 'prototype', '$set', 'input', 'json']) {
          const text = `{${JSON.stringify(hidden)}:${JSON.stringify(right[name])}}`;
          const request = requestOf(wire, name, right[name]);
          const response = await send(server, {
            ...request,
            authorization: credentialFor(name, world),
            ...(request.method === 'GET'
              ? { path: `/trpc/${name}?input=${encodeURIComponent(text)}` }
              : { body: text, headers: JSON_TYPE }),
          });
          const body = unwrapped(wire, response.json);
          expect([name, hidden, response.status, body.error_code]).toEqual([
            ...[name, hidden, 400, 'parameter_invalid'],
          ]);
        }
      }
      expect(await everything()).toEqual(before);
    });

    test(`is an unknown code over ${wire}, whatever the text`, async () => {
      const { code } = world.pending;
      for (const text of [
        '\0',
        `${code}\0`,
        '\ud800',
        '__proto__',
        '{"$ne":null}',
        ` ${code}`,
        `${code}\n`,
        code.toUpperCase(),
        'x'.repeat(16_000),
      ]) {
        const response = await invoke(server, wire, 'grants.convert', { code: text }, world.bearer);
        expect([text, response.status, response.body.error_code]).toEqual([
          text,
          400,
          'code_not_found',
        ]);
      }
    });
  }

  test.each([
    ['account_id[$ne]=', []],
    ['account_id[]=ID', []],
    ['account_id.$ne=ID', []],
    ['account_id=ID&account_id=ID', ['account_id']],
    ['account_id=%00', ['account_id']],
    ['account_id=%FF', ['account_id']],
    ['account_id=%ED%A0%80', ['account_id']],
    ['account_id=ID&limit=1&limit=1', ['limit']],
    ['account_id=ID&limit=1e1', ['limit']],
    ['account_id=ID&limit=%2B1', ['limit']],
    ['account_id=ID&limit=', ['limit']],
    ['account_id=ID&limit=NaN', ['limit']],
    ['account_id=ID&cursor=%7B%22%24gt%22%3A%22%22%7D', ['cursor']],
    ['__proto__[account_id]=ID', []],
    ['constructor.prototype.account_id=ID', []],
  ])('in the query %s is refused', async (query, path) => {
    const request = {
      method: 'GET',
      path: `/admin/grants?${query.replaceAll('ID', world.account_id)}`,
      authorization: operator,
    };
    const { status, json } = await send(server, request);
    expect([status, json.error_code, json.issues[0].path]).toEqual([
      ...[400, 'parameter_invalid', path],
    ]);
  });

  test.each([
    'Bearer undefined',
    'Bearer null',
    'Bearer [object Object]',
    'Bearer {"$ne":null}',
    'Bearer __proto__',
    'Bearer \u00ff\u00fe',
    `Bearer ${'x'.repeat(12_000)}`,
    'Basic OjoAOgA=',
    'Basic e30=',
    'Basic //////',
    'Basic eyIkbmUiOm51bGx9OnsiJG5lIjpudWxsfQ==',
  ])('in the header "Authorization: %s" is refused', async (authorization) => {
    for (const [wire, name] of wires.flatMap((wire) =>
      names.map((name) => [wire, name] as const),
    )) {
      const request = requestOf(wire, name, right[name]);
      const { status, json } = await send(server, { ...request, authorization });
      expect([status, unwrapped(wire, json).error_code]).toEqual([401, 'credentials_invalid']);
    }
  });

  // This test must be the last: it uses up the code, the grant and the secret of the others.
  test('has changed nothing: the code, the grant and the secret still work', async () => {
    const got = await succeed(server, 'account.get', {}, asBearer(world.grant));
    expect(got.id).toBe(world.account_id);
    const { body } = await invoke(
      server,
      'REST',
      'grants.convert',
      right['grants.convert'],
      world.bearer,
    );
    expect(body).toMatchObject({ revoked: false });
  });
});

const DEPTH = 8_000;
const nested = (inner: string, depth = DEPTH) => '['.repeat(depth) + inner + ']'.repeat(depth);
const bytes = (...parts: (string | number[])[]) =>
  new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part as string))));

describe('a hostile body', () => {
  const server = useServer(sqliteDatabase);
  let linked: LinkedApplication;
  beforeAll(async () => {
    linked = await linkedApplication(server);
  });

  type Body = string | Uint8Array<ArrayBuffer>;
  const post = (path: string, headers: Record<string, string>, body: Body, as?: string) =>
    send(server, { method: 'POST', path, headers, body, authorization: as });

  describe.each(wires)('over %s', (wire) => {
    const { path } = requestOf(wire, 'grants.convert');
    async function convert(body: Body) {
      const { status, json } = await post(path, JSON_TYPE, body, linked.bearer);
      return { status, ...unwrapped(wire, json) };
    }

    test.each<[string, Body, ErrorCode]>([
      ['nested lists', nested(''), 'body_malformed'],
      ['unclosed lists', '['.repeat(16_000), 'body_malformed'],
      ['unclosed objects', '{"a":'.repeat(3_000), 'body_malformed'],
      ['a deeply nested member', `{"code":${nested('')}}`, 'parameter_invalid'],
      ['a deeply nested unknown member', `{"code":"x","deep":${nested('')}}`, 'code_not_found'],
      [
        'deeply nested objects',
        `{"code":${'{"$a":'.repeat(2_000)}1${'}'.repeat(2_001)}`,
        'parameter_invalid',
      ],
      ['a thousand members', `{"code":"x"${',"a":1'.repeat(1_000)}}`, 'code_not_found'],
      ['a number of 10,001 digits', `{"code":1${'0'.repeat(10_000)}}`, 'parameter_invalid'],
      ['a number that overflows', '{"code":1e999}', 'parameter_invalid'],
      ['NaN', '{"code":NaN}', 'body_malformed'],
      ['a comment', '{"code":"x"/**/}', 'body_malformed'],
      ['a trailing comma', '{"code":"x",}', 'body_malformed'],
      ['two objects', '{"code":"x"}{"code":"x"}', 'body_malformed'],
      ['a NUL after it', '{"code":"x"}\0', 'body_malformed'],
      ['two byte order marks', '\ufeff\ufeff{"code":"x"}', 'body_malformed'],
      ['UTF-16', new Uint8Array(Buffer.from('{"code":"x"}', 'utf16le')), 'body_malformed'],
      ['Latin-1', new Uint8Array(Buffer.from('{"code":"ä"}', 'latin1')), 'body_malformed'],
      ['half a character', bytes('{"code":"', [0xc3], '"}'), 'body_malformed'],
      ['a surrogate in UTF-8', bytes('{"code":"', [0xed, 0xa0, 0x80], '"}'), 'body_malformed'],
      ['an overlong encoding', bytes('{"code":"', [0xc1, 0xb8], '"}'), 'body_malformed'],
      [
        'a character beyond Unicode',
        bytes('{"code":"', [0xf4, 0x90, 0x80, 0x80], '"}'),
        'body_malformed',
      ],
      ['an escaped lone surrogate', '{"code":"\\ud800"}', 'code_not_found'],
      ['only white space', ' \n\t ', 'body_malformed'],
    ])('with %s is refused', async (_, body, error_code) => {
      expect(await convert(body)).toMatchObject({ status: 400, error_code });
    });

    test('of a repeated member, the last one counts', async () => {
      const { code } = await linked.issue();
      expect((await convert(`{"code":"${code}","code":"x"}`)).error_code).toBe('code_not_found');
      expect((await convert(`{"code":"${code}","\\u0063ode":null}`)).error_code).toBe(
        'parameter_invalid',
      );
      expect((await convert(`{"code":"x","code":"${code}"}`)).status).toBe(200);
    });
  });

  test.each<[string, Body, ErrorCode]>([
    ['nothing but separators', '&&&==&=&', 'parameter_invalid'],
    ['a percent sign at its end', 'code=%', 'body_malformed'],
    ['half a percent-encoding', 'code=%4', 'body_malformed'],
    ['a percent-encoding that is none', 'code=%u0041', 'body_malformed'],
    ['an encoded byte that is no UTF-8', 'code=%ff', 'body_malformed'],
    ['an encoded surrogate', 'code=%ed%a0%80', 'body_malformed'],
    ['an overlong encoding', 'code=%c1%b8', 'body_malformed'],
    ['a broken name that nobody knows', '%zz=1&code=x', 'body_malformed'],
    ['a byte that is no UTF-8', bytes('code=', [0xff]), 'body_malformed'],
    ['UTF-16', new Uint8Array(Buffer.from('code=x', 'utf16le')), 'parameter_invalid'],
    ['a byte order mark', '\ufeffcode=x', 'parameter_invalid'],
    ['JSON', '{"grant_type":"authorization_code","code":"x"}', 'parameter_invalid'],
    ['a NUL', 'grant_type=authorization_code&code=%00', 'code_not_found'],
    ['a name of the prototype', '__proto__=x&grant_type=authorization_code', 'parameter_invalid'],
    ['brackets of PHP', 'grant_type=authorization_code&code[]=x', 'parameter_invalid'],
    [
      'brackets of a query language',
      'grant_type=authorization_code&code[$ne]=x',
      'parameter_invalid',
    ],
    ['semicolons', 'grant_type=authorization_code;code=x', 'grant_type_unsupported'],
    ['a repeated member', 'grant_type=authorization_code&code=x&code=x', 'parameter_invalid'],
    ['a repeated member, encoded', 'grant_type=a&%67rant_type=a', 'parameter_invalid'],
    [
      'five thousand parameters',
      `grant_type=authorization_code&code=x${'&a='.repeat(5000)}`,
      'code_not_found',
    ],
    ['one parameter of 16 KiB', `code=${'x'.repeat(16 * 1024 - 5)}`, 'parameter_invalid'],
    ['a byte more', `code=${'x'.repeat(16 * 1024 - 4)}`, 'body_too_large'],
    ['16 KiB of encoding', `code=${'%41'.repeat(5400)}`, 'parameter_invalid'],
  ])('of a form with %s is refused, with and without a header', async (_, body, error_code) => {
    const refusal = async (as?: string) => {
      const { status, json } = await post('/oauth/token', FORM_TYPE, body, as);
      return { status, error_code: json.error_code };
    };
    const { status } = errorDefinition(error_code);
    expect(await refusal(linked.bearer)).toEqual({ status, error_code });
    // Without one, its sender is told of the form at most what is wrong with its encoding or its size.
    const isUnreadable = ['body_malformed', 'body_too_large'].includes(error_code);
    expect(await refusal()).toEqual(
      isUnreadable ? { status, error_code } : { status: 401, error_code: 'credentials_missing' },
    );
  });
});
