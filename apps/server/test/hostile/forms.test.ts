import { type ErrorCode, errorDefinition, objects } from '@latchkey/schema';
import { longer } from '@latchkey/test-kit/long';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { send } from '../http/call.ts';
import { describeOnAnyStore, sqliteDatabase } from '../http/databases.ts';
import { FORM_TYPE, pkce, postForm, tokenRequest } from '../http/forms.ts';
import { type LinkedApplication, linkedApplication } from '../http/linked-application.ts';
import { useServer } from '../http/running-server.ts';

const ROUTES = ['/oauth/token', '/oauth/revoke', '/oauth/introspect'] as const;

type Body = string | Uint8Array<ArrayBuffer>;

const bytes = (...parts: (string | number[])[]): Body =>
  new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part as string))));

describe('a form', () => {
  const server = useServer(sqliteDatabase);
  let linked: LinkedApplication;
  beforeAll(async () => {
    linked = await linkedApplication(server);
  });
  const post = async (body: Body, authorization?: string) => {
    const request = { method: 'POST', path: '/oauth/token', headers: FORM_TYPE };
    const { status, json } = await send(server, { ...request, authorization, body });
    return { status, error_code: json.error_code };
  };

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
  ])('with %s is refused, with and without a header: %s', async (_, body, error_code) => {
    const { status } = errorDefinition(error_code);
    expect(await post(body, linked.bearer)).toEqual({ status, error_code });
    // Without one, its sender is told of the form at most what is wrong with its encoding or its size.
    const isUnreadable = ['body_malformed', 'body_too_large'].includes(error_code);
    expect(await post(body)).toEqual(
      isUnreadable ? { status, error_code } : { status: 401, error_code: 'credentials_missing' },
    );
  });
});

const names = fc.constantFrom(
  ...['grant_type', 'code', 'redirect_uri', 'code_verifier', 'token', 'token_type_hint'],
  ...['client_id', 'client_secret', 'grant_id', '', '__proto__', 'scope'],
);

const ALLOWED: ReadonlySet<ErrorCode> = new Set([
  'credentials_missing',
  'credentials_invalid',
  'body_malformed',
  'body_too_large',
  'media_type_unsupported',
  'parameter_invalid',
  'code_not_found',
  'code_verifier_mismatch',
  'grant_type_unsupported',
]);

describeOnAnyStore('the forms of OAuth clients, fuzzed,', (fresh) => {
  const server = useServer(fresh);

  test('get an answer of the contract, and spend no code', {
    timeout: longer(300_000, 600_000),
  }, async () => {
    const linked = await linkedApplication(server);
    const { application_id, secret, bearer } = linked;
    const { code_verifier, code_challenge } = pkce();
    const { code } = await linked.issue({ code_challenge });
    const grant = await linked.link();
    // Everything that is right but the verifier.
    const rights = [
      'authorization_code',
      code,
      application_id,
      secret,
      grant.grant_id,
      'https://a/',
    ];
    const value = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...rights) },
      fc.string({ unit: 'grapheme', maxLength: 50 }),
    );
    const wellFormed = fc
      .array(fc.tuple(names, value), { maxLength: 8 })
      .map((pairs): Body => new URLSearchParams(pairs).toString());
    const damaged = fc
      .tuple(wellFormed, fc.nat(400), fc.constantFrom('%', '&', '=', '+', '%zz', ';', '\0', '"'))
      .map(([form, at, text]): Body => form.slice(0, at) + text + form.slice(at));
    const garbage = fc.uint8Array({ maxLength: 200 }).map((array): Body => new Uint8Array(array));

    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...ROUTES),
        fc.oneof({ weight: 4, arbitrary: wellFormed }, damaged, garbage),
        fc.constantFrom(
          undefined,
          bearer,
          `Basic ${btoa(`${application_id}:${secret}`)}`,
          'Basic x',
        ),
        fc.constantFrom('', ';charset=utf-8', ';charset=utf-16'),
        async (path, body, authorization, charset) => {
          const headers = { 'content-type': FORM_TYPE['content-type'] + charset };
          const request = { method: 'POST', path, headers, authorization, body };
          const { status, json, text } = await send(server, request);
          if (status === 200) {
            expect(path).not.toBe('/oauth/token');
            return;
          }
          expect(ALLOWED).toContain(json.error_code);
          expect(objects.errorBody.parse(json)).toEqual(json);
          const isInForm = json.error_code === 'credentials_invalid' && status === 400;
          if (!isInForm) expect(status).toBe(errorDefinition(json.error_code).status);
          for (const credential of [code, secret]) expect(text).not.toContain(credential);
        },
      ),
      { numRuns: longer(300, 20_000) },
    );

    const right = { ...tokenRequest(code), code_verifier };
    expect((await postForm(server, '/oauth/token', right, bearer)).status).toBe(200);
    const { grant_secret } = grant;
    expect(
      (await postForm(server, '/oauth/introspect', { token: grant_secret }, bearer)).json.active,
    ).toBe(true);
    expect(server.lines.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
  });
});
