import type { Host } from '../network/network.ts';

/** The sources of a PostgreSQL, in the order in which they are tried. */
export type PostgresqlSource = 'installed' | 'npm';

/** A PostgreSQL that runs on this machine. */
export interface PostgresqlPrograms {
  /** Has `initdb` and `postgres`. */
  folder: string;
  source: PostgresqlSource;
  /** As in `15.18`. */
  version: string;
}

/** What a server is started with. */
export interface ServerOptions {
  /** Lines of `postgresql.conf`, by name. `ALTER SYSTEM` may change them. */
  settings?: Readonly<Record<string, string>>;
  /** Where it runs. Default: on the loopback. */
  host?: Host | undefined;
}
