import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { CLIENT, type Fault, OTHER_CLIENT, startFaultyServer } from './faulty-server.ts';

// The command, in a process of its own.

export const cli = fileURLToPath(new URL('../src/cli.ts', import.meta.url));

export interface Ended {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

export const env = {
  PATH: process.env.PATH,
  OAUTH_RACE_SECRET: CLIENT.secret,
  OAUTH_RACE_OTHER_SECRET: OTHER_CLIENT.secret,
};

export function command(words: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [cli, ...words],
      { env: { ...env, ...more } },
      (_, stdout, stderr) => resolve({ exitCode: child.exitCode, stdout, stderr }),
    );
  });
}

/** Runs the command against a server with faults. Its secrets must be in no output. */
export async function commandOn(faults: readonly Fault[], ...words: string[]): Promise<Ended> {
  const server = await startFaultyServer(...faults);
  onTestFinished(server.close);
  const clients = ['--client', CLIENT.id, '--other-client', OTHER_CLIENT.id];
  const ended = await command(['--issuer', server.url, ...clients, '--codes=2', ...words]);
  for (const secret of server.secrets) {
    expect(ended.stdout + ended.stderr).not.toContain(secret);
  }
  expect(ended.stderr).not.toMatch(/^ {4}at /m);
  return ended;
}
