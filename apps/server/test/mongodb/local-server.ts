import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Leashed, leash } from './leash.ts';
import { lastLines, reasonOf } from './text.ts';

const startMs = 60_000;
const portAttempts = 3;

/** How one kind of server is run on this machine. */
export interface LocalServerKind {
  /** Log files in the run's folder, worth quoting when it does not start. */
  logs: string[];
  /** The script fills the folder on the first start: whatever is in there is under its leash. */
  command(folder: string, port: number): [command: string, args: string[]];
  url(port: number): string;
  /** Throws until the server answers as it should. */
  check(port: number): Promise<void>;
}

export interface LocalServer {
  url: string;
  stop(): Promise<void>;
  kill(): Promise<void>;
  restart(): Promise<void>;
}

export async function startLocalServer(kind: LocalServerKind): Promise<LocalServer> {
  for (let attempt = 1; ; attempt++) {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-mongodb-'));
    try {
      const port = await freePort();
      let process = await launch(kind, folder, port);
      return {
        url: kind.url(port),
        async stop() {
          await process.stop();
          await remove(folder);
        },
        kill: () => process.kill(),
        async restart() {
          await process.stop();
          process = await launch(kind, folder, port);
        },
      };
    } catch (error) {
      await remove(folder);
      // Between choosing a free port and listening on it, anyone may have taken it.
      if (attempt === portAttempts || !/address (already )?in use/i.test(reasonOf(error))) {
        throw error;
      }
    }
  }
}

async function launch(kind: LocalServerKind, folder: string, port: number): Promise<Leashed> {
  const process = leash(...kind.command(folder, port));
  const deadline = Date.now() + startMs;
  for (;;) {
    try {
      await kind.check(port);
      return process;
    } catch (error) {
      const logs = await Promise.all(kind.logs.map((name) => readLog(join(folder, name))));
      const said = [process.complaints(), ...logs].filter(Boolean).join('\n');
      const why =
        !process.running() || existsSync(join(folder, 'ended'))
          ? 'ended at once'
          : /address (already )?in use/i.test(said)
            ? 'address in use'
            : Date.now() > deadline
              ? `did not answer within ${startMs / 1_000} s (${reasonOf(error)})`
              : undefined;
      if (why !== undefined) {
        await process.kill();
        throw new Error(`${why}\n${lastLines(said, 12)}`);
      }
      await sleep(100);
    }
  }
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

async function readLog(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
