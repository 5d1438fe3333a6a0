import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { send, succeed } from '../http/call.ts';
import { describeOnEachStore, sqliteDatabase, type TestDatabase } from '../http/databases.ts';
import { asBearer, type LinkedApplication, linkedApplication } from '../http/linked-application.ts';
import { RawConnection } from '../http/raw-connection.ts';
import { longer } from '../long.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';
import { SlowCallers, type SlowCalls } from './slow-callers.ts';

// The short form has deadlines of 2 and 4 seconds; the long form is the service as it is run, with
// its own.
const shortened = longer(1, 0) === 1;
const HEADERS_DEADLINE = longer(2_000, 10_000);
const every = longer(300, 2_000);
// Several times the longest deadline, for a busy machine, and less than the 30 s at which Node would
// look for late callers by itself.
const PATIENCE = longer(20_000, 200_000);

const start = (database: TestDatabase) =>
  startServerProcess(
    database.url,
    shortened ? { script: new URL('./short-deadlines.ts', import.meta.url).pathname } : {},
  );

describe.runIf(process.platform === 'linux')('slow connections', () => {
  let database: TestDatabase;
  let server: ServerProcess;
  let linked: LinkedApplication;
  beforeAll(async () => {
    database = await sqliteDatabase();
    server = await start(database);
    linked = await linkedApplication(server);
  }, 60_000);
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
    'a byte of a header now and then': {
      ...{ first: post('X-Slow: '), more: 'a' },
      ...{ every, reads: true, count: longer(150, 4_500) },
    },
    'a byte of a body now and then': {
      ...{ first: withBody(`Authorization: ${linked.bearer}`), more: ' ' },
      ...{ every, reads: true, count: longer(150, 4_500) },
    },
    'a byte of a body that nobody reads now and then': {
      ...{ first: withBody(), more: ' ' },
      ...{ every, reads: true, count: longer(50, 500) },
    },
    'nothing at all': { first: '', every, reads: true, count: longer(50, 500) },
    // 14 MB, of which some fit between the two processes: the rest waits in the server.
    'takes no answer': {
      first: 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(8),
      ...{ every, reads: false, count: 50 },
    },
  });

  /** Calls without a pause, on old connections and on new ones, until it is told to stop. */
  function callOnAndOn() {
    let stopped = false;
    let answers = 0;
    const caller = async () => {
      while (!stopped) {
        const grant = await linked.link();
        const account = await succeed(server, 'account.get', {}, asBearer(grant));
        expect(account.id).toBe(linked.account_id);
        const { status } = await send(server, {
          ...{ method: 'GET', path: '/readyz', headers: { connection: 'close' } },
        });
        expect(status).toBe(200);
        answers += 4;
        await sleep(20);
      }
    };
    const all = Promise.all([caller(), caller()]);
    // What fails is told when it is asked for.
    all.catch(() => undefined);
    return {
      async stop() {
        stopped = true;
        await all;
        return answers;
      },
    };
  }

  /** A caller that is slow, but in time: a quarter of each deadline. */
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
      await sleep(HEADERS_DEADLINE / 4);
    }
    const answer = await connection.answer();
    connection.end();
    return answer.status;
  }

  /** Lets them all call at once, until the server has let go of each. */
  async function wave(): Promise<void> {
    const before = await server.openFiles();
    const calls = Object.values(ways());
    const callers = await Promise.all(calls.map((each) => SlowCallers.start(server, each)));
    try {
      const total = calls.reduce((sum, { count }) => sum + count, 0);
      const files = () => server.openFiles();
      const patience = { timeout: PATIENCE, interval: 50 };
      for (const each of callers) each.go();
      // All are there together where the machine opens them before the first is cut; a busy one has
      // a part of them at a time.
      await expect.poll(files, patience).toBeGreaterThan(before + total / 10);
      // Who doesn't read doesn't see the end of its connection either: that the server tells.
      const open = () =>
        callers.filter(({ closed }, i) => calls[i]?.reads && closed < calls[i].count);
      await expect.poll(open, patience).toEqual([]);
      // Some files are the connections of those who are served meanwhile.
      await expect.poll(files, patience).toBeLessThan(before + 20);
    } finally {
      await Promise.all(callers.map((each) => each.stop()));
    }
  }

  test('are all cut, and those who are in time are served meanwhile', {
    timeout: 4 * PATIENCE,
  }, async () => {
    const memory: number[] = [];
    const stream = callOnAndOn();
    for (let round = 0; round < longer(2, 3); round++) {
      const slowly = callSlowly();
      await wave();
      expect(await slowly).toBe(200);
      memory.push(await server.memory());
    }
    expect(await stream.stop()).toBeGreaterThan(0);
    const [first = 0] = memory;
    const last = memory.at(-1);
    // What the first wave took is used again by the others, but for what the collector leaves.
    expect(last, `MiB after each wave: ${memory.map(Math.round)}`).toBeLessThan(first * 1.25 + 32);
    // Neither did anything fail behind the answers; that not all of so many refusals are kept is right.
    const usual = /^(request|audit|listening|too many refusals .*)$/;
    expect(server.log().filter(({ msg }) => !usual.test(msg))).toEqual([]);
  });
});

describeOnEachStore('more connections than the process may open files', (fresh) => {
  const FILES = 600;
  let database: TestDatabase;
  let server: ServerProcess;
  let linked: LinkedApplication;
  beforeAll(async () => {
    database = await fresh();
    server = await startServerProcess(database.url, { files: FILES });
    linked = await linkedApplication(server);
  }, 60_000);
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    await database.remove();
  });

  test('are cut at once, and those before them are served, database and all', async () => {
    const codes = await Promise.all(Array.from({ length: 20 }, () => linked.issue()));
    const connections = codes.map(() => new RawConnection(server));
    for (const connection of connections) {
      connection.request(['GET /healthz HTTP/1.1', 'Host: x']);
      expect((await connection.answer()).status).toBe(200);
    }
    const callers = await SlowCallers.start(server, {
      ...{ first: '', every: 1000, reads: true, count: 2 * FILES },
    });
    callers.go();
    await expect.poll(() => callers.closed, { timeout: 30_000 }).toBeGreaterThan(FILES);

    // All at once, so that the store has to reach for more connections of its own.
    const answers = connections.map(async (connection, index) => {
      const body = JSON.stringify({ code: codes[index]?.code });
      connection.request(
        [
          'POST /oauth/convert HTTP/1.1',
          'Host: x',
          `Authorization: ${linked.bearer}`,
          'Content-Type: application/json',
          `Content-Length: ${body.length}`,
        ],
        body,
      );
      return (await connection.answer()).status;
    });
    expect(await Promise.all(answers)).toEqual(codes.map(() => 200));
    const warnings = server.log().filter(({ level }) => level >= 40);
    expect(warnings.map(({ msg }) => msg)).toEqual(['too many connections: new ones are cut off']);

    await callers.stop();
    for (const connection of connections) connection.end();
    const healthy = async () =>
      (await send(server, { method: 'GET', path: '/readyz' }).catch(() => null))?.status;
    await expect.poll(healthy, { timeout: 30_000 }).toBe(200);
  });
});
