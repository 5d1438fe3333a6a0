import { Command, CommanderError } from 'commander';
import { DomainError } from '../domain-error.ts';
import { BadSetting } from '../settings.ts';
import { addAccountCommands } from './account-commands.ts';
import { addAppCommands } from './app-commands.ts';
import { addCodeCommands } from './code-commands.ts';
import { addDemoCommand } from './demo-command.ts';
import { exitCode } from './exit-code.ts';
import { addExplainCommand } from './explain-command.ts';
import { addGrantCommands } from './grant-commands.ts';
import { addServeCommand } from './serve-command.ts';

/**
 * Runs one command.
 *
 * @param words - the command line without node and the script
 * @returns the exit code
 */
export async function runCommandLine(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const program = new Command('latchkey')
    .description('The Latchkey account-linking service and its administration.')
    .addHelpText('after', '\nEach command works on the database that DATABASE_URL names.')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true });
  addServeCommand(program, environment);
  addDemoCommand(program, environment);
  addAppCommands(program, environment);
  addAccountCommands(program, environment);
  addCodeCommands(program, environment);
  addGrantCommands(program, environment);
  addExplainCommand(program, environment);

  try {
    await program.parseAsync(words, { from: 'user' });
    return exitCode.done;
  } catch (error) {
    return explain(error);
  }
}

/** Says what went wrong, and what to do about it. */
function explain(error: unknown): number {
  if (error instanceof CommanderError) {
    // Commander has said it already; asking for help is no fault.
    return error.exitCode === 0 ? exitCode.done : exitCode.badUsage;
  }
  if (error instanceof BadSetting) {
    process.stderr.write(`${error.message}\n`);
    return exitCode.badUsage;
  }
  if (error instanceof DomainError) {
    process.stderr.write(`${error.code}: ${error.message}\n`);
    for (const { path, message } of error.members.issues ?? []) {
      process.stderr.write(`  ${path.join('.') || 'input'}: ${message}\n`);
    }
    if (error.cause instanceof Error) process.stderr.write(`  ${error.cause.message}\n`);
    return exitCode.refused;
  }
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return exitCode.refused;
}
