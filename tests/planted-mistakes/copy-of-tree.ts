import { existsSync, globSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { environment, succeed } from '../support/service.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** The files of the repository as they are now, with what is installed and built, in a folder of its own. */
export async function copyOfTree(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-mistakes-'));
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = await succeed('git', words, { cwd: root, env: environment({}) });
  const built = globSync('{apps,packages}/*/dist', { cwd: root });
  // Their links lead to the packages beside them, so to those of the copy.
  const installed = globSync('{{apps,packages}/*,examples,tests}/node_modules', { cwd: root });
  for (const path of [...listed.split('\0'), ...built, ...installed]) {
    // Git lists a file until its deletion is committed.
    if (path === '' || !existsSync(join(root, path))) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(join(root, path), join(folder, path), { recursive: true, verbatimSymlinks: true });
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  return { folder, remove: () => rm(folder, { recursive: true }) };
}
