import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HeldProgram } from '../held-program.ts';
import { asOwner, giveToOwner } from './owner.ts';
import { query } from './query.ts';

/** Where Debian and Ubuntu have it, which is on the PATH of root alone. */
const PROGRAM = '/usr/sbin/pgbouncer';

/** The sessions of a database: fewer than the connections of a store, so that calls change sessions. */
export const SESSIONS = 4;

/** A server, or what is in front of it. */
interface Server {
  /** The URL of its database `postgres`. */
  url: string;
  stop(): Promise<void>;
}

/** In CI, nobody would notice that there is none. */
export const hasPooler = existsSync(PROGRAM) || process.env.CI !== undefined;

/** Starts a PgBouncer in transaction mode in front of a server, with which it stops. */
export async function behindPooler(server: Server): Promise<Server> {
  const { hostname, port, username } = new URL(server.url);
  const url = new URL(server.url);
  const program = await HeldProgram.start('pgbouncer', async (place) => {
    const file = join(place.data, 'pgbouncer.ini');
    const settings = `
      [databases]
      * = host=${hostname} port=${port} user=${username}
      [pgbouncer]
      listen_addr = 127.0.0.1
      listen_port = ${place.port}
      unix_socket_dir =
      auth_type = any
      pool_mode = transaction
      default_pool_size = ${SESSIONS}
      max_client_conn = 1000
    `;
    await writeFile(file, settings);
    await giveToOwner(dirname(place.data));
    url.host = `127.0.0.1:${place.port}`;
    return {
      command: [...asOwner, PROGRAM, '--quiet', file],
      answers: () => query(url.href, 'SELECT 1'),
    };
  });
  return {
    url: url.href,
    async stop() {
      await program.stop();
      await server.stop();
    },
  };
}
