import { type CommandProcess, type ProcessOptions, startCommand } from './command-process.ts';
import { ADMIN_SECRET } from './running-server.ts';

/**
 * Starts the service in a process of its own, as an operator does: on a free port, with the operator's
 * secret of the tests. What is tried is what the service itself can take, so no limit stands before.
 *
 * @param options.environment - more settings
 * @param options.script - a program of a test that serves in its place
 */
export function launchServer(
  databaseUrl: string,
  {
    environment = {},
    ...options
  }: ProcessOptions & { environment?: NodeJS.ProcessEnv | undefined } = {},
): CommandProcess {
  const settings = {
    PORT: '0',
    DATABASE_URL: databaseUrl,
    ADMIN_SECRET,
    RATE_LIMIT: 'off',
    ...environment,
  };
  return startCommand(options.script === undefined ? ['serve'] : [], settings, options);
}

/** Where it listens, once it does. */
export async function listening(server: CommandProcess): Promise<string> {
  const [, url = ''] = await server.printed(/^Latchkey listens on (http:\/\/[\d.:]+)/m);
  return url;
}
