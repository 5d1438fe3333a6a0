import { Command, CommanderError, Help, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { addExamples, allCommands, pathOf } from './command-tree.ts';
import { commands } from './commands.ts';
import { exitCode } from './exit-code.ts';
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

export async function runCommandLine(typed: readonly string[], given: Terminal): Promise<number> {
  const words = inOwnWords(typed);
  // Only there, so that a script pays nothing for it.
  const progress = given.stderr.isTTY
    ? (await import('./progress.ts')).createProgress(given)
    : null;
  const terminal = progress?.terminal ?? given;
  const program = await createProgram(terminal, words);
  // Loaded before the work, since an upgrade may replace the files meanwhile.
  program.hook('preAction', async (_, action) => {
    const { url, service, json } = action.opts();
    const path = pathOf(action);
    terminal.serviceUrl = WITH_AN_ADDRESS.has(path) ? service : url;
    if (!json && path !== 'latchkey serve') progress?.begin(path);
    await import('./tell-failure.ts');
  });
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (error instanceof UnknownCommand) {
      const { tellUnknown } = await import('./suggestions.ts');
      return tellUnknown(error, terminal);
    }
    if (error instanceof CommanderError) {
      // Commander has printed its message. `--help` is an error with exit code 0.
      return error.exitCode === 0 ? exitCode.done : exitCode.badUsage;
    }
    const { tellFailure } = await import('./tell-failure.ts');
    return tellFailure(error, terminal);
  } finally {
    progress?.end();
  }
  const { failure } = terminal.stdout;
  // `serve` has done its work even if nobody reads its output.
  if (!failure || words[0] === 'serve') return exitCode.done;
  // A reader such as `head` closes the pipe when it has enough.
  if (failure.code === 'EPIPE') return exitCode.done;
  terminal.stderr.write(`The output could not be written: ${failure.message}\n`);
  return exitCode.refused;
}

/** @param words - say which commands are loaded. Default: all */
export async function createProgram(
  terminal: Terminal,
  words?: readonly string[],
): Promise<Command> {
  const { stdout, stderr } = terminal;
  const program = new Command('latchkey')
    .description(packageJson.description)
    .version(`latchkey ${packageJson.version}`, '-v, --version', 'print the version')
    .exitOverride()
    .configureHelp({
      minWidthToWrap: 20,
      subcommandTerm: (command) => command.name(),
      optionDescription: (option) =>
        new Help().optionDescription(option) + (option.mandatory ? '; required' : ''),
    })
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
  const [first] = words?.[0] === 'help' ? words.slice(1) : (words ?? []);
  for (const { name, description, object, load } of commands) {
    const command = program.command(name).description(description);
    if (words !== undefined && name !== first) continue;
    (await load?.())?.(command, terminal);
    if (object === undefined) continue;
    const { addOperationCommands } = await import('./operation-commands.ts');
    addOperationCommands(command, terminal, object, words?.slice(1));
  }
  for (const command of allCommands(program)) {
    if (command.commands.length === 0) addUrlOption(command);
    command.showHelpAfterError(`Run ${pathOf(command)} --help for its usage and examples.`);
    // Commander's guess of an option could be one that destroys.
    command.showSuggestionAfterError(false);
    if (command.commands.length === 0) continue;
    command.on('command:*', ([word]: [string]) => {
      throw new UnknownCommand(command, word);
    });
  }
  return program;
}

class UnknownCommand extends Error {
  readonly group: Command;
  readonly word: string;

  constructor(group: Command, word: string) {
    super();
    this.group = group;
    this.word = word;
  }
}

/** What other programs of its kind understand too. */
function inOwnWords(words: readonly string[]): readonly string[] {
  const [first, second, ...rest] = words;
  if (first === 'version' && second === undefined) return ['--version'];
  const isGroup = commands.some(({ name, object }) => name === first && object !== undefined);
  return first !== undefined && isGroup && second === 'ls' ? [first, 'list', ...rest] : words;
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
]);

/** The `--url` or the argument of these is the address of the endpoint. */
const WITH_AN_ADDRESS = new Set(['latchkey endpoint create', 'latchkey endpoint update']);

function addUrlOption(command: Command): void {
  const path = pathOf(command);
  const option = new Option(
    WITH_AN_ADDRESS.has(path) ? '--service <url>' : '--service, --url <url>',
    'call this service with LATCHKEY_ADMIN_SECRET, and use no database',
  );
  if (NOT_OPERATIONS.has(path)) {
    option
      .hideHelp()
      .argParser(() =>
        command.error(`error: ${path} has no --url: it is not an operation of the service`),
      );
  }
  command.addOption(option);
}
