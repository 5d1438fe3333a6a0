import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { DomainError } from '@latchkey/domain/domain-error';
import { expect, onTestFinished, test, vi } from 'vitest';
import { succeed } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { linkedApplication } from './linked-application.ts';
import { operator, useServer } from './running-server.ts';

describeOnAnyStore('exports of one account', (fresh) => {
  const server = useServer(fresh);

  test('are made one after the other, and each is complete', async () => {
    const { account_id, link } = await linkedApplication(server);
    const { grant_id } = await link();
    const exported = () => succeed(server, 'admin.accounts.export', { account_id }, operator);
    const { store } = server.service;
    const { listCodes } = store;
    const go = Promise.withResolvers<void>();
    const list = vi.spyOn(store, 'listCodes').mockImplementation(async (id) => {
      await go.promise;
      return listCodes(id);
    });
    const both = [exported(), exported()];
    await vi.waitFor(() => expect(list).toHaveBeenCalledOnce());
    await succeed(server, 'admin.accounts.get', { account_id }, operator);
    expect(list).toHaveBeenCalledOnce();
    go.resolve();
    for (const { grants } of await Promise.all(both)) expect(grants).toMatchObject([{ grant_id }]);
    expect(list).toHaveBeenCalledTimes(2);
  });

  /** Lets the account have so many pages of grants. */
  async function manyGrants(pages: number, beforePage: (page: number) => Promise<void>) {
    const { account_id, link } = await linkedApplication(server);
    await link();
    const { store } = server.service;
    const [grant] = await store.listGrants({ account_id }, { limit: 1, before: null });
    if (grant === undefined) throw new TypeError('The account has no grant.');
    const list = vi.spyOn(store, 'listGrants').mockImplementation(async (_, { limit }) => {
      await beforePage(list.mock.calls.length);
      return list.mock.calls.length > pages ? [] : Array.from({ length: limit }, () => grant);
    });
    onTestFinished(() => void list.mockRestore());
    return { account_id, list };
  }

  const request = (account_id: string, init: RequestInit = {}) =>
    fetch(`${server.url}/admin/accounts/${account_id}/export`, {
      headers: { Authorization: operator },
      ...init,
    });

  test.each([
    ['REST', (account_id: string) => request(account_id)],
    [
      'tRPC',
      (account_id: string) => {
        const input = encodeURIComponent(JSON.stringify({ 0: { account_id } }));
        const url = `${server.url}/trpc/admin.accounts.export?batch=1&input=${input}`;
        return fetch(url, { headers: { Authorization: operator } });
      },
    ],
  ])('are sent while they are read, over %s', async (_, send) => {
    const received = Promise.withResolvers<void>();
    const { account_id } = await manyGrants(2, async (page) => {
      if (page === 2) await received.promise;
    });
    const { body } = await send(account_id);
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      received.resolve();
    }
    const all = JSON.parse(text);
    const exported = Array.isArray(all) ? all[0].result.data : all;
    expect(exported.grants).toHaveLength(200);
    expect(Object.keys(exported)).toEqual([
      ...['object', 'account', 'grants', 'codes', 'history', 'refusals'],
    ]);
  });

  test('read no more than the client takes, and end with it', async () => {
    const PAGES = 2_000;
    const { account_id, list } = await manyGrants(PAGES, async () => {});
    const { hostname, port } = new URL(server.url);
    const client = connect(Number(port), hostname);
    client.pause();
    client.write(
      `GET /admin/accounts/${account_id}/export HTTP/1.1\r\nHost: a\r\nAuthorization: ${operator}\r\n\r\n`,
    );
    // Until the buffers of the system are full.
    let read: number;
    do {
      read = list.mock.calls.length;
      await setTimeout(200);
    } while (read === 0 || list.mock.calls.length > read);
    expect(read).toBeLessThan(PAGES);
    client.destroy();
    list.mockRestore();
    // Its turn comes, since the other one is over.
    const { grants } = await succeed(server, 'admin.accounts.export', { account_id }, operator);
    expect(grants).toHaveLength(1);
    expect(server.lines.filter((line) => line.includes('request failed'))).toEqual([]);
  });

  test('end without an end where the store fails', async () => {
    const { account_id } = await manyGrants(3, async (page) => {
      if (page === 2) throw new DomainError('store_unavailable', {}, new Error('It is down.'));
    });
    const response = await request(account_id);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow('terminated');
    const request_id = response.headers.get('X-Request-Id');
    const lines = server.lines.map((line) => JSON.parse(line));
    const failed = { request_id, error_code: 'store_unavailable' };
    const line = lines.find(({ msg }) => msg === 'request failed');
    expect(line).toMatchObject({ ...failed, cause: 'Error: It is down.' });
    expect(line).not.toHaveProperty('err');
    expect(lines).toContainEqual(expect.objectContaining({ ...failed, msg: 'request' }));
  });

  test('fail as any other request before the first page', async () => {
    const { account_id } = await manyGrants(3, async () => {
      throw new DomainError('store_unavailable');
    });
    const response = await request(account_id);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error_code: 'store_unavailable' });
  });

  test('come twice in a batch, and HEAD holds no turn', async () => {
    const { account_id } = await linkedApplication(server);
    expect((await request(account_id, { method: 'HEAD' })).status).toBe(200);
    const input = encodeURIComponent(JSON.stringify({ 0: { account_id }, 1: { account_id } }));
    const names = 'admin.accounts.export,admin.accounts.export';
    const batch = await fetch(`${server.url}/trpc/${names}?batch=1&input=${input}`, {
      headers: { Authorization: operator },
    });
    const lists = { grants: [], codes: [], history: [], refusals: [] };
    const data = { object: 'account_export', account: { id: account_id }, ...lists };
    const exported = { result: { data } };
    expect(await batch.json()).toMatchObject([exported, exported]);
  });
});
