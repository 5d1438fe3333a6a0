import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Login } from './login.ts';

/** Only the last line counts, and a command may print without an end. */
const MOST_CHARACTERS = 65_536;

const isWindows = process.platform === 'win32';

/**
 * A command that prints a code as its last line.
 *
 * @param timeout - in milliseconds, after which it is ended
 */
export function commandLogin(command: string, timeout: number): Login {
  return async (authorizationUrl) => {
    const child = spawn(command, {
      shell: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own can be ended with everything that the shell has started.
      detached: !isWindows,
      env: {
        ...process.env,
        AUTHORIZATION_URL: authorizationUrl,
        OAUTH_RACE_SECRET: undefined,
        OAUTH_RACE_OTHER_SECRET: undefined,
      },
    });
    const printed = lastLineOf(child.stdout);
    const complained = lastLineOf(child.stderr);
    const end = () => endGroup(child);
    const timer = setTimeout(end, timeout);
    process.once('exit', end);
    try {
      const [exitCode] = await once(child, 'close');
      if (exitCode === 0) return printed();
      const why = complained() || 'run it alone with AUTHORIZATION_URL set to see why';
      throw new Error(`the command ended with ${exitCode ?? 'a signal'}: ${why}`);
    } finally {
      clearTimeout(timer);
      process.off('exit', end);
    }
  };
}

function lastLineOf(stream: Readable): () => string {
  let tail = '';
  stream.setEncoding('utf8').on('data', (chunk) => {
    tail = (tail + chunk).slice(-MOST_CHARACTERS);
  });
  return () => tail.trim().split('\n').at(-1) ?? '';
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  // Windows has no groups. This ends a process and those that it has started.
  if (isWindows) return void spawnSync('taskkill', ['/pid', `${pid}`, '/t', '/f']);
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
