import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../packages/test-kit/src/free-port.ts';
import {
  installFromRequirements,
  PythonToolsUnavailable,
} from '../../packages/test-kit/src/tools-from-requirements.ts';
import { Unavailable } from './peer.ts';
import { environment, type Program, responds, startProgram, succeed } from './program.ts';

/** A Python application with its packages. */
export interface PythonApplication {
  /** As in `` `Django` 5.2.19, Python 3.11.2 ``. */
  versions: string;
  /** Runs Python in the application's folder. */
  run(words: readonly string[]): Promise<string>;
  /** Serves a WSGI application by gunicorn, with as many workers as its documentation recommends. */
  serve(wsgi: string): Promise<Program & { url: string }>;
}

/**
 * Installs the packages of `requirements.txt` in a folder.
 *
 * @param env - for the application
 * @throws Unavailable if there is no Python or no PyPI
 */
export async function pythonApplication(
  folder: string,
  name: string,
  more: Record<string, string>,
): Promise<PythonApplication> {
  const requirements = join(folder, 'requirements.txt');
  const programs = await installFromRequirements(requirements, name, process.env).catch((error) => {
    throw error instanceof PythonToolsUnavailable ? new Unavailable(error.message) : error;
  });
  const env = environment({ PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: folder, ...more });
  const options = { cwd: folder, env };
  const install = 'Python 3.11 or later (on Debian: apt-get install python3 python3-venv)';
  const run = (words: readonly string[]) =>
    succeed(join(programs, 'python'), words, { ...options, install });
  const direct = await readFile(join(folder, 'requirements.in'), 'utf8');
  const packages = direct.trim().replaceAll(/^(.+)==(.+)$/gm, '`$1` $2');
  return {
    versions: `${packages.replaceAll('\n', ', ')}, ${(await run(['--version'])).trim()}`,
    run,
    async serve(wsgi) {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const workers = ['--workers', `${2 * availableParallelism() + 1}`];
      const words = ['-m', 'gunicorn', '--bind', `127.0.0.1:${port}`, ...workers, wsgi];
      const program = await startProgram([join(programs, 'python'), ...words], options, () =>
        responds(`${url}/account`),
      );
      return { ...program, url };
    },
  };
}
