import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Holds downloads and caches. It is outside the repository, so that all checkouts share it. */
export async function cacheFolder(env: NodeJS.ProcessEnv): Promise<string> {
  const folder =
    env.LATCHKEY_TEST_CACHE ||
    join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'latchkey-test');
  await mkdir(folder, { recursive: true });
  return folder;
}

/**
 * Returns a folder in the cache, and fills it first if it does not exist. It is filled under another
 * name and renamed: an interrupted run leaves nothing that looks complete.
 */
export async function cached(
  env: NodeJS.ProcessEnv,
  name: string,
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const wanted = join(await cacheFolder(env), name);
  if (existsSync(wanted)) return wanted;
  const made = await mkdtemp(`${wanted}-`);
  try {
    await fill(made);
    await rename(made, wanted).catch((error) => {
      // Another run was faster.
      if (!existsSync(wanted)) throw error;
    });
  } finally {
    await rm(made, { recursive: true, force: true });
  }
  return wanted;
}
