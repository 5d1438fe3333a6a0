import { Command, CommanderError } from 'commander';
import { BadSetting } from '../bad-setting.ts';
import { DomainError } from '../domain-error.ts';
import { addAccountCommands } from './account-commands.ts';
import { addAppCommands } from './app-commands.ts';
import { addExplainCommand } from './audit-commands.ts';
import { addBackupCommands } from './backup-commands.ts';
import { addCodeCommands } from './code-commands.ts';
import { addCopyCommand } from './copy-command.ts';
import { addDemoCommand } from './demo-command.ts';
import { addGrantCommands } from './grant-commands.ts';
import { addMigrateCommand } from './migrate-command.ts';
import { addPageCommands } from './page-commands.ts';
import type { Terminal } from './run-operation.ts';
import { addServeCommand, CannotStart } from './serve-command.ts';

const exitCode = {
  done: 0,
  /** Refused, or failed: the reason is on stderr. */
  refused: 1,
  /** The command line or a setting is wrong. */
  badUsage: 2,
  /** `serve` can't start, and a restart would not help. 78 is EX_CONFIG of sysexits.h. */
  cannotStart: 78,
} as const;

/**
 * Runs one command.
 *
 * @param words - the command line without node and the script
 * @returns the exit code
 */
export async function runCommandLine(
  words: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const program = new Command('latchkey')
    .description('The Latchkey account-linking service and its administration.')
    .addHelpText('after', '\nEvery command works on the database that DATABASE_URL names.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    })
    .configureHelp({ showGlobalOptions: true });
  addServeCommand(program, terminal);
  addDemoCommand(program, terminal);
  addAppCommands(program, terminal);
  addAccountCommands(program, terminal);
  addCodeCommands(program, terminal);
  addGrantCommands(program, terminal);
  addPageCommands(program, terminal);
  addExplainCommand(program, terminal);
  addBackupCommands(program, terminal);
  addCopyCommand(program, terminal);
  addMigrateCommand(program, terminal);

  try {
    await program.parseAsync(words, { from: 'user' });
    return exitCode.done;
  } catch (error) {
    return explain(error, terminal);
  }
}

/** Says what went wrong, and what to do about it. */
function explain(error: unknown, { stderr }: Terminal): number {
  if (error instanceof CommanderError) {
    // Commander has printed its message; `--help` is an error of exit code 0 here.
    return error.exitCode === 0 ? exitCode.done : exitCode.badUsage;
  }
  if (error instanceof DomainError) {
    stderr.write(`${error.code}: ${error.message}\n`);
    for (const { path, message } of error.members.issues ?? []) {
      stderr.write(`  ${path.join('.') || 'input'}: ${message}\n`);
    }
    if (error.cause instanceof Error) stderr.write(`  ${error.cause.message}\n`);
    return exitCode.refused;
  }
  stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  if (error instanceof CannotStart) return exitCode.cannotStart;
  return error instanceof BadSetting ? exitCode.badUsage : exitCode.refused;
}
