import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCommand } from '../http/command-process.ts';
import { ADMIN_SECRET } from '../http/running-server.ts';

/** The service in a process of its own, as an operator runs it. */
export interface ServerProcess {
  url: string;
  pid: number;
  /** The lines of its log so far. */
  log(): LogLine[];
  /** Ends it in order, and tells its exit code. */
  stop(): Promise<number | null>;
}

export interface LogLine {
  level: number;
  msg: string;
  [field: string]: unknown;
}

export async function startServerProcess(
  databaseUrl: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<ServerProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-hostile-'));
  const settings = {
    PORT: '0',
    DATABASE_URL: databaseUrl,
    ADMIN_SECRET,
    // What is tried here is what the service itself can take.
    RATE_LIMIT: 'off',
    ...environment,
  };
  const command = startCommand(['serve'], settings, directory);
  const [, url = ''] = await command.printed(/^Latchkey listens on (http:\S+),/m);
  return {
    url,
    pid: command.pid,
    log: () =>
      command.run.stderr
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    async stop() {
      command.kill('SIGTERM');
      const { code } = await command.ended;
      await rm(directory, { recursive: true });
      return code;
    },
  };
}
