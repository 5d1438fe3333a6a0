import { type CommandProcess, type ProcessOptions, startCommand } from './command-process.ts';
import { ADMIN_SECRET } from './running-server.ts';

/**
 * Starts the service in its own process, as an operator does: on a free port, with the ADMIN_SECRET of
 * the tests. Rate limits are off, so that the tests reach the service itself.
 *
 * @param options.environment - additional settings
 * @param options.script - a program of a test to run in place of the service
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

/** Resolves to the URL of the service once it listens. */
export async function listening(server: CommandProcess): Promise<string> {
  const [, url = ''] = await server.printed(/^Latchkey listens on (http:\/\/[\d.:]+)/m);
  return url;
}
