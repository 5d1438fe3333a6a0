import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** What is slow to get and safe to keep lives outside the repository, for every checkout of it. */
export async function cacheFolder(env: NodeJS.ProcessEnv): Promise<string> {
  const folder =
    env.LATCHKEY_TEST_CACHE ||
    join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'latchkey-test');
  await mkdir(folder, { recursive: true });
  return folder;
}
