import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Environment, succeed } from './service.ts';

const packScript = fileURLToPath(new URL('../../scripts/pack.mjs', import.meta.url));

/**
 * Makes a folder a project that has installed the SDK as it is packed.
 *
 * @param devDependencies - what else it installs: versions, by name
 */
export async function installPackedSdk(
  folder: string,
  devDependencies: Readonly<Record<string, string>> = {},
): Promise<void> {
  // npm is to find its settings.
  const options = { cwd: folder, env: process.env as Environment };
  const tarball = (await succeed(process.execPath, [packScript, folder], options)).trim();
  const dependencies = { '@latchkey/client': `file:${basename(tarball)}` };
  const manifest = JSON.stringify({ private: true, dependencies, devDependencies });
  await writeFile(join(folder, 'package.json'), manifest);
  // Without a lockfile of its own, the folder may be one of a workspace.
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
  await succeed('npm', ['install', ...flags], options);
}
