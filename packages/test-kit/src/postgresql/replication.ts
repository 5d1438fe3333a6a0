import { appendFile, cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Host } from '../network/network.ts';
import { type Fill, PostgresqlServer } from './server.ts';
import type { PostgresqlPrograms, ServerOptions } from './types.ts';

/** How long a standby may take to catch up, or to be promoted. */
const PATIENCE_MS = 60_000;

interface ReplicationOptions extends Pick<ServerOptions, 'settings'> {
  standbys: 1 | 2;
  /** `synchronous_standby_names` of each server while it is the primary. Default: the first of the others. */
  synchronous?: string;
  /** Where the servers run, the primary first. Default: on the loopback. */
  hosts?: readonly Host[] | undefined;
}

/** What each server is called by the others, in `synchronous_standby_names` and `pg_stat_replication`. */
type ServerName = 'one' | 'two' | 'three';
const NAMES: readonly ServerName[] = ['one', 'two', 'three'];

/** A primary with standbys that stream from it, all of which tests may kill. */
export class Replication {
  /** Promotion changes it: see {@link promote}. */
  primary: PostgresqlServer;
  readonly servers: readonly PostgresqlServer[];

  private constructor(servers: readonly PostgresqlServer[]) {
    this.servers = servers;
    this.primary = servers[0] as PostgresqlServer;
  }

  static async start(
    programs: PostgresqlPrograms,
    { standbys, settings, hosts = [], synchronous }: ReplicationOptions,
  ): Promise<Replication> {
    const names = NAMES.slice(0, standbys + 1);
    const optionsOf = (name: ServerName, index: number): ServerOptions => ({
      settings: {
        cluster_name: name,
        synchronous_standby_names:
          synchronous ?? `FIRST 1 (${names.filter((other) => other !== name).join(', ')})`,
        // A standby that was away for a while still finds what it missed.
        wal_keep_size: '256MB',
        ...settings,
      },
      host: hosts[index],
    });
    const servers: PostgresqlServer[] = [];
    try {
      for (const [index, name] of names.entries()) {
        const primary = servers[0];
        const fill = primary && standbyOf(primary);
        servers.push(await PostgresqlServer.start(programs, optionsOf(name, index), fill));
      }
      const set = new Replication(servers);
      await set.settled();
      return set;
    } catch (error) {
      await Promise.all(servers.map((server) => server.stop()));
      throw error;
    }
  }

  get standbys(): readonly PostgresqlServer[] {
    return this.servers.filter((server) => server !== this.primary);
  }

  /** The URL of the database `postgres` on the primary. */
  get url(): string {
    return this.primary.url;
  }

  /** Waits until every running standby has all that the primary has, and a synchronous one is named. */
  async settled(): Promise<void> {
    const running = this.standbys.filter(({ state }) => state === 'running').length;
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const [found] = await this.primary.query<{ isSettled: boolean }>(SETTLED, [running]);
      if (found?.isSettled) return;
      if (Date.now() > deadline) {
        const states = await this.primary.query('SELECT * FROM pg_stat_replication');
        throw new Error(`The standbys have not caught up: ${JSON.stringify(states)}`);
      }
      await sleep(50);
    }
  }

  /**
   * Makes a standby the primary, whatever becomes of the former one, and lets the other running standby follow it.
   * A failover tool first makes sure that it has all that was acknowledged.
   */
  async promote(standby: PostgresqlServer): Promise<void> {
    const others = this.standbys.filter((one) => one !== standby && one.state === 'running');
    const [promoted] = await standby.query<{ isDone: boolean }>(
      `SELECT pg_promote(true, ${PATIENCE_MS / 1_000}) AS "isDone"`,
    );
    if (!promoted?.isDone) throw new Error('The standby was not promoted.');
    this.primary = standby;
    for (const other of others) {
      await other.configure({ primary_conninfo: connectionTo(standby) });
    }
  }

  /** Makes a former primary, or a standby that missed too much, a new standby of the primary. */
  async rejoin(server: PostgresqlServer): Promise<void> {
    await server.refill(standbyOf(this.primary));
  }

  /**
   * As an operator does it: promotes the only standby, which has no standby to wait for yet.
   *
   * @returns the former primary, for {@link follow}
   */
  async failOver(): Promise<PostgresqlServer> {
    const former = this.primary;
    await this.promote(this.standbys[0] as PostgresqlServer);
    await this.primary.configure({ synchronous_standby_names: '' });
    return former;
  }

  /** Makes a former primary the standby that the primary waits for. */
  async follow(former: PostgresqlServer): Promise<void> {
    await this.rejoin(former);
    await this.primary.configure({ synchronous_standby_names: null });
    await this.settled();
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}

const SETTLED = `
  SELECT count(*) FILTER (WHERE state = 'streaming' AND replay_lsn >= pg_current_wal_flush_lsn()) = $1
    AND (current_setting('synchronous_standby_names') = ''
      OR count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) > 0) AS "isSettled"
  FROM pg_stat_replication`;

const connectionTo = ({ host, port }: PostgresqlServer) =>
  `host=${host} port=${port} user=latchkey`;

/** What is of the run of a server, or comes again by streaming. */
const LEFT_OUT = /\/(postmaster\.(pid|opts)|pg_(wal|dynshmem|replslot|stat_tmp|notify)\/[^/]+)$/;

/** Copies a running server, as `pg_basebackup` does: the package of npm has no such program. */
const standbyOf =
  (primary: PostgresqlServer): Fill =>
  async (_, data) => {
    const client = new Client({ connectionString: primary.url });
    await client.connect();
    try {
      await client.query("SELECT pg_backup_start('standby', true)");
      await cp(primary.data, data, {
        recursive: true,
        filter: (path) => !LEFT_OUT.test(path),
      });
      const stopped = await client.query('SELECT labelfile FROM pg_backup_stop(false)');
      await writeFile(join(data, 'backup_label'), stopped.rows[0].labelfile);
    } finally {
      await client.end();
    }
    await appendFile(
      join(data, 'postgresql.auto.conf'),
      `primary_conninfo = '${connectionTo(primary)}'\n`,
    );
    await writeFile(join(data, 'standby.signal'), '');
  };
