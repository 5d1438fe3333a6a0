import { randomUUID } from 'node:crypto';
import type { OperationName } from '@latchkey/schema';
import { expect, test } from 'vitest';
import { invoke, type Json, send, succeed, type Wire, wires } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { linkedApplication } from './linked-application.ts';
import { operator, type TestServer, useServer } from './running-server.ts';

/** Reads a list to its end, page by page. */
async function pages(
  server: TestServer,
  wire: Wire,
  name: OperationName,
  input: Record<string, unknown>,
): Promise<Json[][]> {
  const found: Json[][] = [];
  let cursor: string | undefined;
  do {
    const page = { ...input, ...(cursor !== undefined && { cursor }) };
    const { body, status } = await invoke(server, wire, name, page, operator);
    expect(status).toBe(200);
    found.push(body.data);
    cursor = body.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}

describeOnAnyStore('lists', (fresh) => {
  const server = useServer(fresh);

  test.each(wires)('of grants have pages, newest first, over %s', async (wire) => {
    const linked = await linkedApplication(server);
    const made: string[] = [];
    for (let i = 0; i < 5; i++) {
      server.advance(1);
      made.unshift((await linked.link()).grant_id);
    }
    await linked.issue();
    const { application_id, account_id } = linked;
    await succeed(server, 'admin.grants.revoke', { grant_id: made[1] }, operator);
    for (const filter of [{ application_id }, { account_id }]) {
      const two = await pages(server, wire, 'admin.grants.list', { ...filter, limit: 2 });
      expect(two.map((page) => page.map(({ grant_id }) => grant_id))).toEqual([
        made.slice(0, 2),
        made.slice(2, 4),
        made.slice(4),
      ]);
      expect(two.flat().map(({ revoked }) => revoked)).toEqual([false, true, false, false, false]);
      // A full last page has no cursor to an empty page.
      expect(await pages(server, wire, 'admin.grants.list', { ...filter, limit: 5 })).toHaveLength(
        1,
      );
    }
  });

  test('of applications are not shifted by an addition between two pages', async () => {
    for (let i = 0; i < 3; i++) {
      server.advance(1);
      await linkedApplication(server);
    }
    const list = (input: object) =>
      succeed(server, 'admin.applications.list', { ...input }, operator);
    const all: string[] = (await list({ limit: 100 })).data.map(({ id }: Json) => id);
    expect(all).toEqual([...all].sort().reverse());
    const first = await list({ limit: 2 });
    server.advance(1);
    await linkedApplication(server);
    const second = await list({ limit: 1, cursor: first.next_cursor });
    expect([...first.data, ...second.data].map(({ id }: Json) => id)).toEqual(all.slice(0, 3));
  });

  test('have 50 entries by default', async () => {
    const linked = await linkedApplication(server);
    for (let i = 0; i < 51; i++) await linked.link();
    const { account_id } = linked;
    const { data, next_cursor } = await succeed(
      server,
      'admin.grants.list',
      { account_id },
      operator,
    );
    expect(data).toHaveLength(50);
    expect(next_cursor).not.toBeNull();
  });

  test.each(wires)('of an unknown account or application are empty, over %s', async (wire) => {
    for (const filter of [{ account_id: randomUUID() }, { application_id: randomUUID() }]) {
      const { body } = await invoke(server, wire, 'admin.grants.list', filter, operator);
      expect(body).toStrictEqual({ object: 'list', data: [], next_cursor: null });
    }
  });

  const id = randomUUID();
  test.each([
    ['/admin/applications?limit=0', ['limit']],
    ['/admin/applications?limit=101', ['limit']],
    ['/admin/applications?limit=-1', ['limit']],
    ['/admin/applications?limit=1.5', ['limit']],
    ['/admin/applications?limit=1e1', ['limit']],
    ['/admin/applications?limit=', ['limit']],
    ['/admin/applications?limit=5&limit=5', ['limit']],
    ['/admin/applications?limit=99999999999999999999', ['limit']],
    ['/admin/applications?cursor=', ['cursor']],
    ['/admin/applications?cursor=abc', ['cursor']],
    [`/admin/applications?cursor=${id}`, ['cursor']],
    ['/admin/accounts?limit=0', ['limit']],
    ['/admin/accounts?username=a&username=b', ['username']],
    ['/admin/grants', []],
    [`/admin/grants?account_id=${id}&application_id=${id}`, []],
    ['/admin/grants?account_id=7', ['account_id']],
    [`/admin/grants?account_id=${id}&account_id=${id}`, ['account_id']],
  ])('refuse %s', async (path, where) => {
    const { status, json } = await send(server, { method: 'GET', path, authorization: operator });
    expect([status, json.error_code]).toEqual([400, 'parameter_invalid']);
    expect(json.issues[0].path).toEqual(where);
  });

  test.each([
    [{ limit: '5' }, ['limit']],
    [{ limit: null }, ['limit']],
    [{ limit: 0 }, ['limit']],
    [{ cursor: null }, ['cursor']],
  ])('refuse %j over tRPC', async (input, where) => {
    const response = await invoke(server, 'tRPC', 'admin.applications.list', input, operator);
    expect([response.status, response.body.error_code]).toEqual([400, 'parameter_invalid']);
    expect(response.body.issues[0].path).toEqual(where);
  });

  test.each(['offset', '__proto__', 'constructor'])(
    'refuse the unknown member %s of the query',
    async (member) => {
      const path = `/admin/applications?limit=1&${member}=5`;
      const { status, json } = await send(server, { method: 'GET', path, authorization: operator });
      expect([status, json.error_code]).toEqual([400, 'parameter_invalid']);
      expect(json.issues).toEqual([
        {
          path: [member],
          message: 'There is no such member. The members are documents, limit, cursor.',
        },
      ]);
    },
  );
});
