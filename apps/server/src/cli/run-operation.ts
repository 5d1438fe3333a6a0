import type { OperationInput, OperationName, OperationOutput } from '@latchkey/schema';
import type { ServiceOptions } from '../open-service.ts';
import type { Service } from '../service.ts';
import type { Settings } from '../settings.ts';
import type { OperatorOperation } from './call-operation.ts';
import type { Terminal } from './terminal.ts';

/** Calls an operation as the person at the command line. */
export type CallAsOperator = <Name extends OperatorOperation>(
  name: Name,
  input: OperationInput<Name>,
) => Promise<OperationOutput<Name>>;

/** The service on DATABASE_URL, opened for one command. */
export interface OpenService {
  service: Service;
  settings: Settings;
  call: CallAsOperator;
  close(): Promise<void>;
}

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
  use: (open: OpenService) => Promise<void>,
): Promise<void> {
  const { openForCommand } = await import('./open-for-command.ts');
  const open = await openForCommand(terminal, access);
  try {
    await use(open);
  } finally {
    await open.close();
  }
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
  await withService(terminal, access, async ({ service, call }) => {
    const output = await call(name, input);
    await terminal.stdout.write(`${options.json ? JSON.stringify(output) : describe(output)}\n`);
    await afterwards(service);
  });
}
