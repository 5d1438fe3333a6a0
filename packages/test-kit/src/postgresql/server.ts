import { execFile } from 'node:child_process';
import { appendFile, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { QueryResultRow } from 'pg';
import { lastLines } from '../error-text.ts';
import { HeldProgram, HeldServer, type Place } from '../held-program.ts';
import { asOwner, giveToOwner } from './owner.ts';
import { query } from './query.ts';
import type { PostgresqlPrograms, ServerOptions } from './types.ts';

const USER = 'latchkey';

const settings = {
  unix_socket_directories: '',
  max_connections: '400',
  autovacuum_naptime: '10min',
  // Its files are deleted with the folder.
  dynamic_shared_memory_type: 'mmap',
  log_min_messages: 'warning',
};

const loopback = { address: '127.0.0.1', within: [] };

/** Makes the data of a server in an empty folder. */
export type Fill = (programs: string, data: string) => Promise<void>;

/** A PostgreSQL with a port and a folder of its own, which is deleted when it stops. */
export class PostgresqlServer extends HeldServer {
  readonly #host: string;
  readonly #prepare: (place: Place, fill: Fill) => Promise<void>;

  private constructor(
    program: HeldProgram,
    host: string,
    prepare: (place: Place, fill: Fill) => Promise<void>,
  ) {
    super(program);
    this.#host = host;
    this.#prepare = prepare;
  }

  /** @param fill - Default: a new cluster */
  static async start(
    { folder }: PostgresqlPrograms,
    { settings: more, host = loopback }: ServerOptions = {},
    fill: Fill = newCluster,
  ): Promise<PostgresqlServer> {
    const prepare = async ({ data, port }: Place, fillIt: Fill) => {
      await fillIt(folder, data);
      const listening = { listen_addresses: host.address, port: `${port}` };
      await appendFile(
        join(data, 'postgresql.conf'),
        Object.entries({ ...settings, ...listening, ...more })
          .map(([name, value]) => `${name} = ${quoted(value)}\n`)
          .join(''),
      );
      await giveToOwner(data);
    };
    const program = await HeldProgram.start('postgresql', async (place) => {
      await giveToOwner(dirname(place.data));
      await prepare(place, fill);
      return {
        command: [...host.within, ...asOwner, join(folder, 'postgres'), '-D', place.data],
        answers: () => query(urlAt(host.address, place.port), 'SELECT 1'),
      };
    });
    return new PostgresqlServer(program, host.address, prepare);
  }

  get host(): string {
    return this.#host;
  }

  get port(): number {
    return this.program.port;
  }

  /** The URL of its database `postgres`. */
  get url(): string {
    return urlAt(this.#host, this.port);
  }

  get data(): string {
    return this.program.data;
  }

  /** Runs one statement, on its database `postgres`. */
  query<Row extends QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]> {
    return query<Row>(this.url, text, values);
  }

  /** Changes settings, for new statements; null takes the value of the start. */
  async configure(changes: Readonly<Record<string, string | null>>): Promise<void> {
    for (const [name, value] of Object.entries(changes)) {
      const to = value === null ? 'DEFAULT' : quoted(value);
      await this.query(`ALTER SYSTEM SET ${name} TO ${to}`);
    }
    await this.query('SELECT pg_reload_conf()');
  }

  /** Kills it, and starts it again with other data. */
  async refill(fill: Fill): Promise<void> {
    await this.kill();
    await rm(this.data, { recursive: true });
    await mkdir(this.data, { mode: 0o700 });
    await giveToOwner(this.data);
    await this.#prepare(this.program, fill);
    await this.restart();
  }
}

const quoted = (value: string) => `'${value.replaceAll("'", "''")}'`;

const urlAt = (host: string, port: number) => `postgresql://${USER}@${host}:${port}/postgres`;

/** Any user of the machine may connect, as with the MongoDB of the tests. */
async function newCluster(programs: string, data: string): Promise<void> {
  const command = [
    ...[...asOwner, join(programs, 'initdb'), '--pgdata', data, '--username', USER],
    ...['--auth', 'trust', '--encoding', 'UTF8', '--no-sync'],
    // A database of people has their order too: what needs that of the bytes has to say so.
    ...['--locale', 'C', '--locale-provider', 'icu', '--icu-locale', 'en'],
  ];
  const [program = '', ...words] = command;
  await promisify(execFile)(program, words, { cwd: data }).catch(({ stderr, message }) => {
    throw new Error(`initdb failed.\n${lastLines(stderr || message, 5)}`);
  });
  const anyHost = ['host all all all trust', 'host replication all all trust', ''];
  await appendFile(join(data, 'pg_hba.conf'), anyHost.join('\n'));
}
