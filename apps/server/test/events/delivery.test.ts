import { afterEach, expect, test, vi } from 'vitest';
import { type Json, send, succeed } from '../http/call.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { ADA, type LinkedApplication, linkedApplication } from '../http/linked-application.ts';
import { EVENTS, operator, startTestServer, useServer } from '../http/running-server.ts';
import { isSignedBy, type Receiver, startReceiver } from './receiver.ts';

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

describeOnAnyStore('a message', (fresh) => {
  const server = useServer(fresh, EVENTS);
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function receiver(): Promise<Receiver> {
    const started = await startReceiver();
    closing.push(started.close);
    return started;
  }

  async function endpointAt(
    { url }: { url: string },
    members: Record<string, unknown> = {},
  ): Promise<Json> {
    const endpoint = await succeed(server, 'admin.endpoints.create', { url, ...members }, operator);
    closing.push(() =>
      send(server, {
        ...{ method: 'DELETE', path: `/admin/endpoints/${endpoint.id}`, authorization: operator },
      }),
    );
    return endpoint;
  }

  const revoke = ({ bearer }: LinkedApplication, { grant_id }: { grant_id: string }) =>
    succeed(server, 'grants.revoke', { grant_id }, bearer);

  const deliveries = async (filter: Record<string, unknown>): Promise<Json[]> =>
    (await succeed(server, 'admin.deliveries.list', filter, operator)).data;

  const ended = (filter: Record<string, unknown>) =>
    vi.waitFor(
      async () => {
        const found = await deliveries(filter);
        expect(found.length).toBeGreaterThan(0);
        for (const one of found) expect(one.next_attempt_at ?? one.status).not.toBe('pending');
        return found;
      },
      { timeout: 20_000 },
    );

  test('tells host and application what happened, signed as Standard Webhooks says', async () => {
    const [host, own] = [await receiver(), await receiver()];
    const linked = await linkedApplication(server);
    const hosts = await endpointAt(host);
    const owns = await endpointAt(own, { application_id: linked.application_id });
    const grant = await linked.link();
    await revoke(linked, grant);
    await vi.waitFor(() => expect([host.heard.length, own.heard.length]).toEqual([2, 1]), 20_000);
    const [message] = own.heard;
    if (!message) throw new Error('It has heard of the end.');
    const { grant_id } = grant;
    expect(message.body).toMatchObject({
      type: 'grant.revoked',
      data: { grant_id, account_id: linked.account_id, revoked: true, reason: 'application' },
    });
    expect(isSignedBy(owns.secret, message)).toBe(true);
    expect(isSignedBy(hosts.secret, message)).toBe(false);
    expect(message.headers['content-type']).toBe('application/json; charset=UTF-8');
    expect(message.headers['user-agent']).toMatch(/^Latchkey\/\d/);
    const sameEvent = host.heard.find(({ body }) => body.type === 'grant.revoked');
    expect([sameEvent?.id, sameEvent?.text]).toEqual([message.id, message.text]);
    await vi.waitFor(async () => {
      const [first] = await deliveries({ endpoint_id: owns.id });
      expect(first).toMatchObject({ status: 'delivered', next_attempt_at: null, grant_id });
      expect(first.attempts).toMatchObject([{ result: 'delivered', status_code: 204 }]);
    });
  });

  test('is repeated by the timetable with the same id and body, until it is delivered', async () => {
    const host = await receiver();
    host.answer = (response) => void response.writeHead(500).end('no');
    const { id } = await endpointAt(host, { types: ['grant.created'] });
    const linked = await linkedApplication(server);
    const { grant_id } = await linked.link();
    const pauses = [5_000, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE];
    for (const [index, pause] of pauses.entries()) {
      await vi.waitFor(() => expect(host.heard).toHaveLength(index + 1), 20_000);
      const [delivery] = await ended({ endpoint_id: id });
      expect(delivery.attempts).toHaveLength(index + 1);
      const next = Date.parse(delivery.next_attempt_at) - server.now();
      expect(next).toBeGreaterThanOrEqual(pause * 0.9);
      expect(next).toBeLessThanOrEqual(pause * 1.1);
      if (index === 2) {
        host.answer = (response) => void response.writeHead(503, { 'retry-after': '3000' }).end();
      }
      if (index < pauses.length - 1) server.advance(next);
    }
    host.answer = (response) => void response.writeHead(200).end('ok');
    server.advance(133 * MINUTE);
    const found = await vi.waitFor(async () => {
      const [delivery] = await deliveries({ grant_id });
      expect(delivery.status).toBe('delivered');
      return delivery;
    }, 20_000);
    expect(found.attempts.map(({ status_code }: Json) => status_code)).toEqual([
      500, 500, 500, 503, 200,
    ]);
    expect(new Set(host.heard.map((one) => one.id + one.text)).size).toBe(1);
  });

  test('is given up after eight tries, and starts anew on request', async () => {
    const host = await receiver();
    host.answer = (response) => void response.writeHead(302, { location: host.url }).end();
    const { id } = await endpointAt(host, { types: ['grant.created'] });
    const { grant_id } = await (await linkedApplication(server)).link();
    for (let tries = 1; tries <= 8; tries++) {
      await vi.waitFor(() => expect(host.heard).toHaveLength(tries), 20_000);
      await ended({ endpoint_id: id });
      server.advance(12 * 60 * MINUTE);
    }
    const [failed] = await deliveries({ grant_id });
    expect(failed).toMatchObject({ status: 'failed', next_attempt_at: null });
    expect(failed.attempts).toHaveLength(8);
    expect(failed.attempts[7]).toMatchObject({ result: 'redirected', status_code: 302 });
    // The line follows the record.
    await vi.waitFor(() => {
      const given = server.lines.filter((line) => line.includes('a delivery was given up'));
      expect(given.at(-1)).toContain(failed.id);
    }, 20_000);
    host.answer = (response) => void response.writeHead(204).end();
    await succeed(server, 'admin.deliveries.retry', { delivery_id: failed.id }, operator);
    await vi.waitFor(async () => {
      expect((await deliveries({ grant_id }))[0].status).toBe('delivered');
    }, 20_000);
  });

  test('tells no application of an account that has disconnected it', async () => {
    const [host, own] = [await receiver(), await receiver()];
    const linked = await linkedApplication(server);
    const { application_id, account_id } = linked;
    const types = ['account.updated'];
    await endpointAt(host, { types });
    const { id: endpoint_id } = await endpointAt(own, { application_id, types });
    await linked.link();
    const rename = (username: string) =>
      succeed(server, 'admin.accounts.put', { account_id, ...ADA, username }, operator);
    const since = new Date(server.now()).toISOString();
    await rename('ada-1');
    await vi.waitFor(() => expect(own.heard).toHaveLength(1), 20_000);
    own.answer = (response) => void response.writeHead(500).end();
    await rename('ada-2');
    await vi.waitFor(() => expect(own.heard).toHaveLength(2), 20_000);
    await ended({ endpoint_id });

    const parties = { account_id, application_id };
    await succeed(server, 'admin.connections.revoke', parties, operator);
    server.advance(1);
    await linked.link();
    own.answer = (response) => void response.writeHead(204).end();
    server.advance(MINUTE);
    await vi.waitFor(async () => {
      const statuses = (await deliveries({ endpoint_id })).map(({ status }) => status);
      expect(statuses.sort()).toEqual(['delivered', 'dropped']);
    }, 20_000);
    for (const { id } of await deliveries({ endpoint_id })) {
      const retried = await send(server, {
        ...{ method: 'POST', path: `/admin/deliveries/${id}/retry`, authorization: operator },
      });
      expect([retried.status, retried.json.error_code]).toEqual([404, 'delivery_not_found']);
    }
    const replay = { endpoint_id, since };
    const { count } = await succeed(server, 'admin.endpoints.replay', replay, operator);
    expect(count).toBe(0);

    await rename('ada-3');
    await vi.waitFor(() => expect(own.heard).toHaveLength(3), 20_000);
    const names = ({ heard }: Receiver) => heard.map(({ body }) => body.data.username);
    expect(names(own)).toEqual(['ada-1', 'ada-2', 'ada-3']);
    await vi.waitFor(() => expect(names(host)).toEqual(['ada-1', 'ada-2', 'ada-3']), 20_000);
  });

  test('ends an endpoint that says 410, or fails for five days', async () => {
    const [gone, failing] = [await receiver(), await receiver()];
    gone.answer = (response) => void response.writeHead(410).end();
    failing.answer = (response) => void response.writeHead(500).end();
    const types = ['grant.created'];
    const one = await endpointAt(gone, { types });
    const other = await endpointAt(failing, { types });
    const linked = await linkedApplication(server);
    await linked.link();
    const find = (endpoint_id: string) =>
      succeed(server, 'admin.endpoints.get', { endpoint_id }, operator);
    await vi.waitFor(async () => {
      expect(await find(one.id)).toMatchObject({ disabled: true, disabled_reason: 'gone' });
    }, 20_000);
    for (let tries = 1; tries <= 5; tries++) {
      await vi.waitFor(() => expect(failing.heard.length).toBeGreaterThanOrEqual(tries), 20_000);
      await ended({ endpoint_id: other.id });
      if (tries === 4) await linked.link();
      server.advance(tries === 4 ? 5 * DAY : 3 * 60 * MINUTE);
    }
    await vi.waitFor(async () => {
      expect(await find(other.id)).toMatchObject({ disabled: true, disabled_reason: 'failing' });
    }, 20_000);
    // Once what is pending is dropped.
    await vi.waitFor(() => {
      const audited = server.lines
        .map((line) => JSON.parse(line))
        .filter(({ action, by }) => action === 'admin.endpoints.update' && by === null);
      expect(audited.map(({ endpoint_id, reason }) => [endpoint_id, reason])).toEqual([
        [one.id, 'gone'],
        [other.id, 'failing'],
      ]);
    }, 20_000);
    for (const { status } of await deliveries({ endpoint_id: other.id })) {
      expect(status).toBe('dropped');
    }
  });

  test('to endpoints that hang holds up no other, and a shutdown cuts it', async () => {
    const hanging = await receiver();
    hanging.answer = () => {};
    const good = await receiver();
    const own = await startTestServer(server.database.url, EVENTS);
    own.advance(server.now() - own.now());
    const linkeds: LinkedApplication[] = [];
    for (let count = 0; count < 7; count++) {
      const linked = await linkedApplication(server);
      linkeds.push(linked);
      for (let made = 0; made < 3; made++) {
        await endpointAt(hanging, { application_id: linked.application_id });
      }
    }
    await endpointAt(good, { types: ['grant.revoked'] });
    const [linked] = linkeds;
    for (const one of linkeds) await revoke(one, await one.link());
    await vi.waitFor(() => expect(good.heard).toHaveLength(7), 20_000);
    await vi.waitFor(() => expect(hanging.heard.length).toBeGreaterThanOrEqual(16), 20_000);
    // Two processes, each with at most 16 tries of endpoints that never worked.
    expect(hanging.most).toBeLessThanOrEqual(32);
    if (linked) await revoke(linked, await linked.link());
    await vi.waitFor(() => expect(good.heard).toHaveLength(8), 20_000);
    const before = hanging.heard.length;
    await own.service.events?.close(AbortSignal.abort());
    await own.close();
    // What was cut is no attempt, and due at once for the other process.
    const cut = (await deliveries({ grant_id: good.heard[0]?.body.data.grant_id })).filter(
      ({ status }) => status === 'pending',
    );
    for (const { attempts } of cut) expect(attempts).toEqual([]);
    expect(before).toBeGreaterThanOrEqual(16);
  });

  test('of a ping is the only one of its delivery, and its response waits for it', async () => {
    const host = await receiver();
    const { id, secret } = await endpointAt(host, { types: ['grant.created'] });
    const ping = () => succeed(server, 'admin.endpoints.ping', { endpoint_id: id }, operator);
    expect(await ping()).toMatchObject({
      ...{ type: 'ping', status: 'delivered', next_attempt_at: null },
      attempts: [{ result: 'delivered', status_code: 204 }],
    });
    host.answer = (response) => void response.writeHead(404).end();
    const failed = await ping();
    expect(failed).toMatchObject({ status: 'failed', next_attempt_at: null });
    const [, message] = host.heard;
    expect(message?.body).toMatchObject({ type: 'ping', data: { object: 'endpoint', id } });
    expect(message && isSignedBy(secret, message)).toBe(true);
  });

  test('is signed by both secrets in an overlap, and by the new one alone without', async () => {
    const host = await receiver();
    const { id, secret } = await endpointAt(host);
    const ping = async () => {
      await succeed(server, 'admin.endpoints.ping', { endpoint_id: id }, operator);
      return host.heard.at(-1);
    };
    const rotate = async (overlap_seconds: number) =>
      (
        await succeed(
          server,
          'admin.endpoints.rotate',
          { endpoint_id: id, overlap_seconds },
          operator,
        )
      ).secret;
    const signers = async (secrets: string[]) => {
      const message = await ping();
      return secrets.map((one) => message && isSignedBy(one, message));
    };
    const second = await rotate(600);
    expect(second).not.toBe(secret);
    expect(await signers([secret, second])).toEqual([true, true]);
    const third = await rotate(0);
    expect(await signers([secret, second, third])).toEqual([false, false, true]);
  });
});
