import { randomUUID } from 'node:crypto';
import { eventTypes, type OperationName, operations } from '@latchkey/schema';
import { afterEach, expect, test, vi } from 'vitest';
import { invoke, type Json, succeed, wires } from '../http/call.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { linkedApplication } from '../http/linked-application.ts';
import { EVENTS, operator, startTestServer, useServer } from '../http/running-server.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const URL_OF_HOST = 'https://host.example/events';

describeOnAnyStore('without EVENTS_KEY', (fresh) => {
  const server = useServer(fresh);

  test('there are no endpoints and no deliveries', async () => {
    const names = Object.entries(operations).flatMap(([name, operation]) =>
      'needsEvents' in operation ? [name as OperationName] : [],
    );
    expect(names).toHaveLength(10);
    for (const wire of wires) {
      for (const name of names) {
        const ids = { endpoint_id: randomUUID(), delivery_id: randomUUID() };
        const { status, body } = await invoke(server, wire, name, ids, operator);
        expect([name, status, body.error_code]).toEqual([name, 404, 'route_not_found']);
      }
    }
    const { events } = await succeed(server, 'admin.summary.get', {}, operator);
    expect(events).toBeNull();
  });
});

describeOnAnyStore('an endpoint', (fresh) => {
  const server = useServer(fresh, { EVENTS_KEY: EVENTS.EVENTS_KEY });
  afterEach(async () => {
    const { data } = await succeed(server, 'admin.endpoints.list', {}, operator);
    for (const { id } of data) {
      await succeed(server, 'admin.endpoints.delete', { endpoint_id: id }, operator);
    }
  });

  const call = async (name: OperationName, input: Json): Promise<Json> =>
    (await invoke(server, 'tRPC', name, input, operator)).body;
  const create = (members: object = {}) =>
    call('admin.endpoints.create', { url: URL_OF_HOST, ...members });

  test.each([
    ...['http://host.example/', 'https://user@host.example/', 'https://host.example/#a'],
    ...['https://localhost/', 'https://a.localhost/', 'https://2130706433/', 'https://0x7f.1/'],
    ...['https://[::ffff:10.0.0.1]/', 'https://169.254.169.254/', 'https:///a', 'mailto:a@b'],
    ...[`https://host.example/${'a'.repeat(480)}`, 'https://host.example/ä', ''],
  ])('is never at %s', async (url) => {
    const { id } = await create();
    for (const answer of [
      await create({ url }),
      await call('admin.endpoints.update', { endpoint_id: id, url }),
    ]) {
      expect([answer.error_code, answer.issues[0].path]).toEqual(['parameter_invalid', ['url']]);
    }
    expect((await call('admin.endpoints.get', { endpoint_id: id })).url).toBe(URL_OF_HOST);
  });

  test('shows keys with the roles read and support no more of its URL than the origin', async () => {
    const urls = ['https://host.example/hooks?token=secret', 'https://host.example/?token=secret'];
    for (const url of [...urls, 'https://host.example:8443/']) await create({ url });
    const seenBy = async (role: string) => {
      const { secret } = await call('admin.keys.create', { name: role, role });
      const bearer = `Bearer ${secret}`;
      const { data } = await succeed(server, 'admin.endpoints.list', {}, bearer);
      const shown = await Promise.all(
        data.map(async ({ id, url }: Json) => {
          const got = await succeed(server, 'admin.endpoints.get', { endpoint_id: id }, bearer);
          expect(got.url).toBe(url);
          return url;
        }),
      );
      return shown.sort();
    };
    const hidden = 'https://host.example/…';
    const origins = ['https://host.example:8443', hidden, hidden].sort();
    expect(await seenBy('read')).toEqual(origins);
    expect(await seenBy('support')).toEqual(origins);
    expect(await seenBy('operate')).toEqual(['https://host.example:8443/', ...urls].sort());
  });

  test('is told of types that are given back in one order', async () => {
    const types = ['application.enabled', 'account.updated', 'grant.created'];
    const created = await create({ types });
    expect(created.types).toEqual(['grant.created', 'account.updated', 'application.enabled']);
    for (const wrong of [['ping'], ['grant.revoked', 'grant.revoked'], ['grant'], []]) {
      expect((await create({ types: wrong })).error_code).toBe('parameter_invalid');
    }
    const update = { endpoint_id: created.id, types: null };
    expect((await call('admin.endpoints.update', update)).types).toBeNull();
  });

  test('of an application has no type that only the host is told of', async () => {
    const { application_id } = await linkedApplication(server);
    const types = eventTypes.filter((type) => type !== 'grant.created');
    const { id: endpoint_id } = await create({ application_id, types });
    for (const wrong of [['grant.created'], eventTypes]) {
      for (const answer of [
        await create({ application_id, types: wrong }),
        await call('admin.endpoints.update', { endpoint_id, types: wrong, disabled: true }),
      ]) {
        expect([answer.error_code, answer.issues?.[0].path]).toEqual([
          'parameter_invalid',
          ['types'],
        ]);
      }
    }
    const endpoint = await call('admin.endpoints.get', { endpoint_id });
    expect(endpoint).toMatchObject({ types, disabled: false });
    const unknown = { endpoint_id: application_id, types: ['grant.created'] };
    const { error_code } = await call('admin.endpoints.update', unknown);
    expect(error_code).toBe('endpoint_not_found');
  });

  test('is one of five of the host, and of three of an application, disabled or not', async () => {
    const { application_id } = await linkedApplication(server);
    const owners = [
      [{}, 5],
      [{ application_id }, 3],
    ] as const;
    for (const [owner, most] of owners) {
      const created = await Promise.all(
        Array.from({ length: most + 3 }, () => create({ ...owner })),
      );
      const codes = created.map(({ error_code }) => error_code ?? 'created').sort();
      expect(codes).toEqual([
        ...Array(most).fill('created'),
        ...Array(3).fill('endpoint_limit_reached'),
      ]);
      const [{ id }] = created.filter((each) => each.id !== undefined);
      await call('admin.endpoints.update', { endpoint_id: id, disabled: true });
      expect((await create({ ...owner })).error_code).toBe('endpoint_limit_reached');
      await call('admin.endpoints.delete', { endpoint_id: id });
      expect((await create({ ...owner })).object).toBe('endpoint');
    }
    const ofNobody = { application_id: randomUUID() };
    expect((await create(ofNobody)).error_code).toBe('application_not_found');

    const all = await call('admin.endpoints.list', {});
    const own = await call('admin.endpoints.list', { application_id });
    expect([all.data.length, own.data.length]).toEqual([8, 3]);
    const first = await call('admin.endpoints.list', { limit: 5 });
    const { data } = await call('admin.endpoints.list', { limit: 5, cursor: first.next_cursor });
    expect([...first.data, ...data]).toEqual(all.data);
    expect((await call('admin.endpoints.list', ofNobody)).data).toEqual([]);
  });

  test('of a deleted application is gone with it', async () => {
    const { application_id } = await linkedApplication(server);
    const { id: endpoint_id } = await create({ application_id });
    await succeed(server, 'admin.applications.disable', { application_id }, operator);
    await succeed(server, 'admin.applications.delete', { application_id }, operator);
    const found = await call('admin.endpoints.get', { endpoint_id });
    expect(found.error_code).toBe('endpoint_not_found');
    expect((await call('admin.endpoints.list', { application_id })).data).toEqual([]);
  });
});

describeOnAnyStore('a delivery', (fresh) => {
  const server = useServer(fresh, EVENTS);
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function receiver(status: number): Promise<Receiver> {
    const started = await startReceiver();
    started.answer = (response) => void response.writeHead(status).end();
    closing.push(started.close);
    return started;
  }

  const call = async (name: OperationName, input: Json): Promise<Json> =>
    (await invoke(server, 'REST', name, input, operator)).body;
  const failedPing = async (endpoint_id: string) =>
    (await call('admin.endpoints.ping', { endpoint_id })).id;

  test('is retried unless it is unknown, its endpoint is gone or disabled, or it is pending', async () => {
    const { url } = await receiver(500);
    const { id: endpoint_id } = await call('admin.endpoints.create', { url });
    const delivery_id = await failedPing(endpoint_id);
    const retry = async (id = delivery_id) =>
      (await call('admin.deliveries.retry', { delivery_id: id })).error_code ?? 'retried';
    expect(await retry(randomUUID())).toBe('delivery_not_found');
    await call('admin.endpoints.update', { endpoint_id, disabled: true });
    expect(await retry()).toBe('endpoint_disabled');
    await call('admin.endpoints.update', { endpoint_id, disabled: false });
    expect(await retry()).toBe('retried');
    await vi.waitFor(async () => {
      const { data } = await call('admin.deliveries.list', { endpoint_id });
      // A ping is tried once more, and no oftener.
      expect([data[0].status, data[0].attempts.length]).toEqual(['failed', 2]);
    }, 20_000);
    await call('admin.endpoints.delete', { endpoint_id });
    expect(await retry()).toBe('endpoint_not_found');
    const { data } = await call('admin.deliveries.list', { endpoint_id });
    expect(data).toMatchObject([{ id: delivery_id, status: 'failed' }]);
  });

  test('is listed by its endpoint or its grant, and by its status', async () => {
    const { url } = await receiver(204);
    const { id: endpoint_id } = await call('admin.endpoints.create', { url });
    closing.push(() => call('admin.endpoints.delete', { endpoint_id }));
    const linked = await linkedApplication(server);
    const { grant_id } = await linked.link();
    await succeed(server, 'grants.revoke', { grant_id }, linked.bearer);
    await vi.waitFor(async () => {
      const { data } = await call('admin.deliveries.list', { grant_id, status: 'delivered' });
      expect(data.map(({ type }: Json) => type).sort()).toEqual(['grant.created', 'grant.revoked']);
    }, 20_000);
    const all = await call('admin.deliveries.list', { endpoint_id });
    const first = await call('admin.deliveries.list', { endpoint_id, limit: 1 });
    const next = { endpoint_id, limit: 1, cursor: first.next_cursor };
    expect([...first.data, ...(await call('admin.deliveries.list', next)).data]).toEqual(all.data);
    for (const filter of [{ endpoint_id, status: 'failed' }, { grant_id: randomUUID() }]) {
      expect((await call('admin.deliveries.list', filter)).data).toEqual([]);
    }
    for (const filter of [{}, { endpoint_id, grant_id }, { endpoint_id, status: 'lost' }]) {
      expect((await call('admin.deliveries.list', filter)).error_code).toBe('parameter_invalid');
    }
  });

  test('that was dropped is told after a replay, and a ping is not', async () => {
    const heard = await receiver(500);
    const { id: endpoint_id } = await call('admin.endpoints.create', { url: heard.url });
    closing.push(() => call('admin.endpoints.delete', { endpoint_id }));
    const linked = await linkedApplication(server);
    const since = new Date(server.now()).toISOString();
    await linked.link();
    await vi.waitFor(() => expect(heard.heard.length).toBeGreaterThan(0), 20_000);
    await failedPing(endpoint_id);
    await call('admin.endpoints.update', { endpoint_id, disabled: true });
    await call('admin.endpoints.update', { endpoint_id, disabled: false });
    const future = new Date(server.now() + 1_000).toISOString();
    const refused = await call('admin.endpoints.replay', { endpoint_id, since: future });
    expect([refused.error_code, refused.issues[0].path]).toEqual(['parameter_invalid', ['since']]);
    heard.heard.length = 0;
    heard.answer = (response) => void response.writeHead(204).end();
    const replayed = await call('admin.endpoints.replay', { endpoint_id, since });
    expect(replayed).toEqual({ object: 'replay', endpoint_id, count: 1 });
    await vi.waitFor(() => expect(heard.heard).toHaveLength(1), 20_000);
    expect(heard.heard[0]?.body.type).toBe('grant.created');
  });

  test('and its endpoint are counted in the summary', async () => {
    const { url } = await receiver(500);
    const { id: endpoint_id } = await call('admin.endpoints.create', { url });
    closing.push(() => call('admin.endpoints.delete', { endpoint_id }));
    await (await linkedApplication(server)).link();
    await vi.waitFor(async () => {
      const { events } = await succeed(server, 'admin.summary.get', {}, operator);
      expect(events).toEqual({ pending: 1, oldest_seconds: 0, failing_endpoints: 1 });
    }, 20_000);
  });
});

describeOnAnyStore('the secret of an endpoint', (fresh) => {
  test('is derived from the key, which stands nowhere in the database', async () => {
    const database = await fresh();
    const server = await startTestServer(database.url, EVENTS);
    try {
      const created = await succeed(
        server,
        'admin.endpoints.create',
        { url: URL_OF_HOST },
        operator,
      );
      const bytes = await database.bytes();
      for (const secret of [created.secret.slice('whsec_'.length), EVENTS.EVENTS_KEY]) {
        expect(bytes.includes(secret)).toBe(false);
        expect(bytes.includes(Buffer.from(secret, 'base64'))).toBe(false);
      }
    } finally {
      await server.close();
      await database.remove();
    }
  });
});
