import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchServer, listening } from '../http/served-process.ts';

/** The service in a process of its own. */
export interface ServerProcess {
  url: string;
  /** The lines of its log so far. */
  log(): LogLine[];
  /** How many files it has open, connections among them. */
  openFiles(): Promise<number>;
  /** How much memory it has, in MiB. */
  memory(): Promise<number>;
  /** Ends it in order, and tells its exit code. */
  stop(): Promise<number | null>;
}

export interface LogLine {
  level: number;
  msg: string;
  [field: string]: unknown;
}

export interface ServerProcessOptions {
  /** A program that serves in the service's place. */
  script?: string;
  /** How many files it may have open; what this process may unless given. */
  files?: number;
}

/** Starts the service as an operator does, on a free port, and waits until it listens. */
export async function startServerProcess(
  databaseUrl: string,
  { script, files }: ServerProcessOptions = {},
): Promise<ServerProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-hostile-'));
  const within = files === undefined ? [] : ['prlimit', `--nofile=${files}:${files}`];
  const command = launchServer(databaseUrl, { directory, within, script });
  const url = await listening(command);
  return {
    url,
    log: () =>
      command.run.stderr
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    openFiles: async () => (await readdir(`/proc/${command.pid}/fd`)).length,
    async memory() {
      const status = await readFile(`/proc/${command.pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
    },
    async stop() {
      command.kill('SIGTERM');
      const { code } = await command.ended;
      await rm(directory, { recursive: true });
      return code;
    },
  };
}
