// Finds the pnpm that everything here runs.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withoutSettings } from './environment.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'scripts', 'pnpm');
const isWindows = process.platform === 'win32';

/**
 * The command that runs pnpm, and the folder to put on the PATH for tools that call `pnpm` themselves.
 *
 * On Linux (x64 and arm64) npm installs pnpm once, checks it against the hash in
 * `scripts/pnpm/package-lock.json`, and runs none of its scripts. Elsewhere npx gets the version of
 * `packageManager`, and only the registry's own hash is checked.
 *
 * @returns {{ command: string, args: string[], folder: string | null }}
 */
export function findPnpm() {
  if (!isPinnedPlatform) {
    const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    return { command: 'npx', args: ['--yes', packageManager], folder: null };
  }
  const executable = installed() ?? install();
  return { command: executable, args: [], folder: dirname(executable) };
}

/** Linux on x64 or arm64: the lockfiles have a pnpm and a Node for it, both built for glibc. */
export const isPinnedPlatform =
  process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);

/** Whether this system has glibc, the C library of Linux systems other than Alpine. */
export function hasGlibc() {
  // Without this the report looks up the names of open connections.
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime !== undefined;
}

/** The executable of the version that the lockfile names, if npm has installed it before. */
function installed() {
  const record = join(folder, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return undefined;
  const wanted = packagesOf(join(folder, 'package-lock.json'));
  for (const [path, { integrity }] of Object.entries(packagesOf(record))) {
    const executable = join(folder, path, 'pnpm');
    if (wanted[path]?.integrity === integrity && existsSync(executable)) return executable;
  }
  return undefined;
}

const packagesOf = (lockfile) => JSON.parse(readFileSync(lockfile, 'utf8')).packages;

function install() {
  const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const options = { cwd: folder, env: withoutSettings(process.env), shell: isWindows };
  const { status, error, stdout, stderr } = spawnSync('npm', words, options);
  const executable = installed();
  if (status === 0 && executable !== undefined) return executable;
  const reason = error?.message ?? Buffer.concat([stdout, stderr]).toString();
  // npm ends well where it leaves out an optional package, also for a wrong hash.
  process.stderr.write(
    `npm did not install the pnpm of scripts/pnpm/package-lock.json. Check that npm reaches its registry, that it installs optional packages, and that the registry has the package with the hash of the lockfile. Then try again.\n${reason}`,
  );
  process.exit(1);
}
