import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@latchkey/test-kit/free-port';

/** A kind of proxy, run with its file in examples/proxies. */
export interface ProxyKind {
  program: 'haproxy' | 'nginx';
  /** The file of the example. */
  example: string;
  /** Writes what the example needs around it, and returns the arguments of the program. */
  prepare(folder: string, config: string): Promise<string[]>;
}

export const proxyKinds: ProxyKind[] = [
  {
    program: 'haproxy',
    example: 'haproxy.cfg',
    prepare: async (_, config) => ['-db', '-f', config],
  },
  {
    program: 'nginx',
    example: 'nginx.conf',
    async prepare(folder, config) {
      const main = join(folder, 'main.conf');
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const paths = temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
      await writeFile(
        main,
        `daemon off; pid ${folder}/pid; error_log stderr; events {}
        http { access_log off; ${paths} include ${config}; }`,
      );
      return ['-p', folder, '-e', 'stderr', '-c', main];
    },
  },
];

/** Whether the program is installed. In CI, a missing one is a failure: nobody would notice the skip. */
export function isInstalled(program: string): boolean {
  const found = spawnSync(program, ['-v']).status === 0;
  if (!found && process.env.CI) throw new Error(`${program} is not installed`);
  return found;
}

export interface Proxy {
  url: string;
  /** What it has written. */
  output(): string;
  stop(): Promise<void>;
}

// In the examples: where the proxy listens, and the processes.
const PORTS = ['8080', '3001', '3002'];

/** Starts a proxy with the file of its example, in which only the addresses are replaced. */
export async function startProxy(kind: ProxyKind, urls: readonly string[]): Promise<Proxy> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-proxy-'));
  const address = `127.0.0.1:${await freePort()}`;
  const file = new URL(`../../../../examples/proxies/${kind.example}`, import.meta.url);
  const hosts = [address, ...urls.map((url) => new URL(url).host)];
  const text = (await readFile(fileURLToPath(file), 'utf8')).replaceAll(
    /127\.0\.0\.1:(\d+)/g,
    (_, port: string) => hosts[PORTS.indexOf(port)] as string,
  );
  const config = join(folder, kind.example);
  await writeFile(config, text);

  const child = spawn(kind.program, await kind.prepare(folder, config), {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk;
    });
  }
  const url = `http://${address}`;
  await untilReady(url, child, () => output);
  return {
    url,
    output: () => output,
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true });
    },
  };
}

async function untilReady(url: string, child: ChildProcess, output: () => string): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/readyz`).catch(() => null);
    if (response?.status === 200) return;
    if (child.exitCode !== null) throw new Error(`The proxy ended: ${output()}`);
    await sleep(20);
  }
}
