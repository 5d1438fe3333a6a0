import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { send } from '../http/call.ts';
import { ServerProcess } from '../http/served-process.ts';

/**
 * Starts the service in its own process for one test.
 *
 * @param within - a command to run it in
 */
export function startProcess(
  databaseUrl: string,
  environment: NodeJS.ProcessEnv = {},
  within: readonly string[] = [],
): Promise<ServerProcess> {
  const settings = { LOG_LEVEL: 'error', ...environment };
  const server = new ServerProcess(databaseUrl, { environment: settings, within });
  onTestFinished(() => server.kill());
  return server.listening();
}

/** Resolves when the service says that it is ready, as it has to by itself. */
export async function ready(place: { url: string }): Promise<void> {
  while ((await send(place, { method: 'GET', path: '/readyz' })).status !== 200) await sleep(50);
}
