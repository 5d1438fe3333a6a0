import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '@latchkey/test-kit/cache-folder';
import { nodeArgumentsFor } from '@latchkey/test-kit/mongodb/test-databases';
import { runCommandLine } from '../../src/cli/command-line.ts';

/** The command line, run from its sources. */
const SCRIPT = fileURLToPath(new URL('../../src/cli/latchkey.ts', import.meta.url));

// Loading the program takes two thirds of the time of a command. Processes share the compiled code.
export const NODE_COMPILE_CACHE = join(await cacheFolder(process.env), 'compiled');

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CommandProcess {
  pid: number;
  /** The output so far. */
  run: Run;
  /** Resolves with the match once stdout contains it. Rejects if the process exits before. */
  printed(pattern: RegExp): Promise<RegExpMatchArray>;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<Run>;
}

export interface ProcessOptions {
  /** The working directory. Default: that of this process. */
  directory?: string | undefined;
  /** A command that gets the command line as its arguments and runs it. */
  within?: readonly string[] | undefined;
  /** A program to start in place of the command line. */
  script?: string | undefined;
}

/** Starts the command line in a process that inherits no setting of this one. */
export function startCommand(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  { directory, within = [], script = SCRIPT }: ProcessOptions = {},
): CommandProcess {
  const node = [process.execPath, ...nodeArgumentsFor(environment.DATABASE_URL)];
  const [program = '', ...args] = [...within, ...node, script, ...words];
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(directory !== undefined && { cwd: directory }),
  });
  const run: Run = { code: null, stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8');
    child[name].on('data', (text: string) => {
      run[name] += text;
    });
  }
  const ended = once(child, 'close').then(([code]) => ({ ...run, code }) as Run);
  return {
    pid: child.pid as number,
    run,
    ended,
    kill: (signal) => child.kill(signal),
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = run.stdout.match(pattern);
          if (!match) return;
          child.stdout.off('data', look);
          resolve(match);
        };
        child.stdout.on('data', look);
        ended.then(({ code, stderr }) => reject(new Error(`It ended with ${code}: ${stderr}`)));
        look();
      }),
  };
}

/** Runs the command line to its end. */
export function runCommand(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  directory?: string,
): Promise<Run> {
  return startCommand(words, environment, { directory }).ended;
}

/**
 * Runs a command in this process, which is much faster, and as good where the process is not the point.
 *
 * @param options.input - what it reads from stdin
 * @param options.columns - the width of the terminal that it prints to. Default: it prints to a pipe
 * @param options.answer - what a person answers on the terminal that it runs on
 */
export async function runInProcess(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  { input = '', columns, answer }: { input?: string; columns?: number; answer?: string } = {},
): Promise<Run> {
  const run: Run = { code: null, stdout: '', stderr: '' };
  const isTTY = answer !== undefined;
  const stderr = new Writable({
    write(chunk, _, done) {
      run.stderr += chunk;
      done();
    },
  });
  const terminal = {
    environment,
    stdin: Object.assign(Readable.from([isTTY ? `${answer}\n` : input]), { isTTY }),
    stdout: {
      write(text: string) {
        run.stdout += text;
      },
      columns,
    },
    stderr: Object.assign(stderr, { isTTY }),
  };
  run.code = await runCommandLine(words, terminal);
  return run;
}
