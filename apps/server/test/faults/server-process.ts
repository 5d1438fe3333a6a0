import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { send } from '../http/call.ts';
import { type CommandProcess, startCommand } from '../http/command-process.ts';
import { ADMIN_SECRET } from '../http/running-server.ts';

/** The service in a process of its own, as an operator runs it. */
export interface ServerProcess extends CommandProcess {
  url: string;
}

/**
 * Starts one for one test.
 *
 * @param within - a command to run it in
 */
export async function startProcess(
  databaseUrl: string,
  environment: NodeJS.ProcessEnv = {},
  within: readonly string[] = [],
): Promise<ServerProcess> {
  const settings = {
    PORT: '0',
    DATABASE_URL: databaseUrl,
    ADMIN_SECRET,
    RATE_LIMIT: 'off',
    LOG_LEVEL: 'error',
    ...environment,
  };
  const command = startCommand(['serve'], settings, { within });
  onTestFinished(async () => {
    command.kill('SIGKILL');
    await command.ended;
  });
  const [, url = ''] = await command.printed(/listens on (http:\S+),/);
  return { ...command, url };
}

/** Ends it as a power cut would. */
export async function killed(process: ServerProcess): Promise<void> {
  process.kill('SIGKILL');
  await process.ended;
}

/** Resolves when the service says that it is ready, as it has to by itself. */
export async function ready(place: { url: string }): Promise<void> {
  while ((await send(place, { method: 'GET', path: '/readyz' })).status !== 200) await sleep(50);
}
