import { Command, CommanderError, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { addAccountCommands } from './account-commands.ts';
import { addAppCommands } from './app-commands.ts';
import { addExplainCommand, addRefusalsCommand } from './audit-commands.ts';
import { addBackupCommands } from './backup-commands.ts';
import { addCodeCommands } from './code-commands.ts';
import { allCommands, pathOf } from './command-tree.ts';
import { addCompletionCommand } from './completion-command.ts';
import { addConnectionCommands } from './connection-commands.ts';
import { addCopyCommand } from './copy-command.ts';
import { addDeliveryCommands } from './delivery-commands.ts';
import { addDemoCommand } from './demo-command.ts';
import { addDoctorCommand } from './doctor-command.ts';
import { addEndpointCommands } from './endpoint-commands.ts';
import { addExamples } from './examples.ts';
import { exitCode } from './exit-code.ts';
import { addGrantCommands } from './grant-commands.ts';
import { addKeyCommands } from './key-commands.ts';
import { addLinkCommands } from './link-commands.ts';
import { addMigrateCommand } from './migrate-command.ts';
import { addPageCommands } from './page-commands.ts';
import { addResourceCommands } from './resource-commands.ts';
import { addScopeCommands } from './scope-commands.ts';
import { addServeCommand } from './serve-command.ts';
import { addSummaryCommand } from './summary-command.ts';
import { outputTo, type Terminal } from './terminal.ts';

/** Runs the command that this process was started with. */
export async function runProcess(): Promise<void> {
  const { env: environment, stdout, stderr } = process;
  // libuv gives names half of its threads. A few names that hang must not hold up all others: at most 16
  // tries of endpoints that do not work run at once.
  if (process.argv[2] === 'serve') environment.UV_THREADPOOL_SIZE ??= '40';
  // A closed stderr must not end the service or interrupt a change.
  stderr.on('error', () => {});
  process.exitCode = await runCommandLine(process.argv.slice(2), {
    environment,
    // A getter, because reading `process.stdin` opens it.
    get stdin() {
      return process.stdin;
    },
    stdout: outputTo(stdout),
    stderr,
  });
}

export async function runCommandLine(
  words: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const program = createProgram(terminal);
  // Loaded before the work, since an upgrade may replace the files meanwhile.
  program.hook('preAction', async (_, action) => {
    terminal.serviceUrl = serviceUrlOf(action);
    if (action.name() !== 'completion') await import('./tell-failure.ts');
  });
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has printed its message. `--help` is an error with exit code 0.
      return error.exitCode === 0 ? exitCode.done : exitCode.badUsage;
    }
    const { tellFailure } = await import('./tell-failure.ts');
    return tellFailure(error, terminal);
  }
  const { failure } = terminal.stdout;
  // `serve` has done its work even if nobody reads its output.
  if (!failure || words[0] === 'serve') return exitCode.done;
  // A reader such as `head` closes the pipe when it has enough.
  if (failure.code === 'EPIPE') return exitCode.done;
  terminal.stderr.write(`The output could not be written: ${failure.message}\n`);
  return exitCode.refused;
}

export function createProgram(terminal: Terminal): Command {
  const { stdout, stderr } = terminal;
  const program = new Command('latchkey')
    .description('The Latchkey account-linking service and its administration.')
    .version(`latchkey ${packageJson.version}`, '--version', 'print the version')
    .exitOverride()
    .configureHelp({ minWidthToWrap: 20 })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => stdout.columns ?? 80,
      getErrHelpWidth: () => stdout.columns ?? 80,
    });
  addExamples(program, 'serve', 'app create Acme', 'grant revoke --help');
  program.addHelpText(
    'after',
    '\nEvery command works on the database that DATABASE_URL names.\nMany have --url, to work on a running service.',
  );
  addServeCommand(program, terminal);
  addDemoCommand(program, terminal);
  addAppCommands(program, terminal);
  addAccountCommands(program, terminal);
  addCodeCommands(program, terminal);
  addGrantCommands(program, terminal);
  addResourceCommands(program, terminal);
  addKeyCommands(program, terminal);
  addEndpointCommands(program, terminal);
  addDeliveryCommands(program, terminal);
  addScopeCommands(program, terminal);
  addLinkCommands(program, terminal);
  addConnectionCommands(program, terminal);
  addPageCommands(program, terminal);
  addRefusalsCommand(program, terminal);
  addExplainCommand(program, terminal);
  addSummaryCommand(program, terminal);
  addDoctorCommand(program, terminal);
  addBackupCommands(program, terminal);
  addCopyCommand(program, terminal);
  addMigrateCommand(program, terminal);
  addCompletionCommand(program, terminal);
  for (const command of allCommands(program)) {
    if (command.commands.length === 0) addUrlOption(command);
    command.showHelpAfterError(`Run ${pathOf(command)} --help for its usage and examples.`);
  }
  return program;
}

const NOT_OPERATIONS = new Set([
  'latchkey serve',
  'latchkey demo',
  'latchkey page texts',
  'latchkey doctor',
  'latchkey backup',
  'latchkey restore',
  'latchkey revoke-again',
  'latchkey copy',
  'latchkey migrate',
  'latchkey completion',
]);

/** The `--url` of this one is the address of the endpoint. */
const WITH_AN_ADDRESS = 'latchkey endpoint update';

function serviceUrlOf(command: Command): string | undefined {
  const { url, service } = command.opts();
  return pathOf(command) === WITH_AN_ADDRESS ? service : url;
}

function addUrlOption(command: Command): void {
  const option = new Option(
    pathOf(command) === WITH_AN_ADDRESS ? '--service <url>' : '--url <url>',
    'call this service with LATCHKEY_ADMIN_SECRET, and use no database',
  );
  const path = pathOf(command);
  if (NOT_OPERATIONS.has(path)) {
    option
      .hideHelp()
      .argParser(() =>
        command.error(`error: ${path} has no --url: it is not an operation of the service`),
      );
  }
  command.addOption(option);
}
