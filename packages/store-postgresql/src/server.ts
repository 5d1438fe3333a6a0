import { BadSetting } from '@latchkey/domain/bad-setting';
import type { Send } from './database.ts';

export interface ServerFacts {
  /** As in `15.18`. */
  version: string;
  /** Whether pages are safe from a crash in the middle of their write. */
  hasFullPageWrites: boolean;
  hasChecksums: boolean;
  /** A schema in which everybody may create something that statements take for a part of PostgreSQL; null if there is none. */
  openSchema: string | null;
  /** Synchronous standbys whose name another one has, too. */
  twins: readonly string[];
  /** The synchronous standbys. Each change waits for all of them. */
  standbys: readonly string[];
}

/** The oldest that is tested. */
const OLDEST = 150_000;

/**
 * Asks what no statement can set.
 *
 * @throws BadSetting if the server breaks a promise
 */
export async function askServer(send: Send): Promise<ServerFacts> {
  const [found] = await send(`SELECT
    current_setting('server_version') AS version,
    current_setting('server_version_num')::int AS number,
    current_setting('server_encoding') AS encoding,
    current_setting('fsync')::boolean AS fsync,
    current_setting('full_page_writes')::boolean AS pages,
    current_setting('data_checksums')::boolean AS checksums,
    current_setting('default_transaction_isolation') AS isolation,
    (SELECT min(name) FROM unnest(current_schemas(false)::text[]) AS schemas (name)
      WHERE has_schema_privilege('public', name, 'CREATE')) AS open,
    ARRAY(SELECT lower(application_name) FROM pg_stat_replication GROUP BY 1 HAVING count(*) > 1) AS twins,
    current_setting('max_wal_senders')::int AS senders,
    current_setting('synchronous_standby_names') AS names`);
  const { version, number, encoding, fsync, pages, checksums } = found ?? {};
  const { isolation, open, twins, senders, names } = found ?? {};
  const [numbered] = String(version).split(' ');
  if (number < OLDEST) {
    throw refused(
      `the server is PostgreSQL ${numbered}, and Latchkey needs ${OLDEST / 10_000} or later: upgrade it`,
    );
  }
  if (encoding !== 'UTF8') {
    throw refused(
      `the encoding of the database is ${encoding}: create it with ENCODING 'UTF8' TEMPLATE template0`,
    );
  }
  if (!fsync) {
    throw refused(
      'the server runs with fsync = off, so a crash of its machine loses what was acknowledged: set fsync = on',
    );
  }
  if (isolation !== 'read committed') {
    throw refused(
      `default_transaction_isolation is '${isolation}', so calls at once fail each other: set it to 'read committed' for the user, with ALTER ROLE`,
    );
  }
  // Without a sender, no commit waits for anybody.
  const standbys = senders === 0 ? [] : standbysOf(names);
  const waited = waitedFor(names, standbys);
  if (waited < standbys.length || standbys.includes('*')) {
    throw refused(
      `with synchronous_standby_names = '${names}', a standby that is not waited for can confirm a former primary after a failover, and what was revoked is live there: wait for each one that is named, as in '${NAMED}'`,
    );
  }
  return {
    version: numbered as string,
    hasFullPageWrites: pages,
    hasChecksums: checksums,
    openSchema: open,
    twins: standbys.filter((name) => twins.includes(name.toLowerCase())),
    standbys,
  };
}

/** What an operator should know, in whole sentences. */
export const warningsOf = ({ hasFullPageWrites, openSchema, twins }: ServerFacts): string[] => [
  ...(hasFullPageWrites ? [] : [TORN]),
  ...(openSchema === null ? [] : [openTo(openSchema)]),
  ...twins.map(calledTwice),
];

const calledTwice = (name: string) =>
  `Two standbys are called ${name}, and a change waits for one of them: after a failover to the other one, a revoked grant may live again. Give each server a cluster_name of its own.`;

const openTo = (schema: string) =>
  `Every user of the database may create functions in the schema ${schema}, which the service could run with its own rights. Run REVOKE CREATE ON SCHEMA ${schema} FROM PUBLIC.`;

const TORN =
  'The server runs with full_page_writes = off: on most file systems, a crash of its machine damages the database. Set full_page_writes = on, unless yours never writes a part of a page, as ZFS.';

const NAMED = 'FIRST 2 (standby_a, standby_b)';

const refused = (problem: string) => new BadSetting(`DATABASE_URL: ${problem}`);

/** https://www.postgresql.org/docs/15/runtime-config-replication.html#GUC-SYNCHRONOUS-STANDBY-NAMES */
const NUMBERED = /^\s*(?:(?:FIRST|ANY)\s+)?(\d+)\s*\((.*)\)\s*$/is;

function standbysOf(names: string): string[] {
  const list = NUMBERED.exec(names)?.[2] ?? names;
  const all = [...list.matchAll(/"((?:[^"]|"")*)"|[^\s,"]+/g)].map(
    ([bare, quoted]) => quoted?.replaceAll('""', '"') ?? bare,
  );
  // In any case: that is how the server compares them.
  return [...new Map(all.map((name) => [name.toLowerCase(), name])).values()];
}

/** Without a number, it waits for one. */
const waitedFor = (names: string, { length }: readonly string[]) =>
  length === 0 ? 0 : Number(NUMBERED.exec(names)?.[1] ?? 1);
