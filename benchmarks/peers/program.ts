import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Unavailable } from './peer.ts';

const run = promisify(execFile);

/**
 * Holds a program in a process group of its own until standard input ends: the kernel closes that even
 * if this process is killed.
 */
const HOLD = `
  exec 3<&0
  folder=$1
  shift
  setsid "$@" </dev/null 3<&- &
  program=$!
  (
    read -r _ <&3
    kill -TERM "-$program"
    for _ in 1 2 3 4 5 6 7 8 9 10; do
      kill -0 "-$program" || exit 0
      sleep 0.5
    done
    kill -KILL "-$program"
  ) 2>/dev/null &
  wait "$program"
  # Its standard input may still be open. Nothing is left to end.
  kill "$!" 2>/dev/null
  [ -z "$folder" ] || rm -rf "$folder"
`;

/** The longest start, in milliseconds: a JVM on a busy machine. */
const START_MS = 300_000;

export interface ProgramOptions {
  cwd: string;
  env: Record<string, string>;
  /** Another user. Default: the one that runs this process. */
  uid?: number;
  gid?: number;
}

/** For a program that goes on. */
export interface ServerOptions extends ProgramOptions {
  /** A folder that is removed when the program has ended. */
  temporary?: string;
}

/** A server in its own process. */
export interface Program {
  /** The process that its processes descend from. */
  pid: number;
  stop(): Promise<void>;
}

/** What every program needs of this process's environment. */
export function environment(more: Record<string, string> = {}): Record<string, string> {
  const { PATH = '', HOME = '/' } = process.env;
  return { PATH, HOME, ...more };
}

/**
 * Starts a server, and waits until it listens.
 *
 * @param isReady - is asked again and again until it says so; an error counts as no
 * @throws Error with the end of what the program printed, if it ends before or takes too long
 */
export async function startProgram(
  words: readonly string[],
  { temporary = '', ...options }: ServerOptions,
  isReady: () => Promise<boolean>,
): Promise<Program> {
  const holder = spawn('sh', ['-c', HOLD, 'hold', temporary, ...words], {
    ...options,
    // Ctrl-C in a terminal goes to the whole process group; the shell ends with this process.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = once(holder, 'close');
  let printed = '';
  for (const stream of [holder.stdout, holder.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      printed = (printed + chunk).slice(-4000);
    });
  }
  const stop = async () => {
    holder.stdin.end();
    await ended;
  };
  const deadline = Date.now() + START_MS;
  while (!(await isReady().catch(() => false))) {
    if (holder.exitCode === null && Date.now() < deadline) {
      await sleep(100);
      continue;
    }
    await stop();
    throw new Error(`${words[0]} did not start:\n${printed}`);
  }
  return { pid: holder.pid as number, stop };
}

/** Whether something responds to HTTP there, other than by a fault of its own. */
export async function responds(url: string): Promise<boolean> {
  const { status } = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(5_000) });
  return status < 500;
}

/**
 * Runs a program to its end. Returns what it printed.
 *
 * @param install - what has it, for people
 * @throws Unavailable if there is no such program
 * @throws Error with what it printed, if it fails
 */
export async function succeed(
  program: string,
  words: readonly string[],
  options: ProgramOptions & { install: string },
): Promise<string> {
  const { install, ...rest } = options;
  try {
    const { stdout, stderr } = await run(program, [...words], {
      ...rest,
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout || stderr;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new Unavailable(`there is no ${program}: install ${install}`);
    }
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${words[0] ?? ''} failed:\n${(stdout + stderr).slice(-4000)}`);
  }
}
