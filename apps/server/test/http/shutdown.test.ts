import { expect, test } from 'vitest';
import { LINKING } from '../linking/link-flow.ts';
import { preflight, requestOf, send } from './call.ts';
import { describeOnAnyStore, type TestDatabase } from './databases.ts';
import { type LinkedApplication, linkedApplication } from './linked-application.ts';
import { headerOf, RawConnection } from './raw-connection.ts';
import { startTestServer, type TestServer } from './running-server.ts';

describeOnAnyStore('a shutdown', (fresh) => {
  /** A server for one test, and what the test needs to call it. */
  async function start(environment: NodeJS.ProcessEnv = {}) {
    const database: TestDatabase = await fresh();
    const server = await startTestServer(database.url, environment);
    return { database, server, linked: await linkedApplication(server) };
  }
  /** A request whose body follows later: the response 100 shows that it has started. */
  async function underWay(server: TestServer, { bearer, issue }: LinkedApplication) {
    const body = JSON.stringify({ code: (await issue()).code });
    const connection = new RawConnection(server);
    connection.request([
      'POST /oauth/convert HTTP/1.1',
      'Host: x',
      `Authorization: ${bearer}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
    ]);
    expect((await connection.response()).status).toBe(100);
    return { connection, body };
  }
  const messages = (server: TestServer) => server.lines.map((line) => JSON.parse(line).msg);

  test('completes the requests that have started and accepts no others', async () => {
    const { database, server, linked } = await start();
    const idle = new RawConnection(server);
    idle.request(['GET /healthz HTTP/1.1', 'Host: x']);
    await idle.response();
    const { connection, body } = await underWay(server, linked);

    const closed = server.close();
    await expect.poll(() => messages(server)).toContain('closing');
    const late = new RawConnection(server);
    await late.closed();
    expect(late.fault).toBe('ECONNREFUSED');
    await idle.closed();

    // The store stays open until the last response is sent.
    connection.socket.write(body);
    const response = await connection.response();
    expect([response.status, JSON.parse(response.body).revoked]).toEqual([200, false]);
    expect(headerOf(response.lines, 'Connection')).toBe('close');
    await closed;
    expect(connection.fault).toBeUndefined();
    await expect(server.service.store.ping()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(messages(server)).not.toContain(
      'requests are still running: their connections are closed',
    );
    expect(messages(server).at(-1)).toBe('closed');
    await database.remove();
  });

  test.each(['0', '1'])('closes hanging connections after SHUTDOWN_SECONDS=%s', async (seconds) => {
    const { database, server, linked } = await start({ SHUTDOWN_SECONDS: seconds });
    const { connection } = await underWay(server, linked);
    await server.close();
    await connection.closed();
    expect(messages(server)).toContain('requests are still running: their connections are closed');
    await expect(server.service.store.ping()).rejects.toMatchObject({ code: 'store_unavailable' });
    await database.remove();
  });

  test('takes requests for DRAIN_SECONDS before it begins', async () => {
    const { database, server, linked } = await start({
      ...{ ...LINKING, CLIENT_REGISTRATION: 'on', DRAIN_SECONDS: '5', SHUTDOWN_SECONDS: '0' },
    });
    const kept = new RawConnection(server);
    kept.request(['GET /readyz HTTP/1.1', 'Host: x']);
    const ready = await kept.response();
    expect([ready.status, headerOf(ready.lines, 'Connection')]).toEqual([200, 'keep-alive']);

    const closed = server.close();
    // A connection from before is closed by its next response, and so is a new one.
    kept.request(['GET /readyz HTTP/1.1', 'Host: x']);
    const draining = await kept.response();
    expect([draining.status, headerOf(draining.lines, 'Connection')]).toEqual([503, 'close']);
    expect(JSON.parse(draining.body)).toMatchObject({
      error: 'temporarily_unavailable',
      error_code: 'shutting_down',
    });
    await kept.closed();
    const { code } = await linked.issue();
    const { status, headers } = await send(server, {
      ...requestOf('REST', 'grants.convert', { code }),
      authorization: linked.bearer,
    });
    expect([status, headers.get('connection')]).toEqual([200, 'close']);
    expect((await send(server, { method: 'GET', path: '/healthz' })).status).toBe(200);
    const asked = await send(server, preflight('/oauth/token'));
    expect([asked.status, asked.headers.get('connection')]).toEqual([204, 'close']);
    expect(messages(server)).not.toContain('closing');

    await closed;
    expect(
      messages(server).filter((msg) => ['draining', 'closing', 'closed'].includes(msg)),
    ).toEqual(['draining', 'closing', 'closed']);
    await database.remove();
  });

  test('completes pending writes', async () => {
    const { database, server, linked } = await start();
    await linked.link();
    await server.close();
    const again = await startTestServer(database.url);
    const application = await again.service.store.findApplication(linked.application_id);
    expect(application?.secrets[0]?.last_used_at).toBeTypeOf('number');
    await again.close();
    await database.remove();
  });
});
