import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { singleUse } from '@latchkey/rules/outbound/agents';
import { createResolve } from '@latchkey/rules/outbound/resolve';
import { OutboundError, send } from '@latchkey/rules/outbound/send';
import { canMakeNetworks, Network } from '@latchkey/test-kit/network/network';
import { describe, expect, onTestFinished, test } from 'vitest';
import { canMount, withMounts } from '../faults/mount-namespace.ts';
import { type Answer, serveNames } from './name-server.ts';
import { resolver } from './world.ts';

async function temporaryFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-names-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

const LONG = 30_000;

async function createWorld({
  answers = {},
  hosts = '',
  config = '',
  lost = 0,
  timeout = LONG,
}: {
  answers?: Record<string, Answer>;
  hosts?: string;
  config?: string;
  /** How many queries are. */
  lost?: number;
  timeout?: number;
}) {
  const folder = await temporaryFolder();
  const [hostsFile, configFile] = ['hosts', 'resolv.conf'].map((name) => join(folder, name));
  await writeFile(hostsFile as string, hosts);
  await writeFile(configFile as string, config);
  let left = lost;
  const names = await serveNames((name, type) => {
    if (left-- > 0) return 'silence';
    return answers[`${type} ${name}`] ?? answers[name] ?? [];
  });
  onTestFinished(() => void names.close());
  const resolve = createResolve({
    ...{ hostsFile, configFile, timeout },
    servers: [names.server],
  } as Parameters<typeof createResolve>[0]);
  /** The addresses, or the code of the error. */
  const outcome = (name: string) =>
    new Promise<string[] | string>((found) => {
      resolve(name, { all: true }, (error, all) =>
        found(error === null ? all.map(({ address }) => address) : `${error.code}`),
      );
    });
  return { ...names, resolve, outcome };
}

describe('a name', () => {
  test('is in the hosts file, whatever a server says', async () => {
    const { outcome, asked } = await createWorld({
      hosts: '# of tests\n127.0.0.9 other.example\tA.Example # a.example\n::9 a.example\n127.0.0.8',
      answers: { 'a.example': ['192.0.2.1'], 'b.example': ['192.0.2.2'] },
    });
    expect(await outcome('a.example')).toEqual(['127.0.0.9', '::9']);
    expect(await outcome('a.example.')).toEqual(['127.0.0.9', '::9']);
    expect(asked).toEqual([]);
    expect(await outcome('b.example')).toEqual(['192.0.2.2']);
    expect(await outcome('c.example')).toBe('ENOTFOUND');
  });

  test('of one label is resolved as the machine does', async () => {
    const { outcome, asked } = await createWorld({ answers: { localhost: ['192.0.2.1'] } });
    expect(await outcome('localhost')).toContain('127.0.0.1');
    expect(asked).toEqual([]);
  });

  test.each<[config: string, name: string, asked: string[]]>([
    ['', 'a.b', ['a.b']],
    ['search c.d e.', 'a.b', ['a.b', 'a.b.c.d', 'a.b.e']],
    ['search c.d\noptions rotate ndots:2', 'a.b', ['a.b.c.d', 'a.b']],
    ['domain c.d # not e\nsearch f', 'a.b', ['a.b', 'a.b.f']],
    ['search c.d .', 'a.b.', ['a.b']],
  ])('is searched for with "%s": %s', async (config, name, expected) => {
    const { outcome, asked } = await createWorld({ config });
    expect(await outcome(name)).toBe('ENOTFOUND');
    expect(asked.filter((one) => one.startsWith('A '))).toEqual(expected.map((one) => `A ${one}`));
  });

  test('found in a search domain is not asked for outside', async () => {
    const config = 'search internal.example\noptions ndots:5';
    const answers = { 'app.dev.internal.example': ['10.0.0.1'], 'app.dev': ['192.0.2.1'] };
    const { outcome, asked } = await createWorld({ config, answers });
    expect(await outcome('app.dev')).toEqual(['10.0.0.1']);
    expect(asked).not.toContain('A app.dev');
  });

  test('is searched for on after an alias alone', async () => {
    const config = 'search c.d\noptions ndots:2';
    const answers = { 'a.b.c.d': ['alias'], 'A a.b': ['192.0.2.1'] };
    const { outcome } = await createWorld({ config, answers });
    expect(await outcome('a.b')).toEqual(['192.0.2.1']);
  });

  test('has the addresses of one family where nobody answers for the other', async () => {
    const answers: Record<string, Answer> = {
      'A a.example': ['192.0.2.1'],
      'AAAA a.example': 'silence',
    };
    expect(await (await createWorld({ answers })).outcome('a.example')).toEqual(['192.0.2.1']);
  });

  test('that nobody answers for is late, and holds up no other', async () => {
    const answers: Record<string, Answer> = {
      'slow.example': 'silence',
      'a.example': ['192.0.2.1'],
    };
    const { outcome } = await createWorld({ answers, timeout: 1_500 });
    const late = outcome('slow.example');
    expect(await outcome('a.example')).toEqual(['192.0.2.1']);
    expect(await late).toBe('ETIMEOUT');
  });

  test('is asked for again, since packets get lost', async () => {
    const { outcome } = await createWorld({ answers: { 'a.example': ['192.0.2.1'] }, lost: 2 });
    expect(await outcome('a.example')).toEqual(['192.0.2.1']);
  });

  test('with an alias has its IPv4 address, though that comes long after the alias alone for IPv6', async () => {
    const answers = { 'A a.example': ['192.0.2.1'], 'AAAA a.example': ['alias'] };
    const { outcome } = await createWorld({ answers, lost: 1 });
    expect(await outcome('a.example')).toEqual(['192.0.2.1']);
  });

  test('with an alias alone has no address, which is not one that is refused', async () => {
    const { resolve } = await createWorld({ answers: { 'a.example': ['alias'] } });
    const { signal } = new AbortController();
    const sent = send(new URL('https://a.example/'), {
      ...{ method: 'GET', headers: {}, allow: {}, signal, resolve },
    });
    await expect(sent).rejects.toEqual(new OutboundError('connection_failed'));
  });

  test.each([
    ['more addresses than an honest one has', Array.from({ length: 65 }, (_, i) => `192.0.2.${i}`)],
    ['aliases alone', ['alias']],
  ])('with %s is resolved late, so that there are few of them at a time', async (_, answer) => {
    const { outcome } = await createWorld({ answers: { 'A odd.example': answer } });
    const began = performance.now();
    await outcome('odd.example');
    expect(performance.now() - began).toBeGreaterThan(1_000);
  });

  test('that is late is searched for no more', async () => {
    const config = 'search c.d\noptions ndots:2';
    const answers = { 'a.b.c.d': ['alias'], 'A a.b': ['192.0.2.1'] };
    // Its alias alone takes longer.
    const { outcome } = await createWorld({ config, answers, timeout: 500 });
    expect(await outcome('a.b')).toBe('ETIMEOUT');
  });

  test('that is late fails a request as a timeout does', async () => {
    const { resolve } = await createWorld({ answers: { 'slow.example': 'silence' }, timeout: 300 });
    const { signal } = new AbortController();
    const sent = send(new URL('https://slow.example/'), {
      ...{ method: 'GET', headers: {}, allow: {}, signal, resolve },
    });
    await expect(sent).rejects.toEqual(new OutboundError('timeout'));
  });
});

const RECEIVER = `require('node:http')
  .createServer((_, response) => response.writeHead(204).end())
  .listen(0, function () { console.log(this.address().port); })`;

/** This program, where two name servers answer for one name alone, and there is no other network. */
function inNamespace(folder: string, program: string[]): string[] {
  const mount = 'mount --bind "$0/resolv.conf" /etc/resolv.conf';
  const network = 'ip link set lo up; exec "$@"';
  return [...withMounts(mount, folder), 'unshare', '--net', 'sh', '-c', network, 'sh', ...program];
}

const canIsolate =
  canMount && spawnSync('unshare', ['--net', 'ip', 'link', 'set', 'lo', 'up']).status === 0;

test.skipIf(!canIsolate)(
  `96 names that nobody answers for hold up no message to an honest receiver${canIsolate ? '' : ' (not run: no network namespaces)'}`,
  async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'resolv.conf'), 'nameserver 127.0.0.1\nnameserver 127.0.0.2\n');
    const program = fileURLToPath(new URL('./slow-names.ts', import.meta.url));
    const [command = '', ...args] = inNamespace(folder, [process.execPath, program]);
    const { stdout } = await promisify(execFile)(command, args);
    expect(JSON.parse(stdout)).toEqual({ honest: 'delivered', slow: { timeout: 96 } });
  },
  60_000,
);

test.skipIf(!canMakeNetworks)(
  `an address whose first packet is lost is connected to, though the other one refuses${canMakeNetworks ? '' : ' (not run: no network namespaces)'}`,
  async () => {
    const network = await Network.start(2);
    onTestFinished(() => network.stop());
    const [refusing, slow] = network.hosts;
    if (refusing === undefined || slow === undefined) throw new Error('There are no hosts.');
    const [command = '', ...args] = [...slow.within, process.execPath, '-e', RECEIVER];
    const receiver = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void receiver.kill());
    const [port] = await once(receiver.stdout, 'data');

    // This process has the address before that of the first host.
    const here = refusing.address.replace(/\d+$/, (last) => `${Number(last) - 1}`);
    await network.cut([{ ...refusing, address: here }], [slow]);
    const answers = { 'a.example': [[slow.address, refusing.address]] };
    const { resolve } = resolver(answers);
    // 198.18.0.0/15 is refused: what is tested is how these agents connect.
    const sent = once(
      http.get(`http://a.example:${port}/`, {
        agent: singleUse.http,
        lookup: (name, options, found) => resolve(name, { ...options, all: true }, found),
      }),
      'response',
    );
    // The kernel sends it again after a second.
    await sleep(500);
    await network.repair();
    const [{ statusCode }] = await sent;
    expect(statusCode).toBe(204);
  },
);
