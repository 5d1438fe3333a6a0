import type { Service } from '@latchkey/rules/service';
import type { OperationInput, OperationName, OperationOutput } from '@latchkey/schema';
import type { OperatorOperation } from '../operations/call-operation.ts';
import { confirmEnding } from './confirm.ts';
import type { Access, CallAsOperator } from './open-for-command.ts';
import type { Terminal } from './terminal.ts';

export const READING: Access = { create: false, claim: null };
/** For commands that have nothing to work on in a new database. */
export const CHANGING: Access = { create: false };
export const CREATING: Access = {};

// All others use an existing database. A missing one means that DATABASE_URL or the directory is
// probably wrong. They also leave the schema alone that a running service of an earlier version
// uses.
const CREATING_OPERATIONS: ReadonlySet<OperationName> = new Set([
  'admin.applications.create',
  'admin.accounts.put',
]);

/** `service` is null over the wire. */
export interface Calls {
  call: CallAsOperator;
  service: Service | null;
}

/** For commands that call operations, on the database or over the wire. */
export async function withCalls(
  terminal: Terminal,
  access: Access,
  use: (calls: Calls) => Promise<void>,
): Promise<void> {
  if (terminal.serviceUrl === undefined) {
    const { withService } = await import('./open-for-command.ts');
    return withService(terminal, access, use);
  }
  const { callsOverTheWire } = await import('./calls-over-the-wire.ts');
  await use({ call: callsOverTheWire(terminal.serviceUrl, terminal.environment), service: null });
}

async function accessOf(name: OperatorOperation): Promise<Access> {
  if (CREATING_OPERATIONS.has(name)) return CREATING;
  const { operationNamed } = await import('../operations/operation.ts');
  const { changes, needsEvents = false } = operationNamed(name);
  return changes ? { ...CHANGING, signs: needsEvents } : READING;
}

/** Asks first if the operation ends something for good: its command has `--yes`. */
export async function runOperation<Name extends OperatorOperation>(
  terminal: Terminal,
  name: Name,
  input: OperationInput<Name>,
  options: { json?: boolean; yes?: boolean },
  describe: (output: OperationOutput<Name>) => string,
  afterwards?: (service: Service) => Promise<void>,
): Promise<void> {
  const { operationTable } = await import('../operations/operation-table.ts');
  const row = operationTable[name];
  if ('ends' in row) await confirmEnding(terminal, row.ends, input, options);
  const access = terminal.serviceUrl === undefined ? await accessOf(name) : READING;
  await withCalls(terminal, access, async ({ service, call }) => {
    const output = await call(name, input);
    await terminal.stdout.write(`${options.json ? JSON.stringify(output) : describe(output)}\n`);
    // Over the wire, the running service does it.
    if (service !== null) await afterwards?.(service);
  });
}
