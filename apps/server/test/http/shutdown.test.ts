import { expect, test } from 'vitest';
import { describeOnEachStore, type TestDatabase } from './databases.ts';
import { type LinkedApplication, linkedApplication } from './linked-application.ts';
import { headerOf, RawConnection } from './raw-connection.ts';
import { startTestServer, type TestServer } from './running-server.ts';

describeOnEachStore('a shutdown', (fresh) => {
  /** A server of the test's own, and what is needed to call it. */
  async function start(environment: NodeJS.ProcessEnv = {}) {
    const database: TestDatabase = await fresh();
    const server = await startTestServer(database.url, environment);
    return { database, server, linked: await linkedApplication(server) };
  }
  /** A request whose body comes later: it is under way once its connection has its leave. */
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
    expect((await connection.answer()).status).toBe(100);
    return { connection, body };
  }
  const messages = (server: TestServer) => server.lines.map((line) => JSON.parse(line).msg);

  test('lets what is under way finish, and takes nothing new', async () => {
    const { database, server, linked } = await start();
    const idle = new RawConnection(server);
    idle.request(['GET /healthz HTTP/1.1', 'Host: x']);
    await idle.answer();
    const { connection, body } = await underWay(server, linked);

    const closed = server.close();
    const late = new RawConnection(server);
    await late.closed();
    expect(late.fault).toBe('ECONNREFUSED');
    await idle.closed();

    // The store is there until the last request has its answer.
    connection.socket.write(body);
    const answer = await connection.answer();
    expect([answer.status, JSON.parse(answer.body).revoked]).toEqual([200, false]);
    expect(headerOf(answer.lines, 'Connection')).toBe('close');
    await closed;
    expect(connection.fault).toBeUndefined();
    await expect(server.service.store.ping()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(messages(server)).not.toContain('requests were still under way and are cut off');
    expect(messages(server).at(-1)).toBe('closed');
    await database.remove();
  });

  test.each(['0', '1'])('cuts off what hangs after SHUTDOWN_SECONDS=%s', async (seconds) => {
    const { database, server, linked } = await start({ SHUTDOWN_SECONDS: seconds });
    const { connection } = await underWay(server, linked);
    await server.close();
    await connection.closed();
    expect(messages(server)).toContain('requests were still under way and are cut off');
    await expect(server.service.store.ping()).rejects.toMatchObject({ code: 'store_unavailable' });
    await database.remove();
  });

  test('writes what is still to be written', async () => {
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
