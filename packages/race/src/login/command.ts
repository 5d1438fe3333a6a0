import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Login } from './login.ts';

/**
 * A command that prints a code as its last line.
 *
 * @param timeout - in milliseconds, after which it is ended
 */
export function commandLogin(command: string, timeout: number): Login {
  return async (authorizationUrl) => {
    const child = spawn(command, {
      shell: true,
      // What it says to people may have what nobody else should see.
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, AUTHORIZATION_URL: authorizationUrl },
      timeout,
      killSignal: 'SIGKILL',
    });
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    const [exitCode] = await once(child, 'close');
    if (exitCode !== 0) throw new Error(`the command ended with ${exitCode ?? 'a signal'}`);
    return printed.trim().split('\n').at(-1) ?? '';
  };
}
