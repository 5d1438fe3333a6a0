import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@latchkey/test-kit/free-port';
import { slow } from '@latchkey/test-kit/long';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { invoke, type Json, send, succeed, wires } from '../http/call.ts';
import { runCommand } from '../http/command-process.ts';
import { asBearer, linkedApplication } from '../http/linked-application.ts';
import { operator } from '../http/running-server.ts';
import { ServerProcess } from '../http/served-process.ts';
import { onDisk, type TestSink, toReaderThatEnds, toReaderThatSleeps } from './log-sink.ts';
import { canMount } from './mount-namespace.ts';
import { startProcess } from './server-process.ts';

const RECOVERED = 'the log is written again after lines were refused';

const sinks: [string, (folder: string) => TestSink][] = [
  ['a reader that is gone', toReaderThatEnds],
  ['a reader that sleeps', toReaderThatSleeps],
];
if (canMount) sinks.push(['a disk that is full', onDisk]);

let folder: string;
let url: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-log-'));
  // Once its processes have ended: what is said first comes last.
  onTestFinished(() => rm(folder, { recursive: true }));
  url = `file:${join(folder, 'latchkey.db')}`;
});

const start = (within: readonly string[], environment: NodeJS.ProcessEnv = {}) =>
  startProcess(url, { LOG_LEVEL: 'info', METRICS: 'on', ...environment }, within);

/** How many lines the service says it has lost. */
async function dropped(server: ServerProcess): Promise<number> {
  const { text } = await send(server, { method: 'GET', path: '/metrics' });
  return Number(/^latchkey_log_dropped_total (\d+)$/m.exec(text)?.[1]);
}

/** Sends requests that have long lines, 50 at a time, until the service has lost some of them. */
async function floodUntilDropped(server: ServerProcess): Promise<void> {
  const headers = { 'x-request-id': 'x'.repeat(128) };
  for (let sent = 0; sent < 10_000 && (await dropped(server)) === 0; sent += 250) {
    for (let batch = 0; batch < 5; batch++) {
      const answers = Array.from({ length: 50 }, () =>
        send(server, { method: 'GET', path: '/healthz', headers }),
      );
      expect((await Promise.all(answers)).every(({ status }) => status === 200)).toBe(true);
    }
  }
  expect(await dropped(server)).toBeGreaterThan(0);
}

/** The lines of the log that are whole; the last one may be under way. */
const linesOf = (text: string): Json[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

async function recoveryIn(sink: TestSink, { pid }: ServerProcess): Promise<Json> {
  for (;;) {
    const line = linesOf(sink.text(pid)).find(({ msg }) => msg === RECOVERED);
    if (line !== undefined) return line;
    await sleep(20);
  }
}

describe.each(sinks)('with %s for its log, the service', (_, create) => {
  const size = create === toReaderThatEnds ? {} : slow;

  test('goes on, counts what it loses, says so afterwards, and ends in order', size, async () => {
    const sink = create(folder);
    const server = await start(sink.within);
    const linked = await linkedApplication(server);
    sink.break(server.pid);
    await floodUntilDropped(server);

    // The lines of changes have the rest of the buffer.
    const lost = await dropped(server);
    const { grant_id } = await linked.link();
    await send(server, { method: 'GET', path: '/healthz' });
    // Since then: the requests of the change, of both metrics and of /healthz.
    expect(await dropped(server)).toBeGreaterThan(lost);

    sink.repair(server.pid);
    const recovery = await recoveryIn(sink, server);
    expect(recovery).toMatchObject({ level: 40, since: expect.any(String) });
    expect(recovery.dropped).toBe(await dropped(server));
    const lines = linesOf(sink.text(server.pid));
    expect(lines).toContainEqual(
      expect.objectContaining({ action: 'grants.convert', result: 'done', grant_id }),
    );
    expect(await server.stop()).toBe(0);
  });

  test('ends in order on SIGTERM meanwhile', size, async () => {
    const sink = create(folder);
    const server = await start(sink.within);
    sink.break(server.pid);
    await floodUntilDropped(server);
    expect(await server.stop()).toBe(0);
  });

  test('refuses changes if AUDIT is required, until its log is written again', size, async () => {
    const sink = create(folder);
    const server = await start(sink.within, { AUDIT: 'required' });
    const linked = await linkedApplication(server);
    const { code } = await linked.issue();
    const unused = await linked.link();
    const { grant_id } = await linked.link();
    const put = () =>
      invoke(
        server,
        'REST',
        'admin.accounts.put',
        { account_id: randomUUID(), username: 'ada' },
        operator,
      );

    sink.break(server.pid);
    if (create === toReaderThatSleeps) await floodUntilDropped(server);
    for (let puts = 0; puts < 1_000 && (await put()).status === 200; puts++) await sleep(1);

    let request_id = '';
    for (const wire of wires) {
      for (const [name, input, authorization] of [
        ['grants.convert', { code }, linked.bearer],
        ['grants.revoke', { grant_id }, linked.bearer],
        ['grants.recover', { grant_id }, linked.bearer],
        ['admin.grants.revoke', { grant_id }, operator],
        ['admin.applications.create', { name: 'Acme' }, operator],
      ] as const) {
        const { status, headers, body } = await invoke(server, wire, name, input, authorization);
        expect([name, status, body.error_code]).toEqual([name, 503, 'store_unavailable']);
        expect(headers.get('retry-after')).toBe('1');
        request_id = body.request_id;
      }
      // What is wrong anyway is told first.
      const bad = await invoke(server, wire, 'grants.convert', { code: 7 }, linked.bearer);
      expect(bad.body.error_code).toBe('parameter_invalid');
      const reads = [
        await invoke(server, wire, 'account.grant', {}, asBearer(unused)),
        await invoke(server, wire, 'admin.applications.list', {}, operator),
      ];
      expect(reads.map(({ status }) => status)).toEqual([200, 200]);
    }

    sink.repair(server.pid);
    while ((await put()).status !== 200) await sleep(20);
    // Nothing was changed meanwhile but for the mark of the first use.
    const applications = await succeed(server, 'admin.applications.list', {}, operator);
    expect(applications.data).toHaveLength(1);
    const { body } = await invoke(
      server,
      'REST',
      'grants.recover',
      { grant_id: unused.grant_id },
      linked.bearer,
    );
    expect(body.error_code).toBe('grant_not_recoverable');
    await linked.convert(code);
    await succeed(server, 'grants.revoke', { grant_id }, linked.bearer);
    expect(await server.stop()).toBe(0);

    const { stdout } = await runCommand(['explain', request_id, '--json'], { DATABASE_URL: url });
    expect(JSON.parse(stdout).data).toMatchObject([{ reason: 'log_failing' }]);
  });
});

describe('with /dev/full for its log, the service', () => {
  test('goes on, counts what it loses, and ends in order', async () => {
    const server = await start(['sh', '-c', 'exec "$@" 2>/dev/full', 'sh']);
    await (await linkedApplication(server)).link();
    await floodUntilDropped(server);
    expect(await server.stop()).toBe(0);
  });

  test('goes on with its stdout there, too', async () => {
    const port = await freePort();
    const within = ['sh', '-c', 'exec "$@" >/dev/full 2>&1', 'sh'];
    const environment = { PORT: String(port) };
    const server = new ServerProcess(url, { environment, within });
    onTestFinished(() => server.kill());
    const place = { url: `http://127.0.0.1:${port}` };
    const isUp = () => send(place, { method: 'GET', path: '/healthz' }).catch(() => null);
    const outcome = await Promise.race([
      server.command.ended,
      (async () => {
        while ((await isUp()) === null) await sleep(50);
        return 'up';
      })(),
    ]);
    expect(outcome).toBe('up');
    expect(await server.stop()).toBe(0);
  });

  test('refuses changes if AUDIT is required, and the command line makes them', async () => {
    const server = await start(['sh', '-c', 'exec "$@" 2>/dev/full', 'sh'], { AUDIT: 'required' });
    const { status } = await invoke(
      server,
      'REST',
      'admin.applications.create',
      { name: 'Acme' },
      operator,
    );
    expect(status).toBe(503);
    const settings = { DATABASE_URL: url, AUDIT: 'required' };
    expect(await runCommand(['app', 'create', 'Acme'], settings)).toMatchObject({ code: 0 });
    expect(await server.stop()).toBe(0);
  });
});
