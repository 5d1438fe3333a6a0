import type { Command } from 'commander';
import { createDemo, demoText } from '../demo.ts';
import { createLog } from '../log.ts';
import { loadSettings } from '../settings.ts';
import { type RunningServer, startServer } from '../start-server.ts';

export function addServeCommand(program: Command, environment: NodeJS.ProcessEnv): void {
  program
    .command('serve')
    .description('run the service until SIGTERM or SIGINT')
    .action(() => serve(environment));
}

async function serve(environment: NodeJS.ProcessEnv): Promise<void> {
  const settings = loadSettings(environment);
  const { log, close, flush } = createLog(settings);
  // From the first moment on: whoever is asked to end while it starts does so in order, too.
  const asked = signal();
  process.once('uncaughtExceptionMonitor', (err) => {
    log.fatal({ err }, 'the process ends');
    flush();
  });
  const server = await startServer(settings, log);
  process.stdout.write(
    `Latchkey listens on ${server.url}, its API is described on ${server.url}/docs\n`,
  );
  // Only the default database is for trying things out; elsewhere nothing is made up.
  if (settings.databaseIsDefault) await welcome(server);

  await asked;
  // A second signal means now.
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => process.exit(1));
  await server.close();
  await close();
}

async function welcome({ service, url }: RunningServer): Promise<void> {
  const applications = await service.store.listApplications({ limit: 1, before: null });
  if (applications.length > 0) {
    process.stdout.write(
      'For a demo to paste: latchkey demo (in the repository: npm run -s latchkey -- demo)\n',
    );
    return;
  }
  const demo = await createDemo(service);
  process.stdout.write(
    `\nThis is a new database, with a demo application in it.\n${demoText(demo, url)}`,
  );
}

/** Resolves when the process is asked to end. */
function signal(): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      process.off('SIGTERM', settle);
      process.off('SIGINT', settle);
      resolve();
    };
    process.on('SIGTERM', settle);
    process.on('SIGINT', settle);
  });
}
