import { credentialPattern, type OperationName, operations } from '@latchkey/schema';
import { slow } from '@latchkey/test-kit/long';
import { describe, expect, test } from 'vitest';
import { errorCases } from '../cases/errors.ts';
import { type HttpResponse, invoke, JSON_TYPE, type Json, requestOf, send, wires } from './call.ts';
import { describeOnAnyStore, sqliteDatabase } from './databases.ts';
import { FORM_TYPE, pkce, postForm, tokenRequest } from './forms.ts';
import { asBasic, asBearer, linkedApplication } from './linked-application.ts';
import { ADMIN_SECRET, EVENTS, operator, redact, useServer } from './running-server.ts';
import { unknownCredential } from './unknown-credential.ts';

/** The responses that contain a credential. No other response may. */
const HANDED_OVER = new Set<OperationName>([
  'grants.convert',
  'grants.recover',
  'admin.applications.create',
  'admin.applications.secrets.create',
  'admin.codes.issue',
]);

/** The 32 random bytes of a credential; null for the ADMIN_SECRET, which has another form. */
function randomPart(credential: string): Buffer | null {
  const digits = credential.match(/_([0-9A-Za-z]{65})[0-9A-Za-z]{6}$/)?.[1];
  if (digits === undefined) return null;
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  let number = 0n;
  for (const digit of digits) number = number * 62n + BigInt(alphabet.indexOf(digit));
  return Buffer.from(number.toString(16).padStart(96, '0').slice(-64), 'hex');
}

const SETTINGS = { LOG_LEVEL: 'trace', METRICS: 'on', ...EVENTS };

// What a store could add to a log or a response is looked at below, with each error.
describe('no credential, wherever it is sent,', () => {
  const server = useServer(sqliteDatabase, SETTINGS);

  test('gets into the log or into a response that is not meant to contain it', slow, async () => {
    const linked = await linkedApplication(server);
    const other = await linkedApplication(server);
    const { code, grant_id } = await linked.issue();
    const grant = await linked.convert(code);
    const pending = await linked.issue();
    const secrets = [
      ADMIN_SECRET,
      linked.secret,
      other.secret,
      code,
      pending.code,
      grant.grant_secret,
    ];
    // Plain, and encoded as in Basic and JSON.
    const written = secrets.flatMap((secret) => [
      secret,
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString('base64').slice(4, -4),
    ]);
    const shows = (text: string) => written.filter((secret) => text.includes(secret));

    const responses: [string, HttpResponse][] = [];
    const note = async (title: string, request: Parameters<typeof send>[1]) =>
      responses.push([title, await send(server, request)]);

    const headers = [
      operator,
      linked.bearer,
      asBearer(grant),
      asBasic(grant),
      `Bearer ${code}`,
      `Basic ${btoa(`${linked.application_id}:${linked.secret}`)}`,
      linked.secret,
      `Bearer ${linked.secret} ${linked.secret}`,
      `Bearer ${unknownCredential('applicationSecret')}`,
    ];
    // Every credential in every place of every operation.
    const named = { grant_id, account_id: linked.account_id, application_id: code };
    const inputs = [
      { ...named, code: grant.grant_secret, name: '\u0000', secret_id: linked.secret },
      { ...named, code: [code], limit: code, cursor: linked.secret, expires_at: ADMIN_SECRET },
      { ...named, account_id: ADMIN_SECRET, username: { secret: linked.secret } },
      { grant_id: code, code, secret: linked.secret },
    ];
    for (const wire of wires) {
      for (const name of Object.keys(operations) as OperationName[]) {
        if (name === 'grants.revoke' || HANDED_OVER.has(name)) continue;
        for (const authorization of headers) {
          for (const input of inputs) {
            await note(name, { ...requestOf(wire, name, input), authorization });
          }
        }
      }
      for (const authorization of headers) {
        for (const name of ['grants.convert', 'grants.revoke', 'grants.recover'] as const) {
          for (const input of [{ code: [pending.code] }, { code: grant.grant_secret }, { code }]) {
            await note(name, { ...requestOf(wire, name, input), authorization });
          }
        }
        const { path } = requestOf(wire, 'grants.convert');
        for (const body of [`{"code":"${pending.code}`, pending.code, `[${linked.secret}]`]) {
          const request = { method: 'POST', path, authorization, headers: JSON_TYPE, body };
          await note('a malformed body', request);
        }
      }
    }
    for (const path of [
      `/${code}`,
      `/oauth/${linked.secret}`,
      `/admin/codes/${code}`,
      `/oauth/convert?code=${code}`,
      `/trpc/${code}`,
      `/trpc/${code},account.get?batch=1`,
      `/trpc/account.get?input=${grant.grant_secret}`,
      `/docs?secret=${linked.secret}`,
      '/metrics',
    ]) {
      await note(path.replace(/lk_.*/, ''), { method: 'GET', path, authorization: operator });
      await note(path.replace(/lk_.*/, ''), { method: 'DELETE', path });
    }

    expect(responses.length).toBeGreaterThan(500);
    const failed = responses.filter(([, { status }]) => status === 500);
    expect(failed).toEqual([]);
    const loud = responses.filter(([, { text }]) => shows(text).length > 0);
    expect(loud.map(([title, { status }]) => `${title} ${status}`)).toEqual([]);
    // These lines are not redacted: nothing is logged that would need it.
    expect(server.lines.length).toBeGreaterThan(500);
    expect(server.lines.filter((line) => shows(line).length > 0)).toEqual([]);
  });
});

describeOnAnyStore('no credential', (fresh) => {
  const server = useServer(fresh, SETTINGS);

  test('gets into the log, the response or the database with any error', async () => {
    const used = new Set<string>([ADMIN_SECRET]);
    const note = (text: string) => {
      for (const [credential] of text.matchAll(credentialPattern)) used.add(credential);
    };
    const refusals: string[] = [];
    server.lines.length = 0;
    for (const wire of wires) {
      for (const { code, when, arrange } of errorCases) {
        const linked = await linkedApplication(server);
        const { request } = await arrange({ server, wire, linked });
        const { authorization = '', path, body = '' } = request;
        note([linked.secret, authorization, decodeURIComponent(path), body].join());
        const { text } = await send(server, request);
        refusals.push(`${code} where ${when}: ${text}`);
      }
    }
    // The calls that return credentials, and those that use them, are covered too.
    const linked = await linkedApplication(server);
    const { code, grant_id } = await linked.issue();
    const lost = await linked.convert(code);
    const { body: grant } = await invoke(
      server,
      'tRPC',
      'grants.recover',
      { grant_id },
      linked.bearer,
    );
    await send(server, { ...requestOf('REST', 'account.get'), authorization: asBasic(grant) });
    await invoke(server, 'REST', 'grants.revoke', { grant_id }, linked.bearer);
    note([code, lost.grant_secret, grant.grant_secret].join());

    expect(used.size).toBeGreaterThan(100);
    const shows = (text: string) => [...used].some((secret) => text.includes(secret.slice(-40)));
    expect(refusals.filter(shows)).toEqual([]);
    expect(server.lines.filter(shows)).toEqual([]);
    for (const path of ['/docs', '/docs/errors', '/openapi.json', '/healthz', '/readyz']) {
      expect(shows((await send(server, { method: 'GET', path })).text)).toBe(false);
    }

    const bytes = await server.database.bytes();
    expect(bytes.includes('Ada Lovelace')).toBe(true);
    for (const secret of used) {
      // The end of a credential is its secret part: the prefix and the id are known.
      expect(bytes.includes(secret.slice(-40))).toBe(false);
      // The random part must not be stored as bytes either.
      const random = randomPart(secret);
      if (random !== null) expect(bytes.includes(random)).toBe(false);
    }
  });

  test('gets out of the forms of OAuth clients, nor does a verifier', async () => {
    const linked = await linkedApplication(server);
    const { application_id, secret, bearer } = linked;
    const { code_verifier, code_challenge } = pkce();
    const other = pkce();
    const { code } = await linked.issue({ code_challenge, redirect_uri: 'https://app.example/' });
    const grant = await linked.link();
    const secrets = [secret, code, code_verifier, other.code_verifier, grant.grant_secret];
    const shows = (text: string) => secrets.filter((one) => text.includes(one));
    server.lines.length = 0;

    const responses: HttpResponse[] = [];
    const places = [
      ...['grant_type', 'code', 'redirect_uri', 'code_verifier', 'token', 'token_type_hint'],
      ...['client_id', 'client_secret', 'grant_id', 'lk'],
    ];
    const credentials = { client_id: application_id, client_secret: secret };
    const basic = `Basic ${btoa(`${application_id}:${secret}`)}`;
    for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/introspect']) {
      for (const place of places) {
        for (const value of secrets) {
          const fields = { ...tokenRequest(code, { redirect_uri: 'https://x/' }), [place]: value };
          responses.push(await postForm(server, path, { ...fields, ...credentials }));
          responses.push(await postForm(server, path, { ...credentials, ...fields }));
          responses.push(await postForm(server, path, fields, basic));
          const twice: [string, string][] = [...Object.entries(fields), [place, value]];
          responses.push(await postForm(server, path, twice, bearer));
        }
      }
      for (const body of [`code=${code}&%`, `${secret}=%zz`, `token=${code_verifier}%`]) {
        const request = { method: 'POST', path, headers: FORM_TYPE, authorization: bearer, body };
        responses.push(await send(server, request));
      }
    }
    expect(responses.filter(({ status }) => status >= 500)).toEqual([]);
    expect(responses.filter(({ status }) => status === 400).length).toBeGreaterThan(300);
    expect(responses.flatMap(({ text }) => shows(text))).toEqual([]);

    const right = { code_verifier, redirect_uri: 'https://app.example/' };
    const { json } = await postForm(server, '/oauth/token', tokenRequest(code, right), basic);
    secrets.push(json.access_token);
    await server.service.audit.flush();
    // These lines are not redacted: nothing is logged that would need it.
    expect(server.lines.filter((line) => shows(line).length > 0)).toEqual([]);
    const stored = await server.database.bytes();
    expect(secrets.filter((one) => stored.includes(one.slice(-40)))).toEqual([]);
  });

  test('passes the redaction of the log if a client sends it as its request id', async () => {
    const { secret, bearer } = await linkedApplication(server);
    server.lines.length = 0;
    const request = requestOf('REST', 'grants.revoke', { grant_id: secret });
    const headers = { ...request.headers, 'x-request-id': secret };
    await send(server, { ...request, headers, authorization: bearer });
    const log = server.lines.map(redact).join('');
    expect(log).toContain('"request_id":"[redacted]"');
    expect(log).not.toMatch(credentialPattern);
  });

  test('is in the list of an application’s secrets', async () => {
    const { application_id, secret } = await linkedApplication(server);
    for (const name of ['get', 'disable', 'enable', 'list'] as const) {
      const request = requestOf(
        'REST',
        `admin.applications.${name}`,
        name === 'list' ? {} : { application_id },
      );
      const { text, json } = await send(server, { ...request, authorization: operator });
      expect(text).not.toContain(secret);
      const [application] = name === 'list' ? json.data : [json];
      expect(application.secrets.every((record: Json) => record.secret === undefined)).toBe(true);
    }
  });
});
