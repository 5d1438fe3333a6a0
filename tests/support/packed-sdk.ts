import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Environment, succeed } from './service.ts';

const packScript = fileURLToPath(new URL('../../scripts/pack.mjs', import.meta.url));

/** Versions by name. */
type Dependencies = Readonly<Record<string, string>>;

/**
 * Turns a folder into a project that has installed the packed SDK.
 *
 * @param devDependencies - what else it installs
 * @param options.testing - whether it also installs the test server
 */
export const installPackedSdk = (
  folder: string,
  devDependencies: Dependencies = {},
  { testing = false }: { testing?: boolean } = {},
) => installPacked(testing ? ['--testing'] : [], folder, devDependencies);

/** The same with the schema alone. */
export const installPackedSchema = (folder: string, devDependencies: Dependencies = {}) =>
  installPacked(['--schema'], folder, devDependencies);

async function installPacked(
  packOptions: readonly string[],
  folder: string,
  devDependencies: Dependencies,
): Promise<void> {
  // npm needs its own settings.
  const options = { cwd: folder, env: process.env as Environment };
  const words = [packScript, ...packOptions, folder];
  const tarballs = (await succeed(process.execPath, words, options)).trim().split('\n');
  const dependencies = Object.fromEntries(
    tarballs.map((tarball) => {
      const [, name] = /latchkey-(\w+)-/.exec(basename(tarball)) ?? [];
      return [`@latchkey/${name}`, `file:${basename(tarball)}`];
    }),
  );
  const manifest = JSON.stringify({ private: true, dependencies, devDependencies });
  await writeFile(join(folder, 'package.json'), manifest);
  // Without a lockfile of its own, the folder may be part of a workspace.
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
  await succeed('npm', ['install', ...flags], options);
}
