import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installFromLockfile } from '../tools-from-lockfile.ts';

const here = (file: string) => fileURLToPath(new URL(`./tools/${file}`, import.meta.url));

/** Where the programs of the tools are, as their lockfile names them: 120 MB in 300 packages. */
export async function installTools(): Promise<string> {
  return join(await installFromLockfile(here(''), 'openapi-tools'), 'node_modules/.bin');
}

/** The rules of a linter. */
export const ruleset = here;

/**
 * Runs a program to its end.
 *
 * @returns what it printed
 * @throws Error with all that it said, where it fails
 */
export async function run(program: string, words: string[], cwd: string): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const done = promisify(execFile)(program, words, { cwd, env });
  const { stdout, stderr } = await done.catch((error) => {
    throw new Error(`${program} ${words.join(' ')}\n${error.stdout}${error.stderr}`);
  });
  return stdout + stderr;
}
