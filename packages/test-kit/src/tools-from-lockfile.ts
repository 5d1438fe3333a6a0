import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached } from './cache-folder.ts';

// `npm start` must not have to wait for these tools. They have their own lockfile and a folder outside
// the repository, and are installed when a test first needs them.

const manifests = ['package.json', 'package-lock.json'];

/** Long enough for a slow registry. */
export const INSTALL_TIMEOUT_MS = 900_000;

/**
 * Installs packages into the cache folder if they are missing.
 *
 * @param folder - the folder of their `package.json` and `package-lock.json`
 * @param name - their name in the cache folder
 * @param env - names the cache folder. Default: that of this process
 * @returns the folder that holds them and `node_modules`
 */
export async function installFromLockfile(
  folder: string,
  name: string,
  env = process.env,
): Promise<string> {
  const hash = createHash('sha256');
  for (const file of manifests) hash.update(await readFile(join(folder, file)));
  const version = hash.digest('hex').slice(0, 12);
  return cached(env, `${name}-${version}`, async (made) => {
    for (const file of manifests) await copyFile(join(folder, file), join(made, file));
    await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: made,
    }).catch(({ stdout, stderr }) => {
      throw new Error(`npm ci of ${name} failed.\n${stdout}${stderr}`);
    });
  });
}
