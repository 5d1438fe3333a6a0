import type { OperationInput, OperationName, OperationOutput } from '@latchkey/schema';
import { BadSetting } from '../bad-setting.ts';
import { newId } from '../credentials/credentials.ts';
import { withLinkingDemo } from '../demo/linking-demo.ts';
import { noLimits } from '../limits/limits.ts';
import { closeService, linkingFrom, openService, type ServiceOptions } from '../open-service.ts';
import { call, passThrough } from '../operations/call.ts';
import { type Operation, operations } from '../operations/operation.ts';
import type { Service } from '../service.ts';
import { loadSettings, refuseInMemory, type Settings } from '../settings.ts';
import { commandLog } from './command-log.ts';
import { listeningUrl } from './listening-url.ts';
import { osUser } from './os-user.ts';
import type { Terminal } from './terminal.ts';

/** An operation of the operator: the command line offers these. */
export type OperatorOperation = Extract<OperationName, `admin.${string}`>;

/** What a command may do to the database as a whole. */
export type Access = Required<Pick<ServiceOptions, 'create' | 'migrate'>>;

/** For what reads, and for what has nothing to work on in a new database. */
export const EXISTING: Access = { create: false, migrate: false };
export const CREATING: Access = { create: true, migrate: true };

// A command for another operation has nothing to work on in a new database: DATABASE_URL, or the
// directory, is probably wrong. And under a service of an earlier version, it leaves the schema alone.
const CREATING_OPERATIONS: ReadonlySet<OperationName> = new Set([
  'admin.applications.create',
  'admin.accounts.put',
]);

/**
 * Opens the service on DATABASE_URL for one command, and closes it after success and failure.
 *
 * @throws BadSetting for a database in memory: nothing of the command would remain
 */
export async function withService(
  terminal: Terminal,
  access: Access,
  use: (service: Service, settings: Settings) => Promise<void>,
): Promise<void> {
  const settings = loadSettings(terminal.environment);
  refuseInMemory(settings);
  const { databaseUrl, auditDays } = settings;
  const linking = linkingFrom(withLinkingDemo(settings, listeningUrl(settings)));
  const options = { auditDays, linking, ...access };
  const service = await openService(databaseUrl, commandLog(terminal), options);
  try {
    await use(service, settings);
  } finally {
    await closeService(service);
  }
}

const LINKING_IS_OFF =
  'SIGN_IN_URL is not set, so the linking flow is off. Give commands the settings of the service. Example: SIGN_IN_URL=https://host.example/sign-in';

/**
 * Calls an operation as the person at the command line.
 *
 * @param terminal - tells who that is. Default: the environment of the process
 * @throws DomainError; BadSetting for one of the linking flow while that is off
 */
export async function callOperation<Name extends OperatorOperation>(
  service: Service,
  name: Name,
  input: OperationInput<Name>,
  { environment }: Pick<Terminal, 'environment'> = { environment: process.env },
): Promise<OperationOutput<Name>> {
  const operation = operations.get(name) as Operation;
  if (operation.needsLinking && service.linking === null) throw new BadSetting(LINKING_IS_OFF);
  const context = { service, limits: noLimits, intercept: passThrough };
  const output = await call(context, operation, {
    authenticate: async () => ({ admin_secret: null }),
    readInput: async () => input,
    request: { request_id: newId(service.clock()), address: null },
    by: 'command_line',
    os_user: osUser(environment),
    record: {},
  });
  return output as OperationOutput<Name>;
}

/**
 * Runs an operation on the database and prints what it returns.
 *
 * @param options.json - print exactly the object of the API
 * @param describe - the text for a person
 * @param afterwards - runs once the result is printed
 */
export async function runOperation<Name extends OperatorOperation>(
  terminal: Terminal,
  name: Name,
  input: OperationInput<Name>,
  options: { json?: boolean },
  describe: (output: OperationOutput<Name>) => string,
  afterwards: (service: Service) => Promise<void> = async () => {},
): Promise<void> {
  const access = CREATING_OPERATIONS.has(name) ? CREATING : EXISTING;
  await withService(terminal, access, async (service) => {
    const output = await callOperation(service, name, input, terminal);
    await terminal.stdout.write(`${options.json ? JSON.stringify(output) : describe(output)}\n`);
    await afterwards(service);
  });
}
