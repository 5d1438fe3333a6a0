import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchServer, listening } from '../http/served-process.ts';

/** The service in its own process. */
export interface ServerProcess {
  url: string;
  /** The log lines so far. */
  log(): LogLine[];
  /** The number of open files, including connections. */
  openFiles(): Promise<number>;
  /** The resident memory in MiB. */
  memory(): Promise<number>;
  /** Shuts it down and returns its exit code. */
  stop(): Promise<number | null>;
}

export interface LogLine {
  level: number;
  msg: string;
  [field: string]: unknown;
}

export interface ServerProcessOptions {
  /** A program to run in place of the service. */
  script?: string;
  /** The limit of open files. Default: that of this process. */
  files?: number;
  /** The size of the heap in MiB. Default: Node's. */
  heap?: number;
  /** Settings beyond those of every test. Default: none. */
  environment?: NodeJS.ProcessEnv;
}

/** Starts the service on a free port, as an operator does, and waits until it listens. */
export async function startServerProcess(
  databaseUrl: string,
  { script, files, heap, environment = {} }: ServerProcessOptions = {},
): Promise<ServerProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-hostile-'));
  const within = files === undefined ? [] : ['prlimit', `--nofile=${files}:${files}`];
  const command = launchServer(databaseUrl, {
    ...{ directory, within, script },
    environment: {
      ...environment,
      ...(heap !== undefined && { NODE_OPTIONS: `--max-old-space-size=${heap}` }),
    },
  });
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
