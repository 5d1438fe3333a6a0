import { credentialPattern, type OperationName, operations } from '@latchkey/schema';
import { expect, test } from 'vitest';
import { type Answer, JSON_TYPE, type Json, requestOf, send, wires } from './call.ts';
import { describeOnEachStore } from './databases.ts';
import { unknownCredential } from './error-cases.ts';
import { asBasic, asBearer, linkedApplication } from './linked-application.ts';
import { ADMIN_SECRET, operator, redact, useServer } from './running-server.ts';

/** The answers that hand a credential over: nowhere else is one to be seen. */
const HANDED_OVER = new Set<OperationName>([
  'grants.convert',
  'grants.recover',
  'admin.applications.create',
  'admin.applications.secrets.create',
  'admin.codes.issue',
]);

describeOnEachStore('no credential', (fresh) => {
  const server = useServer(fresh, { LOG_LEVEL: 'trace', METRICS: 'on' });

  test('gets into the log or into an answer that is not meant to hand it over', async () => {
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
    // As they are, and as Basic and JSON write them.
    const written = secrets.flatMap((secret) => [
      secret,
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString('base64').slice(4, -4),
    ]);
    const shows = (text: string) => written.filter((secret) => text.includes(secret));

    const answers: [string, Answer][] = [];
    const note = async (title: string, request: Parameters<typeof send>[1]) =>
      answers.push([title, await send(server, request)]);

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

    expect(answers.length).toBeGreaterThan(500);
    const failed = answers.filter(([, { status }]) => status === 500);
    expect(failed).toEqual([]);
    const loud = answers.filter(([, { text }]) => shows(text).length > 0);
    expect(loud.map(([title, { status }]) => `${title} ${status}`)).toEqual([]);
    // Before anything is redacted: nothing is logged that would need it.
    expect(server.lines.length).toBeGreaterThan(500);
    expect(server.lines.filter((line) => shows(line).length > 0)).toEqual([]);
  });

  test('gets through the redaction of the log, where a caller puts one into its request id', async () => {
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
