import { randomUUID } from 'node:crypto';
import type { OperationName } from '@latchkey/schema';
import { expect, test } from 'vitest';
import { invoke, type Json, requestOf, send, succeed, wires } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { linkedApplication } from './linked-application.ts';
import { ADMIN_SECRET, operator, useServer } from './running-server.ts';
import { unknownCredential } from './unknown-credential.ts';

describeOnAnyStore('refusals', (fresh) => {
  const server = useServer(fresh);

  async function refused(
    request_id: string,
    name: OperationName,
    input: Record<string, unknown>,
    authorization: string,
  ): Promise<string> {
    const request = requestOf('REST', name, input);
    const headers = { ...request.headers, 'x-request-id': request_id };
    const { status, json } = await send(server, { ...request, headers, authorization });
    expect(status).toBeGreaterThanOrEqual(400);
    server.advance(1);
    return json.error_code;
  }

  const list = (input: Record<string, unknown>): Promise<Json> =>
    succeed(server, 'admin.refusals.list', input, operator);

  const requestsIn = ({ data }: Json) => data.map(({ request_id }: Json) => request_id);

  test('are found by their application, account, grant and request, newest first', async () => {
    const linked = await linkedApplication(server);
    const other = await linkedApplication(server);
    const { application_id, account_id, bearer } = linked;
    const { grant_id, grant_secret } = await linked.link();
    const forged = unknownCredential('code', grant_id);
    await refused('a-forgery', 'grants.convert', { code: forged }, bearer);
    await refused('of-another', 'grants.recover', { grant_id }, other.bearer);
    await refused('not-found', 'admin.codes.cancel', { grant_id }, operator);
    await succeed(server, 'admin.grants.revoke', { grant_id }, operator);
    await refused('of-the-user', 'account.get', {}, `Bearer ${grant_secret}`);
    const unknown = { application_id: randomUUID(), account_id, scope: 'a' };
    await refused('of-the-host', 'admin.codes.issue', unknown, operator);

    const about = ['of-the-user', 'not-found', 'of-another', 'a-forgery'];
    expect(requestsIn(await list({ grant_id }))).toEqual(about);
    expect(requestsIn(await list({ account_id }))).toEqual(['of-the-host', ...about]);
    const { refusals } = await succeed(server, 'admin.accounts.export', { account_id }, operator);
    expect(requestsIn({ data: refusals.toReversed() })).toEqual(['of-the-host', ...about]);
    expect(refusals.at(-1).grant_id).toBeNull();
    expect(requestsIn(await list({ application_id }))).toEqual(['of-the-user', 'a-forgery']);
    expect(requestsIn(await list({ limit: 2 }))).toEqual(['of-the-host', 'of-the-user']);
    const [first] = (await list({ account_id, limit: 1 })).data;
    expect(requestsIn(await list({ account_id, since: first.at }))).toEqual(['of-the-host']);
    expect(await list({ request_id: 'of-the-user' })).toEqual({
      object: 'list',
      data: [
        {
          object: 'refusal',
          at: expect.stringMatching(/^20\d\d-.*\+00:00$/),
          request_id: 'of-the-user',
          operation: 'account.get',
          error_code: 'credentials_invalid',
          reason: 'grant_revoked',
          found: expect.stringMatching(/\.$/),
          advice: expect.stringMatching(/\.$/),
          by: null,
          ...{ application_id, account_id, grant_id, key_id: null },
          address: '127.0.0.1',
        },
      ],
      next_cursor: null,
    });
  });

  test('of one request id end the first page with the first, and have none twice', async () => {
    const request_id = `repeated-${randomUUID()}`;
    for (let nth = 0; nth < 7; nth++) {
      await refused(request_id, 'admin.codes.cancel', { grant_id: randomUUID() }, operator);
    }
    const all = await list({ request_id });
    const wanted: string[] = all.data.map(({ at }: Json) => at);
    expect(wanted).toEqual([...new Set(wanted)].sort().reverse());
    expect([wanted.length, all.next_cursor]).toEqual([7, null]);
    for (const limit of [1, 2, 3, 6, 7]) {
      const pages: string[][] = [];
      let cursor: string | null = null;
      do {
        const page: Json = await list({ request_id, limit, ...(cursor && { cursor }) });
        expect(page.data.length).toBeLessThanOrEqual(limit);
        pages.push(page.data.map(({ at }: Json) => at));
        cursor = page.next_cursor;
      } while (cursor !== null);
      expect(pages[0]?.at(-1)).toBe(wanted.at(-1));
      const [first = '', ...rest] = [pages[0]?.pop(), ...pages.flat()];
      expect([...rest, first], `pages of ${limit}`).toEqual(wanted);
    }
    // The first of those from a time on.
    const since = wanted[4];
    expect((await list({ request_id, since, limit: 2 })).data.map(({ at }: Json) => at)).toEqual([
      wanted[0],
      since,
    ]);
  });

  test('of a request id that has a credential are found by it, and show none', async () => {
    const { bearer, secret, account_id } = await linkedApplication(server);
    await refused(secret, 'grants.convert', { code: 'no code' }, bearer);
    const found = await list({ request_id: secret });
    expect(requestsIn(found)).toEqual(['[redacted]']);
    expect(JSON.stringify(found)).not.toContain(secret);
    expect(requestsIn(await list({ account_id }))).toEqual([]);
  });

  test.each(wires)('take one filter, and no time to come, over %s', async (wire) => {
    const id = randomUUID();
    const at = (offset: number) => new Date(server.now() + offset).toISOString();
    for (const input of [
      { account_id: id, grant_id: id },
      { request_id: id, application_id: id },
      { since: at(1_000) },
      { since: '2026-11-21T02:15:30' },
      { request_id: '' },
      { cursor: 'x' },
    ]) {
      const { status, body } = await invoke(server, wire, 'admin.refusals.list', input, operator);
      expect([status, body.error_code], JSON.stringify(input)).toEqual([400, 'parameter_invalid']);
    }
    expect((await list({ since: at(0), account_id: id })).data).toEqual([]);
  });

  test.each(wires)(
    'a grant that nobody knows has no history, asked twice over %s',
    async (wire) => {
      const grant_id = randomUUID();
      for (const _ of [1, 2]) {
        const asked = await invoke(server, wire, 'admin.grants.history', { grant_id }, operator);
        expect([asked.status, asked.body.error_code]).toEqual([404, 'grant_not_found']);
      }
    },
  );

  test.each(wires)('a grant has its history over %s', async (wire) => {
    const linked = await linkedApplication(server);
    const { application_id, account_id, secret_id, bearer } = linked;
    const { grant_id } = await linked.link();
    await refused('a-cancel', 'admin.codes.cancel', { grant_id }, operator);
    await succeed(server, 'grants.revoke', { grant_id }, bearer);
    const name = 'admin.grants.history';
    const { body: history } = await invoke(server, wire, name, { grant_id }, operator);
    expect(history).toMatchObject({
      ...{ object: 'grant_history', grant_id, application_id, account_id, recoveries: 0 },
      data: [
        { what: 'issued', result: 'done', by: 'operator' },
        { what: 'converted', result: 'done', by: 'application', secret_id },
        { what: 'admin.codes.cancel', result: 'grant_not_found', reason: 'code_redeemed' },
        { what: 'revoked', result: 'done', by: 'application', secret_id },
      ],
    });
    expect(Object.keys(history.data[0])).toEqual([
      ...['at', 'what', 'result', 'reason', 'by', 'application_id', 'secret_id'],
      ...['key_id', 'request_id', 'address', 'os_user'],
    ]);
  });

  test('show a read key no credential, and a host key nothing', async () => {
    const [reader, host] = await Promise.all(
      ['read', 'host'].map((role) =>
        succeed(server, 'admin.keys.create', { name: 'Reader', role }, operator),
      ),
    );
    const { secret, bearer, issue, convert, account_id } = await linkedApplication(server);
    const { code, grant_id } = await issue();
    const { grant_secret } = await convert(code);
    await refused(code, 'grants.convert', { code }, bearer);
    await refused(grant_secret, 'grants.recover', { grant_id: randomUUID() }, bearer);
    await refused(reader.secret, 'admin.keys.list', {}, `Bearer ${reader.secret}`);
    await refused('ADMIN_SECRET', 'account.get', {}, operator);
    for (const [name, input] of [
      ['admin.refusals.list', { limit: 100 }],
      ['admin.refusals.list', { account_id }],
      ['admin.grants.history', { grant_id }],
    ] as const) {
      const request = requestOf('REST', name, input);
      const shown = await send(server, { ...request, authorization: `Bearer ${reader.secret}` });
      expect(shown.status).toBe(200);
      expect(shown.text).toContain('127.0.0.1');
      for (const hidden of [secret, code, grant_secret, reader.secret, ADMIN_SECRET]) {
        expect(shown.text).not.toContain(hidden);
      }
      const denied = await send(server, { ...request, authorization: `Bearer ${host.secret}` });
      expect([denied.status, denied.json.error_code]).toEqual([403, 'right_missing']);
    }
  });
});
