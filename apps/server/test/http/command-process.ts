import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../mongodb/cache.ts';

/** The command line itself, run from its sources. */
const SCRIPT = fileURLToPath(new URL('../../src/cli/latchkey.ts', import.meta.url));

// Two thirds of a command's time are spent on reading the program, which is the same for all.
const NODE_COMPILE_CACHE = join(await cacheFolder(process.env), 'compiled');

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A process of the command line. */
export interface CommandProcess {
  pid: number;
  /** What it has written so far. */
  run: Run;
  /** Resolves with the match once stdout has it; rejects where the process ends before. */
  printed(pattern: RegExp): Promise<RegExpMatchArray>;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<Run>;
}

export interface ProcessOptions {
  /** Where it runs; here unless told. */
  directory?: string | undefined;
  /** A command that the whole is handed to as arguments, to run it in its own way. */
  within?: readonly string[] | undefined;
  /** Another program to start in the command line's place. */
  script?: string | undefined;
}

/** Starts the command line in a process of its own, with no setting of this one. */
export function startCommand(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  { directory, within = [], script = SCRIPT }: ProcessOptions = {},
): CommandProcess {
  const [program = '', ...args] = [...within, process.execPath, script, ...words];
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
          if (match) resolve(match);
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
