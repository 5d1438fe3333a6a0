import { beforeAll, expect, test } from 'vitest';
import { JSON_TYPE, send, unwrapped, wires } from '../http/call.ts';
import { sqliteDatabase } from '../http/databases.ts';
import { type LinkedApplication, linkedApplication } from '../http/linked-application.ts';
import { useServer } from '../http/running-server.ts';

const server = useServer(sqliteDatabase);
let linked: LinkedApplication;
beforeAll(async () => {
  linked = await linkedApplication(server);
});

const DEPTH = 8_000;
const nested = (inner: string, depth = DEPTH) => '['.repeat(depth) + inner + ']'.repeat(depth);
const bytes = (...parts: (string | number[])[]) =>
  new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part as string))));

for (const wire of wires) {
  const path = wire === 'REST' ? '/oauth/convert' : '/trpc/grants.convert';
  const post = async (body: string | Uint8Array<ArrayBuffer>) => {
    const request = { method: 'POST', path, authorization: linked.bearer, headers: JSON_TYPE };
    const { status, json } = await send(server, { ...request, body });
    return { status, ...unwrapped(wire, json) };
  };

  test.each<[string, string | Uint8Array<ArrayBuffer>, string]>([
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
    ['a byte order mark', '\ufeff{"code":"x"}', 'body_malformed'],
    ['UTF-16', new Uint8Array(Buffer.from('{"code":"x"}', 'utf16le')), 'body_malformed'],
    ['a surrogate in UTF-8', bytes('{"code":"', [0xed, 0xa0, 0x80], '"}'), 'body_malformed'],
    ['an overlong encoding', bytes('{"code":"', [0xc1, 0xb8], '"}'), 'body_malformed'],
    [
      'a character beyond Unicode',
      bytes('{"code":"', [0xf4, 0x90, 0x80, 0x80], '"}'),
      'body_malformed',
    ],
    ['an escaped lone surrogate', '{"code":"\\ud800"}', 'code_not_found'],
    ['only white space', ' \n\t ', 'body_malformed'],
  ])(`a body over ${wire} with %s is %s`, async (_, body, error_code) => {
    expect(await post(body)).toMatchObject({ status: 400, error_code });
  });

  test(`of a repeated member, the last one counts over ${wire}`, async () => {
    const { code } = await linked.issue();
    expect((await post(`{"code":"${code}","code":"x"}`)).error_code).toBe('code_not_found');
    expect((await post(`{"code":"${code}","\\u0063ode":null}`)).error_code).toBe(
      'parameter_invalid',
    );
    expect((await post(`{"code":"x","code":"${code}"}`)).status).toBe(200);
  });
}
