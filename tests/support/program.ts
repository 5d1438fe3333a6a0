import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** An application in its own process. */
export interface RunningProgram {
  /** Where it listens. */
  readonly url: string;
  /** What it printed so far, on either stream. */
  printed(): string;
  /** Writes to its standard input. */
  write(text: string): void;
  /** May be called again. */
  stop(): Promise<void>;
}

/**
 * Starts an application, and waits until it listens.
 *
 * @param findUrl - gets what was printed so far; returns where it listens, or undefined if it does not
 *   listen yet
 */
export async function startProgram(
  [program = '', ...words]: readonly string[],
  options: { cwd?: string; env: NodeJS.ProcessEnv },
  findUrl: (printed: string) => Promise<string | undefined>,
): Promise<RunningProgram> {
  // In a process group of its own: a shell and npx start the program as a child.
  const child = spawn(program, words, {
    ...options,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const kill = () => {
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    if (child.pid !== undefined && !hasEnded) process.kill(-child.pid, 'SIGKILL');
  };
  process.once('exit', kill);
  const ended = once(child, 'close');
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      printed += chunk;
    });
  }
  let url = await findUrl(printed);
  while (url === undefined) {
    if (child.exitCode !== null) throw new Error(`It ended before it listened:\n${printed}`);
    await sleep(50);
    url = await findUrl(printed);
  }
  return {
    url,
    printed: () => printed,
    write: (text) => void child.stdin.write(text),
    async stop() {
      kill();
      await ended;
      process.off('exit', kill);
    },
  };
}
