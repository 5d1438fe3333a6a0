import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLong, longer } from '@latchkey/test-kit/long';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { send, succeed } from '../http/call.ts';
import { describeOnEachStore, sqliteDatabase, type TestDatabase } from '../http/databases.ts';
import { asBearer, type LinkedApplication, linkedApplication } from '../http/linked-application.ts';
import { RawConnection } from '../http/raw-connection.ts';
import { ServerProcess } from '../http/served-process.ts';
import { type SlowCalls, SlowClients } from './slow-clients.ts';

// The short form has timeouts of 5 and 10 seconds. The long form runs the service with its real
// timeouts.
const HEADERS_TIMEOUT = longer(5_000, 10_000);
const every = longer(300, 2_000);
// Much longer than the longest timeout, for a busy machine, but less than the 30 s after which Node looks
// for slow clients by default.
const MAX_WAIT = longer(28_000, 200_000);

// 14 MB of responses: part of it fits into the socket buffers, the rest waits in the server.
const UNREAD = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(8);

const start = (database: TestDatabase) =>
  ServerProcess.start(
    database.url,
    isLong ? {} : { script: new URL('./short-timeouts.ts', import.meta.url).pathname },
  );

/** The number of open connections of clients: those of a store come and go beside them. */
async function openConnections({ url }: ServerProcess): Promise<number> {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0');
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((table) => readFile(`/proc/net/${table}`, 'utf8').catch(() => '')),
  );
  // Established, or closed by the client alone.
  const open = new RegExp(`^ *\\d+: [0-9A-F]+:${port} [0-9A-F:]+ 0[18] `, 'gm');
  return tables.join('').match(open)?.length ?? 0;
}

/** The number of open files of a process, including connections. */
const openFiles = async ({ pid }: ServerProcess) => (await readdir(`/proc/${pid}/fd`)).length;

/** Its resident memory in MiB. */
async function memoryOf({ pid }: ServerProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

describe.runIf(process.platform === 'linux')('slow connections', () => {
  let database: TestDatabase;
  let server: ServerProcess;
  let linked: LinkedApplication;
  beforeAll(async () => {
    database = await sqliteDatabase();
    server = await start(database);
    linked = await linkedApplication(server);
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    await database.remove();
  });

  const post = (...lines: string[]) =>
    ['POST /oauth/convert HTTP/1.1', 'Host: x', ...lines].join('\r\n');
  const withBody = (...lines: string[]) =>
    `${post('Content-Type: application/json', 'Content-Length: 1000', ...lines)}\r\n\r\n{`;

  /** Every way to be slow: 10,050 connections in the long form. */
  const ways = (): Record<string, SlowCalls> => ({
    'single bytes of a header': {
      ...{ first: post('X-Slow: '), more: 'a' },
      ...{ every, reads: true, count: longer(150, 4_500) },
    },
    'single bytes of a body': {
      ...{ first: withBody(`Authorization: ${linked.bearer}`), more: ' ' },
      ...{ every, reads: true, count: longer(150, 4_500) },
    },
    'single bytes of a body that is not read': {
      ...{ first: withBody(), more: ' ' },
      ...{ every, reads: true, count: longer(50, 500) },
    },
    'nothing at all': { first: '', every, reads: true, count: longer(50, 500) },
    'reads no response': { first: UNREAD, every, reads: false, count: 50 },
  });

  /** Calls repeatedly, on old and new connections, until it is stopped. */
  function callRepeatedly() {
    let stopped = false;
    let responses = 0;
    const client = async () => {
      while (!stopped) {
        const grant = await linked.link();
        const account = await succeed(server, 'account.get', {}, asBearer(grant));
        expect(account.id).toBe(linked.account_id);
        const { status } = await send(server, {
          ...{ method: 'GET', path: '/readyz', headers: { connection: 'close' } },
        });
        expect(status).toBe(200);
        responses += 4;
        await sleep(20);
      }
    };
    const all = Promise.all([client(), client()]);
    // `stop` reports the failures.
    all.catch(() => undefined);
    return {
      async stop() {
        stopped = true;
        await all;
        return responses;
      },
    };
  }

  /** A client that is slow but within the timeouts. */
  async function callSlowly() {
    const body = JSON.stringify({ code: (await linked.issue()).code });
    const lines = [
      'Content-Type: application/json',
      `Authorization: ${linked.bearer}`,
      `Content-Length: ${body.length}`,
    ];
    const text = `${post(...lines)}\r\n\r\n${body}`;
    const connection = new RawConnection(server);
    const pieces = [text.slice(0, 40), text.slice(40, -10), text.slice(-10, -5), text.slice(-5)];
    for (const piece of pieces) {
      connection.socket.write(piece);
      await sleep(HEADERS_TIMEOUT / 10);
    }
    const response = await connection.response();
    connection.end();
    return response.status;
  }

  /** Opens all slow connections and waits until the server has closed each. */
  async function wave(): Promise<void> {
    const before = await openFiles(server);
    const calls = Object.values(ways());
    const clients = await Promise.all(calls.map((each) => SlowClients.start(server, each)));
    try {
      const total = calls.reduce((sum, { count }) => sum + count, 0);
      const files = () => openFiles(server);
      const polling = { timeout: MAX_WAIT, interval: 50 };
      for (const each of clients) each.go();
      // A fast machine opens all of them before the first is closed. A busy one has only a part of
      // them open at a time.
      await expect.poll(files, polling).toBeGreaterThan(before + total / 10);
      // A client that does not read does not notice the end either: the server's open files show it.
      const open = () =>
        clients.filter(({ closed }, i) => calls[i]?.reads && closed < calls[i].count);
      await expect.poll(open, polling).toEqual([]);
      // Some of the files are connections of the clients that are served.
      await expect.poll(files, polling).toBeLessThan(before + 20);
    } finally {
      await Promise.all(clients.map((each) => each.stop()));
    }
  }

  test('are all closed, and clients within the timeouts are served meanwhile', {
    timeout: 4 * MAX_WAIT,
  }, async () => {
    const memory: number[] = [];
    const stream = callRepeatedly();
    for (let round = 0; round < longer(2, 3); round++) {
      const slowly = callSlowly();
      await wave();
      expect(await slowly).toBe(200);
      memory.push(await memoryOf(server));
    }
    expect(await stream.stop()).toBeGreaterThan(0);
    const [first = 0] = memory;
    const last = memory.at(-1);
    // The later waves use the memory of the first again, apart from what is not collected yet.
    expect(last, `MiB after each wave: ${memory.map(Math.round)}`).toBeLessThan(first * 1.25 + 32);
    // Nothing else failed. The service may drop some of so many refusals.
    const usual = /^(request|audit|listening|log number|too many refusals .*)$/;
    expect(server.lines.filter(({ msg }) => !usual.test(msg))).toEqual([]);
  });
});

describeOnEachStore('connections at their limit', (fresh) => {
  const FILES = 600;
  // Without those that are reserved, and a quarter of it.
  const MOST = FILES - 256;
  const OF_ADDRESS = MOST / 4;
  let database: TestDatabase;
  let server: ServerProcess;
  let linked: LinkedApplication;
  beforeAll(async () => {
    database = await fresh();
    server = await ServerProcess.start(database.url, {
      within: ['prlimit', `--nofile=${FILES}:${FILES}`],
    });
    linked = await linkedApplication(server);
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    await database.remove();
  });

  const HEALTH = ['GET /healthz HTTP/1.1', 'Host: x'];
  const convert = (length: number) => [
    'POST /oauth/convert HTTP/1.1',
    'Host: x',
    `Authorization: ${linked.bearer}`,
    'Content-Type: application/json',
    `Content-Length: ${length}`,
  ];

  /** As many callers as an office. */
  async function serveOthers(): Promise<void> {
    // Each on a connection of its own: an idle one of `fetch` may be closed just as it is used.
    const calls = Array.from({ length: 30 }, async () => {
      const connection = new RawConnection(server);
      connection.request(['GET /readyz HTTP/1.1', 'Host: x', 'Connection: close']);
      return (await connection.response()).status;
    });
    expect(await Promise.all(calls)).toEqual(calls.map(() => 200));
  }
  async function keepAlive(): Promise<string | undefined> {
    const connection = new RawConnection(server);
    connection.request(HEALTH);
    const { lines } = await connection.response();
    connection.end();
    return lines.find((line) => line.startsWith('Keep-Alive'));
  }
  const warnings = () => server.lines.filter(({ level }) => level >= 40).map(({ msg }) => msg);

  /** Idle connections of an address of their own, some after a request. */
  async function idle(count: number): Promise<SlowClients> {
    const first = `${HEALTH.join('\r\n')}\r\n\r\n`;
    const clients = await SlowClients.start(server, { first, every: 1000, reads: true, count });
    clients.go();
    return clients;
  }

  test('are told at the start', () => {
    const [listening] = server.lines.filter(({ msg }) => msg === 'listening');
    expect(listening).toMatchObject({ connections: MOST, connections_per_address: OF_ADDRESS });
  });

  test('are at most a quarter of one address, so that others are served, including their database calls', async () => {
    const codes = await Promise.all(Array.from({ length: 20 }, () => linked.issue()));
    const connections = codes.map(() => new RawConnection(server));
    for (const connection of connections) {
      connection.request(HEALTH);
      expect((await connection.response()).status).toBe(200);
    }
    const clients = await idle(2 * FILES);
    await expect.poll(() => clients.closed, { timeout: 30_000 }).toBe(2 * FILES - OF_ADDRESS);

    // Concurrently, so that the store has to open more connections of its own.
    const responses = connections.map(async (connection, index) => {
      const body = JSON.stringify({ code: codes[index]?.code });
      connection.request(convert(body.length), body);
      return (await connection.response()).status;
    });
    expect(await Promise.all(responses)).toEqual(codes.map(() => 200));
    await serveOthers();
    expect(clients.closed).toBe(2 * FILES - OF_ADDRESS);
    expect(warnings()).toEqual([]);
    await clients.stop();
    for (const connection of connections) connection.end();
  });

  test('of many addresses make room, those that are idle for longest', async () => {
    const earlier = new RawConnection(server);
    earlier.request(HEALTH);
    await earlier.response();
    const clients = await Promise.all(Array.from({ length: 8 }, () => idle(OF_ADDRESS)));
    const closed = () => clients.reduce((sum, each) => sum + each.closed, 0);
    await expect.poll(closed, { timeout: 30_000 }).toBeGreaterThanOrEqual(8 * OF_ADDRESS - MOST);
    expect(earlier.ended).toBe(true);
    // New ones are asked to go soon.
    expect(await keepAlive()).toBe('Keep-Alive: timeout=5');
    await serveOthers();
    expect(warnings()).toEqual([]);
    await Promise.all(clients.map((each) => each.stop()));
    await expect.poll(keepAlive).toBe('Keep-Alive: timeout=65');
  });

  test('of many addresses with unfinished bodies make room, those unfinished for longest', async () => {
    const body = JSON.stringify({ code: (await linked.issue()).code });
    const first = `${convert(1000).join('\r\n')}\r\n\r\n{`;
    const slow = { first, every: 1000, reads: true, count: OF_ADDRESS };
    const clients = await Promise.all(
      Array.from({ length: 4 }, () => SlowClients.start(server, slow)),
    );
    for (const each of clients) each.go();
    const opened = () => openConnections(server);
    await expect.poll(opened, { timeout: 15_000 }).toBeGreaterThan(MOST * 0.85);
    // It is younger than these, so it is not what makes room.
    const young = new RawConnection(server);
    young.request(convert(body.length), body.slice(0, 1));
    await serveOthers();
    young.socket.write(body.slice(1));
    expect((await young.response()).status).toBe(200);
    young.end();
    expect(warnings()).toEqual([]);
    await Promise.all(clients.map((each) => each.stop()));
  });

  test('of many addresses that read no response make room', async () => {
    // Those of the test before are closed.
    await expect.poll(() => openConnections(server), { timeout: 15_000 }).toBeLessThan(OF_ADDRESS);
    const slow = { first: UNREAD, every: 1000, reads: false, count: OF_ADDRESS };
    const clients = await Promise.all(
      Array.from({ length: 4 }, () => SlowClients.start(server, slow)),
    );
    const opened = () => openConnections(server);
    // Only what has a response can make room, so the last quarter comes when the others have theirs.
    const last = clients.pop();
    for (const each of clients) each.go();
    await expect.poll(opened, { timeout: 30_000 }).toBeGreaterThan(MOST * 0.7);
    last?.go();
    // From seven eighths on they make room for one another, so more may never be open at a time.
    await expect.poll(opened, { timeout: 30_000 }).toBeGreaterThan(MOST * 0.85);
    await serveOthers();
    expect(warnings()).toEqual([]);
    await Promise.all([...clients, last].map((each) => each?.stop()));
  });

  test('are never taken from a running request', async () => {
    const codes = await Promise.all(Array.from({ length: OF_ADDRESS }, () => linked.issue()));
    const bodies = codes.map(({ code }) => JSON.stringify({ code }));
    const running = bodies.map((body) => {
      const connection = new RawConnection(server, '127.0.2.1');
      connection.request(convert(body.length), body.slice(0, 1));
      return connection;
    });
    // The last one is read before the next connection is.
    await sleep(500);
    const refused = new RawConnection(server, '127.0.2.1');
    await expect.poll(() => refused.ended).toBe(true);
    // A line of the log arrives after the end of the connection that it tells of.
    await expect.poll(warnings).toEqual(['too many connections: new ones are closed']);
    await serveOthers();
    const responses = running.map(async (connection, index) => {
      connection.socket.write(bodies[index]?.slice(1) ?? '');
      const { status } = await connection.response();
      connection.end();
      return status;
    });
    expect(await Promise.all(responses)).toEqual(codes.map(() => 200));
  });
});
