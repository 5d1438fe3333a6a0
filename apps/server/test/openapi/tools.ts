import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cacheFolder } from '../mongodb/cache.ts';

// 120 MB in 300 packages, which no `npm start` should have to wait for: a lockfile of their own, and
// a folder outside the repository, installed when these tests first run.

const manifests = ['package.json', 'package-lock.json'];
const here = (file: string) => fileURLToPath(new URL(`./tools/${file}`, import.meta.url));

/** Enough for a slow registry. */
export const INSTALL_TIMEOUT_MS = 300_000;

/** Where the programs of the tools are, as their lockfile names them. */
export async function installTools(): Promise<string> {
  const hash = createHash('sha256');
  for (const file of manifests) hash.update(await readFile(here(file)));
  const cache = await cacheFolder(process.env);
  const folder = join(cache, `openapi-tools-${hash.digest('hex').slice(0, 12)}`);
  const bin = join(folder, 'node_modules/.bin');
  if (existsSync(bin)) return bin;

  // Made aside and moved there whole: a run that is broken off leaves nothing that looks complete.
  const made = await mkdtemp(`${folder}-`);
  try {
    for (const file of manifests) await copyFile(here(file), join(made, file));
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], made);
    await rename(made, folder).catch((error) => {
      // Another run was faster.
      if (!existsSync(bin)) throw error;
    });
  } finally {
    await rm(made, { recursive: true, force: true });
  }
  return bin;
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
