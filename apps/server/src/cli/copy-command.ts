import type { Command } from 'commander';
import { addExamples } from './command-tree.ts';
import type { Terminal } from './terminal.ts';

interface Options {
  from?: string;
  fromFile?: string;
  to?: string;
  toFile?: string;
  last?: boolean;
  json?: boolean;
}

export function addCopyCommand(command: Command, terminal: Terminal): void {
  command
    .option('--from <url>', 'the database to copy, for example file:./data/latchkey.db')
    .option('--from-file <file>', 'a file that contains the URL of the database to copy')
    .option('--to <url>', 'an empty database, or an earlier copy that is not used')
    .option('--to-file <file>', 'a file that contains the URL of that database')
    .option(
      '--last',
      'make the last copy, then use it: nothing changes --from any more. Stop its services first',
    )
    .option('--json', 'print JSON')
    .action((options, command) => copy(terminal, options, command));
  addExamples(
    command,
    'copy --from file:./data/latchkey.db --to postgresql://latchkey@127.0.0.1:5432/latchkey',
    'copy --from file:./data/latchkey.db --to-file /run/secrets/database_url --last',
  );
}

async function copy(
  { stdout, showStep }: Terminal,
  { last = false, json, ...options }: Options,
  command: Command,
): Promise<void> {
  const { copyDatabase } = await import('@latchkey/store/copy-database');
  const { driverOf } = await import('../open-store.ts');
  const { DomainError } = await import('@latchkey/domain/domain-error');
  const { afterParts } = await import('./error-texts.ts');
  const from = await urlOf(command, 'from', options);
  const to = await urlOf(command, 'to', options);
  const source = await driverOf(from).openSource(from, { last });
  try {
    const target = await driverOf(to).openTarget(to);
    try {
      const result = await copyDatabase(source, target, { last, onStep: showStep }).catch(
        (error) => {
          throw error instanceof DomainError
            ? afterParts(`${target.name} may have a part of ${source.name}.`, error)
            : error;
        },
      );
      const { scopes, resources, keys, applications, accounts, grants, written, removed } = result;
      const text = `${target.name} has the ${scopes} scopes, ${resources} resources, ${keys} keys, ${applications} applications, ${accounts} accounts and ${grants} grants of ${source.name}: ${written} records were written, ${removed} removed, and all of them compared. Codes that are not converted yet were not copied.`;
      const next = last
        ? `Now set DATABASE_URL to ${target.name}, and start the service. ${source.name} is not used any more.`
        : `To move, stop every process that uses ${source.name}, and repeat this with --last.`;
      await stdout.write(
        `${json ? JSON.stringify({ object: 'copy', ...result, last }) : `${text}\n${next}`}\n`,
      );
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Its errors have neither the URL, which may have a password, nor the file: it may be the URL, by mistake. */
async function urlOf(command: Command, name: 'from' | 'to', options: Options): Promise<string> {
  const { [name]: given, [`${name}File` as const]: file } = options;
  if ((given === undefined) === (file === undefined)) {
    command.error(`error: give either '--${name}' or '--${name}-file'`);
  }
  const url = given ?? (await readUrl(command, `--${name}-file`, file as string));
  const { wrappingFault } = await import('@latchkey/domain/bad-setting');
  const { databaseUrlFault, IN_MEMORY_URL } = await import('../database-url.ts');
  const fault =
    url === IN_MEMORY_URL
      ? 'must not be a database in memory, of which nothing is left'
      : (wrappingFault(url) ?? databaseUrlFault(url)?.fault);
  if (fault === undefined) return url;
  const option = given === undefined ? `--${name}-file` : `--${name}`;
  command.error(`error: '${option}' needs the URL of a database. It ${fault}.`);
}

async function readUrl(command: Command, option: string, file: string): Promise<string> {
  const { readSecretFile } = await import('../secret-file.ts');
  try {
    return readSecretFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    command.error(
      `error: '${option}' needs a file with the URL of a database. This process cannot read it (${code}).`,
    );
  }
}
