import { randomBytes } from 'node:crypto';
import { chown, glob, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from '../../packages/test-kit/src/free-port.ts';
import { environment, type ProgramOptions, startProgram, succeed } from './program.ts';

/** An empty database, whose user may do everything. It ends with its server. */
export interface PostgresqlDatabase {
  /** As in `PostgreSQL 17.2`. */
  description: string;
  url: string;
  /** Where it is, by the names that PostgreSQL's own programs read. */
  environment: Record<'PGHOST' | 'PGPORT' | 'PGUSER' | 'PGPASSWORD' | 'PGDATABASE', string>;
}

/** A PostgreSQL on the loopback, with its defaults but for the number of connections, in a temporary folder. */
export interface PostgresqlServer {
  /** The process that its processes descend from. */
  pid: number;
  createDatabase(): Promise<PostgresqlDatabase>;
  stop(): Promise<void>;
}

const USER = 'races';

/**
 * Starts the PostgreSQL that is on the PATH, or where Debian's package puts it. It refuses to run as root:
 * then it runs as the package's user.
 *
 * @throws Unavailable if there is none
 */
export async function startPostgresql(): Promise<PostgresqlServer> {
  const places: string[] = [];
  for await (const place of glob('/usr/lib/postgresql/*/bin')) places.push(place);
  const path = [process.env.PATH ?? '', ...places.sort().reverse()].join(delimiter);
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-postgresql-'));
  try {
    const password = randomBytes(16).toString('hex');
    const env = { ...environment({ PGPASSWORD: password, LC_ALL: 'C.UTF-8' }), PATH: path };
    const options = {
      cwd: folder,
      env,
      install: 'PostgreSQL (on Debian: apt-get install postgresql)',
    };
    const version = await succeed('postgres', ['--version'], options);
    const [number = ''] = /\d+(\.\d+)+/.exec(version) ?? [];

    const user = await unprivileged(options);
    const data = join(folder, 'data');
    const passwordFile = join(folder, 'password');
    await mkdir(data, { mode: 0o700 });
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (user) {
      for (const one of [folder, data, passwordFile]) await chown(one, user.uid, user.gid);
    }
    const init = ['-D', data, '-U', USER, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
    await succeed('initdb', [...init, '--no-sync'], { ...options, ...user });

    const port = await freePort();
    const address = ['-h', '127.0.0.1', '-p', `${port}`, '-U', USER, '-d', 'postgres'];
    // The connections of a benchmark are those of several servers at once.
    const settings = [
      ...['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=400'],
    ];
    const program = await startProgram(
      ['postgres', '-D', data, '-p', `${port}`, ...settings.flatMap((one) => ['-c', one])],
      { cwd: folder, env, temporary: folder, ...user },
      () => succeed('psql', [...address, '-c', 'select 1'], options).then(() => true),
    );
    let databases = 0;
    return {
      pid: program.pid,
      async createDatabase() {
        const name = `races_${++databases}`;
        await succeed('psql', [...address, '-q', '-c', `create database ${name}`], options);
        return {
          description: `PostgreSQL ${number}`,
          url: `postgresql://${USER}:${password}@127.0.0.1:${port}/${name}`,
          environment: {
            ...{ PGHOST: '127.0.0.1', PGPORT: `${port}`, PGDATABASE: name },
            ...{ PGUSER: USER, PGPASSWORD: password },
          },
        };
      },
      stop: program.stop,
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Whom the server runs as, where this process is root's. */
async function unprivileged(options: ProgramOptions & { install: string }) {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = async (word: string) => Number(await succeed('id', [word, 'postgres'], options));
  return { uid: await idOf('-u'), gid: await idOf('-g') };
}
