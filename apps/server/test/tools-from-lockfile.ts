import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from './mongodb/cache.ts';

// What no `npm start` should have to wait for: a lockfile of their own, and a folder outside the
// repository, installed when the tests that need them first run.

const manifests = ['package.json', 'package-lock.json'];

/** Enough for a slow registry. */
export const INSTALL_TIMEOUT_MS = 300_000;

/**
 * Installs packages into the cache folder, where they are not there yet.
 *
 * @param folder - where their `package.json` and `package-lock.json` are
 * @param name - what they are called in the cache folder
 * @returns the folder that holds them and `node_modules`
 */
export async function installFromLockfile(folder: string, name: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of manifests) hash.update(await readFile(join(folder, file)));
  const cache = await cacheFolder(process.env);
  const installed = join(cache, `${name}-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(installed)) return installed;

  // Made aside and moved there whole: a run that is broken off leaves nothing that looks complete.
  const made = await mkdtemp(`${installed}-`);
  try {
    for (const file of manifests) await copyFile(join(folder, file), join(made, file));
    await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: made,
    }).catch(({ stdout, stderr }) => {
      throw new Error(`npm ci of ${name} failed.\n${stdout}${stderr}`);
    });
    await rename(made, installed).catch((error) => {
      // Another run was faster.
      if (!existsSync(installed)) throw error;
    });
  } finally {
    await rm(made, { recursive: true, force: true });
  }
  return installed;
}
