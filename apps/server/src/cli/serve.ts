import { BadSetting } from '@latchkey/domain/bad-setting';
import { fingerprintsOf } from '@latchkey/rules/events/endpoint-secret';
import type { Service } from '@latchkey/rules/service';
import { DEMO_ENDPOINT_ID } from '@latchkey/store/events-keys';
import { UnusableDatabase } from '@latchkey/store/unusable-database';
import { CopiedDatabase } from '@latchkey/store/use-mark';
import type { Logger } from 'pino';
import { createDemo, demoText, findLiveDemoSecret } from '../demo/calls-to-paste.ts';
import {
  DEMO_APPLICATION_ID,
  isDemoApplicationLive,
  linkingDemoText,
} from '../demo/linking-demo.ts';
import { isDemo } from '../is-demo.ts';
import { misspeltSettings } from '../misspelt-settings.ts';
import { openLog } from '../open-log.ts';
import { driverOf } from '../open-store.ts';
import { loadSettings, readSecretsAgain, type Settings } from '../settings.ts';
import { CannotListen, type OpenServer, type StartOptions, startServer } from '../start-server.ts';
import { CannotStart } from './cannot-start.ts';
import { messageOf } from './error-texts.ts';
import type { Terminal } from './terminal.ts';

type ServeOptions = Pick<StartOptions, 'evenIfCopied' | 'evenIfIncomplete' | 'isNewEventsKey'>;

// A terminal that closes sends SIGHUP. To a service without one, it is a request to read files again.
const stopSignals = (): readonly NodeJS.Signals[] =>
  process.stderr.isTTY ? ['SIGTERM', 'SIGINT', 'SIGHUP'] : ['SIGTERM', 'SIGINT'];

/** @throws CannotStart if a restart would not help */
export async function serve(terminal: Terminal, options: ServeOptions): Promise<void> {
  try {
    await serveUntilStopped(terminal, options);
  } catch (error) {
    const isFinal = error instanceof BadSetting || error instanceof UnusableDatabase;
    throw isFinal ? new CannotStart(error.message) : error;
  }
}

async function serveUntilStopped(
  { environment, stdout }: Terminal,
  options: ServeOptions,
): Promise<void> {
  const settings = loadSettings(environment);
  if (settings.eventsKey !== null && settings.adminSecret === null) {
    throw new BadSetting(
      'EVENTS_KEY is set, but ADMIN_SECRET is not, so nobody could add an endpoint. Set both. Example: ADMIN_SECRET="$(openssl rand -hex 32)"',
    );
  }
  const { log, close, flush } = openLog(settings);
  for (const found of misspeltSettings(environment)) {
    log.warn(found, 'a variable has nearly the name of a setting');
  }
  const started = Promise.withResolvers<OpenServer>();
  if (!process.stderr.isTTY) {
    // One after the other, and once the database may be asked.
    let read: Promise<unknown> = started.promise;
    process.on('SIGHUP', () => {
      read = Promise.all([started.promise, read]).then(([{ service }]) =>
        readAgain(settings, environment, service, log),
      );
    });
  }
  // Before the start, so that a signal during the start stops the service in order, too.
  const stopped = stopSignal();
  // Node would open a debugger, to which every program on this machine can connect.
  process.on('SIGUSR1', () => {});
  process.once('uncaughtExceptionMonitor', (err) => {
    log.fatal({ err }, 'the process ends');
    flush();
  });
  const { promise: copied, resolve: onCopied } = Promise.withResolvers<CopiedDatabase>();
  const server = await startServer(settings, log, { ...options, onCopied }).catch((error) => {
    throw error instanceof CannotListen ? describeListenError(error) : error;
  });
  started.resolve(server);
  stdout.write(`Latchkey listens on ${server.url}, its API is described on ${server.url}/docs\n`);
  const file = driverOf(settings.databaseUrl).fileOf(settings.databaseUrl);
  if (file !== null) stdout.write(`Its database is ${file}\n`);
  if (server.adminUrl !== null) {
    stdout.write(`The routes of the operator are on ${server.adminUrl}\n`);
  }
  if (server.demoUrl !== null) stdout.write(linkingDemoText(server.demoUrl));
  if (isDemo(settings)) stdout.write(await welcome(server));
  else void leaveDemo(server, log);

  const why = await Promise.race([stopped, copied]);
  // A second signal ends the process at once.
  for (const name of stopSignals()) process.once(name, () => process.exit(1));
  // The other signals come from a person or a closed terminal: no load balancer has to notice.
  await server.close({ drain: why === 'SIGTERM' });
  await close();
  if (why instanceof CopiedDatabase) throw why;
}

async function readAgain(
  settings: Settings,
  environment: NodeJS.ProcessEnv,
  { store }: Service,
  log: Logger,
): Promise<void> {
  try {
    const changed = await readSecretsAgain(settings, environment, (keys) =>
      store.admitEventsKeys(fingerprintsOf(keys)),
    );
    log.info({ changed }, 'the secrets were read again');
  } catch (error) {
    log.warn({ problem: messageOf(error).trim() }, 'the secrets stay as they were');
  }
}

export function describeListenError({ settings: { host, port }, cause }: CannotListen): unknown {
  switch (codeOf(cause)) {
    case 'EADDRINUSE':
      return new Error(
        `${port.name} ${port.value} is in use on ${host.value}. Stop the program that uses it, or set another port. Example: ${port.name}=${port.value < 65_535 ? port.value + 1 : 3000}`,
      );
    case 'EACCES':
      return new CannotStart(
        `${port.name} ${port.value} is not allowed for this user. Use a port of 1024 or above. Example: ${port.name}=3000`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new Error(
        `${host.name} ${host.value} is not an address of this machine. Set one that is. Example: ${host.name}=127.0.0.1`,
      );
    default:
      return cause;
  }
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  return ['listen', 'getaddrinfo'].includes(String(error.syscall)) ? String(error.code) : undefined;
}

async function welcome({ service, url }: OpenServer): Promise<string> {
  const applications = await service.store.listApplications({ limit: 2, before: null });
  if (applications.some(({ id }) => id !== DEMO_APPLICATION_ID)) {
    return 'For a demo to paste: latchkey demo (in the repository: bin/latchkey demo)\n';
  }
  const demo = await createDemo(service);
  return `\nThis is a new database, with a demo application in it.\n${demoText(demo, url)}`;
}

/** The demo may be older than settings that allow none. */
async function leaveDemo({ service }: OpenServer, log: Logger): Promise<void> {
  // The service also starts while its database is down.
  await service.store.deleteEndpoint(DEMO_ENDPOINT_ID, service.clock()).catch(() => null);
  const secret = await findLiveDemoSecret(service).catch(() => null);
  if (secret !== null) {
    log.warn(secret, 'a demo secret works on this database: disable its application');
  }
  if (await isDemoApplicationLive(service).catch(() => false)) {
    const found = { application_id: DEMO_APPLICATION_ID };
    log.warn(found, 'the demo application works on this database: disable it');
  }
}

function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const settle = (signal: NodeJS.Signals) => {
      for (const name of stopSignals()) process.off(name, settle);
      resolve(signal);
    };
    for (const name of stopSignals()) process.on(name, settle);
  });
}
