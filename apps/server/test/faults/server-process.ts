import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { send } from '../http/call.ts';
import type { CommandProcess } from '../http/command-process.ts';
import { launchServer, listening } from '../http/served-process.ts';

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
  const settings = { LOG_LEVEL: 'error', ...environment };
  const command = launchServer(databaseUrl, { environment: settings, within });
  onTestFinished(async () => {
    command.kill('SIGKILL');
    await command.ended;
  });
  return { ...command, url: await listening(command) };
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
