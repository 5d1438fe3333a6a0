import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installFromLockfile } from '@latchkey/test-kit/tools-from-lockfile';

const here = (file: string) => fileURLToPath(new URL(`./tools/${file}`, import.meta.url));

/** The folder with the programs of the tools, installed by their lockfile: 85 MB, 250 packages. */
export async function installTools(): Promise<string> {
  return join(await installFromLockfile(here(''), 'openapi-tools'), 'node_modules/.bin');
}

/** The path of a linter's rules. */
export const ruleset = here;

/**
 * Runs a program.
 *
 * @returns its output
 * @throws Error with its whole output if it fails
 */
export async function run(program: string, words: string[], cwd: string): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const done = promisify(execFile)(program, words, { cwd, env });
  const { stdout, stderr } = await done.catch((error) => {
    throw new Error(`${program} ${words.join(' ')}\n${error.stdout}${error.stderr}`);
  });
  return stdout + stderr;
}
