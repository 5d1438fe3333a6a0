import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cacheFolder } from '../../mongodb/cache.ts';
import { lastLines } from '../../mongodb/text.ts';

const run = promisify(execFile);

const requirements = fileURLToPath(new URL('./requirements.txt', import.meta.url));

/** There is no Python, or no PyPI. The message says what to do. */
export class SchemathesisUnavailable extends Error {
  override readonly name = 'SchemathesisUnavailable';
}

/**
 * Installs schemathesis into the cache folder, once for each list of requirements and each Python.
 *
 * @returns the Python that has it
 * @throws SchemathesisUnavailable
 */
export async function installSchemathesis(env: NodeJS.ProcessEnv): Promise<string> {
  const version = await python(env);
  const digest = createHash('sha256').update(await readFile(requirements));
  const name = `schemathesis-${digest.update(version).digest('hex').slice(0, 12)}`;
  const cache = await cacheFolder(env);
  const folder = join(cache, name);
  const interpreter = join(folder, 'bin', 'python');
  const complete = join(folder, 'complete');
  if (await exists(complete)) return interpreter;

  // A second run waits at the lock, and then finds it installed. What a run that was killed has
  // left has no mark, and goes.
  const steps = `
    [ ! -e "$1/complete" ] || exit 0
    rm -rf "$1"
    python3 -m venv "$1"
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \\
      --require-hashes --only-binary :all: --requirement "$2"
    touch "$1/complete"`;
  try {
    const lock = join(cache, 'schemathesis.lock');
    await run('flock', [lock, 'sh', '-euc', steps, 'install', folder, requirements], { env });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    const said = lastLines(`${stdout}\n${stderr}` || String(error), 6);
    throw new SchemathesisUnavailable(
      `schemathesis could not be installed; it takes PyPI and python3-venv (on Debian: apt-get install python3-venv).\n${said}`,
    );
  }
  return interpreter;
}

/** What tells one Python from another. */
async function python(env: NodeJS.ProcessEnv): Promise<string> {
  try {
    const { stdout } = await run('python3', ['-c', 'import sys; print(sys.version, sys.prefix)'], {
      env,
    });
    return stdout;
  } catch {
    throw new SchemathesisUnavailable(
      'schemathesis takes Python 3.11 or later, and there is no python3 (on Debian: apt-get install python3 python3-venv).',
    );
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
