import type { List, OperationInput, OperationName, OperationOutput } from '@latchkey/schema';
import { BadSetting } from '../bad-setting.ts';
import { newId } from '../credentials/credentials.ts';
import { withLinkingDemo } from '../demo/linking-demo.ts';
import { noLimits } from '../limits/limits.ts';
import { createLog } from '../log.ts';
import { closeService, linkingFrom, openService } from '../open-service.ts';
import { call, passThrough } from '../operations/call.ts';
import { type Operation, operations } from '../operations/operation.ts';
import type { Service } from '../service.ts';
import { loadSettings, type Settings } from '../settings.ts';
import { listeningUrl } from './listening-url.ts';

/** What a command reads its settings from, and prints to. */
export interface Terminal {
  environment: NodeJS.ProcessEnv;
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown; isTTY?: boolean };
}

/** An operation of the operator: the command line offers these. */
export type OperatorOperation = Extract<OperationName, `admin.${string}`>;

// A command for another operation has nothing to work on in a new database: DATABASE_URL, or the
// directory, is probably wrong.
const CREATING: ReadonlySet<OperationName> = new Set([
  'admin.applications.create',
  'admin.accounts.put',
]);

/**
 * Opens the service on DATABASE_URL for one command, and closes it after success and failure.
 *
 * @param options.create - whether the command may create the database
 * @throws BadSetting for a database in memory: nothing of the command would remain
 */
export async function withService(
  { environment }: Terminal,
  { create }: { create: boolean },
  use: (service: Service, settings: Settings) => Promise<void>,
): Promise<void> {
  const settings = loadSettings(environment);
  refuseInMemory(settings);
  const { log, close } = createLog(settings);
  const { databaseUrl, auditDays } = settings;
  try {
    const linking = linkingFrom(withLinkingDemo(settings, listeningUrl(settings)));
    // Only `serve` and `migrate` change the schema: a command may be from another version.
    const options = { auditDays, linking, create, migrate: false };
    const service = await openService(databaseUrl, log, options);
    try {
      await use(service, settings);
    } finally {
      await closeService(service);
    }
  } finally {
    await close();
  }
}

/** @throws BadSetting for a database in memory: nothing of the command would remain */
export function refuseInMemory({ databaseUrl }: Settings): void {
  if (databaseUrl !== 'file::memory:') return;
  throw new BadSetting(
    'DATABASE_URL file::memory: keeps nothing, so only serve can use it. Example: DATABASE_URL=file:./data/latchkey.db',
  );
}

/**
 * Calls an operation as the person at the command line.
 *
 * @throws DomainError
 */
export async function callOperation<Name extends OperatorOperation>(
  service: Service,
  name: Name,
  input: OperationInput<Name>,
): Promise<OperationOutput<Name>> {
  const context = { service, limits: noLimits, intercept: passThrough };
  const output = await call(context, operations.get(name) as Operation, {
    authenticate: async () => ({ admin_secret: null }),
    readInput: async () => input,
    request: { request_id: newId(service.clock()), address: null },
    by: 'command_line',
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
  await withService(terminal, { create: CREATING.has(name) }, async (service) => {
    const output = await callOperation(service, name, input);
    terminal.stdout.write(`${options.json ? JSON.stringify(output) : describe(output)}\n`);
    await afterwards(service);
  });
}

type ListOperation = 'admin.accounts.list' | 'admin.applications.list' | 'admin.grants.list';
type ItemOf<Name extends ListOperation> = OperationOutput<Name>['data'][number];

/** The most that a page can have. */
const PAGE = 100;

/** Prints all pages of a list: one text an item, or one object of the API with all of them. */
export async function listAll<Name extends ListOperation>(
  terminal: Terminal,
  name: Name,
  filter: Omit<OperationInput<Name>, 'limit' | 'cursor'>,
  options: { json?: boolean },
  describe: (item: ItemOf<Name>) => string,
): Promise<void> {
  await withService(terminal, { create: false }, async (service) => {
    const data: ItemOf<Name>[] = [];
    let cursor: string | null = null;
    do {
      const input = { ...filter, limit: PAGE, ...(cursor !== null && { cursor }) };
      const page: List<ItemOf<Name>> = await callOperation(
        service,
        name,
        // TypeScript can't see that `limit` and `cursor` complete the type again, for any Name.
        input as OperationInput<Name>,
      );
      data.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== null);
    const list: List<ItemOf<Name>> = { object: 'list', data, next_cursor: null };
    const text = options.json ? JSON.stringify(list) : data.map(describe).join('\n');
    if (text !== '') terminal.stdout.write(`${text}\n`);
  });
}
