import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

const orderlyStopMs = 15_000;

export interface Leashed {
  /** False as soon as the program, or the script that holds it, has ended. */
  running(): boolean;
  /** What the script itself had to complain about. */
  complaints(): string;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/**
 * Starts one of the `*-run.sh` scripts. They read their orders from standard input and clean up at
 * its end, which the kernel brings about even when this process dies by SIGKILL.
 */
export function leash(command: string, args: string[]): Leashed {
  const child = spawn(command, args, {
    // Ctrl-C in a terminal goes to the whole process group; the order to stop comes from us.
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    complaints = (complaints + chunk).slice(-4_000);
  });
  child.on('error', (error) => {
    complaints += error.message;
  });
  // Writing an order to a script that has just ended is no news: `running` tells.
  child.stdin.on('error', () => undefined);
  setRef(child, false);

  const running = () =>
    child.pid !== undefined && child.exitCode === null && child.signalCode === null;

  async function order(word: 'stop' | 'kill'): Promise<void> {
    if (!running()) return;
    setRef(child, true);
    const exited = once(child, 'exit');
    child.stdin.write(`${word}\n`);
    const deadline = new AbortController();
    const late = sleep(orderlyStopMs, 'late', { signal: deadline.signal }).catch(() => 'in time');
    if ((await Promise.race([exited, late])) === 'late') {
      child.kill('SIGKILL');
      await exited;
    }
    deadline.abort();
  }

  return {
    running,
    complaints: () => complaints,
    stop: () => order('stop'),
    kill: () => order('kill'),
  };
}

/** A test run that forgets to stop its server must still be able to end. */
function setRef(child: ChildProcess, wanted: boolean): void {
  for (const handle of [child, child.stdin, child.stderr]) {
    const refable = handle as { ref?: () => void; unref?: () => void } | null;
    if (wanted) refable?.ref?.();
    else refable?.unref?.();
  }
}
