import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from './cache-folder.ts';
import { lastLines } from './error-text.ts';

const run = promisify(execFile);

/** Python or PyPI is not available. The message says what to do. */
export class PythonToolsUnavailable extends Error {
  override readonly name = 'PythonToolsUnavailable';
}

/**
 * Installs Python packages into the cache folder, once for each list of requirements and each Python.
 *
 * @param requirements - the path of a list of all packages with their hashes
 * @param name - their name in the cache folder
 * @returns the folder with the programs, such as `python`
 * @throws PythonToolsUnavailable
 */
export async function installFromRequirements(
  requirements: string,
  name: string,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const version = await python(env);
  const digest = createHash('sha256').update(await readFile(requirements));
  const hash = digest.update(version).digest('hex').slice(0, 12);
  const cache = await cacheFolder(env);
  const folder = join(cache, `${name}-${hash}`);
  const programs = join(folder, 'bin');
  const complete = join(folder, 'complete');
  if (await exists(complete)) return programs;

  // A second run waits for the lock and then finds it installed. The folder of a killed run has no
  // mark and is removed.
  const steps = `
    [ ! -e "$1/complete" ] || exit 0
    rm -rf "$1"
    python3 -m venv "$1"
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \\
      --require-hashes --only-binary :all: --requirement "$2"
    touch "$1/complete"`;
  try {
    const lock = join(cache, `${name}.lock`);
    await run('flock', [lock, 'sh', '-euc', steps, 'install', folder, requirements], { env });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    const said = lastLines(`${stdout}\n${stderr}` || String(error), 6);
    throw new PythonToolsUnavailable(
      `${name} could not be installed; it takes PyPI and python3-venv (on Debian: apt-get install python3-venv).\n${said}`,
    );
  }
  return programs;
}

/** Identifies a Python. */
async function python(env: NodeJS.ProcessEnv): Promise<string> {
  try {
    const { stdout } = await run('python3', ['-c', 'import sys; print(sys.version, sys.prefix)'], {
      env,
    });
    return stdout;
  } catch {
    throw new PythonToolsUnavailable(
      'There is no python3, and these tools need Python 3.11 or later (on Debian: apt-get install python3 python3-venv).',
    );
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
