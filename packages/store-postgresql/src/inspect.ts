import { BadSetting } from '@latchkey/domain/bad-setting';
import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { isLoopbackHost } from '@latchkey/domain/loopback';
import { uuidV7Time } from '@latchkey/schema';
import { type Finding, ok, problem, skipped, warning } from '@latchkey/store/finding';
import { checkNewestRecord } from '@latchkey/store/newest-record';
import { SchemaMismatch, whoseSchema } from '@latchkey/store/schema-version';
import { checkServerClock } from '@latchkey/store/server-clock';
import { defaultTimeouts } from '@latchkey/store/server-store';
import { markSite } from '@latchkey/store/sql/by-hand';
import { checkUse } from '@latchkey/store/use-mark';
import { poolConfigOf } from './address.ts';
import { Database, type Send } from './database.ts';
import { dialect } from './dialect.ts';
import { isDatabaseError } from './errors.ts';
import { FENCED } from './fence.ts';
import { keptIndexes, missingIndexes } from './index-keeper.ts';
import { missingRights, remedyFor } from './rights.ts';
import { TABLES, versionOf } from './schema.ts';
import { askServer, type ServerFacts, warningsOf } from './server.ts';
import { senderOf } from './statements.ts';

export async function* inspectPostgresql(
  url: string,
  clock: Clock,
  { reducesRevoked }: { reducesRevoked: boolean },
): AsyncGenerator<Finding> {
  let database: Database | undefined;
  try {
    const config = poolConfigOf(url);
    database = new Database(url, defaultTimeouts);
    const send: Send = database.send.bind(database);
    const began = performance.now();
    await send('SELECT 1');
    const milliseconds = Math.ceil(performance.now() - began);
    yield ok('store', `PostgreSQL, database ${config.database}, connected in ${milliseconds} ms.`);
    yield* inspect(send, clock, reducesRevoked);
    yield checkTls(config);
  } catch (error) {
    yield error instanceof BadSetting || isOfServer(error)
      ? problem('store', error.message, 'Correct it, then run latchkey doctor again.')
      : problem(
          'store',
          `PostgreSQL does not respond: ${messageOf(error)}`,
          'Check that it runs at the host of DATABASE_URL, and that no firewall is in between.',
        );
  } finally {
    await database?.close();
  }
}

async function* inspect(
  send: Send,
  clock: Clock,
  reducesRevoked: boolean,
): AsyncGenerator<Finding> {
  const server = yield* checkVersion(send);
  if (server === null) return;
  yield server.hasChecksums
    ? ok('damage', 'PostgreSQL checks the checksum of each page that it reads.')
    : skipped(
        'damage',
        'The pages have no checksums, so PostgreSQL does not notice what a disk has damaged.',
        'Stop the server, and run pg_checksums --enable.',
      );
  yield* checkTopology(server);
  yield* checkIndexes(send, reducesRevoked);
  yield* checkRights(send);
  yield* checkFence(send, server);
  yield await checkClock(send, clock);
  yield checkNewestRecord(await newestGrant(send), clock);
  yield await checkDisk(send);
}

async function* checkVersion(send: Send): AsyncGenerator<Finding, ServerFacts | null> {
  try {
    const server = await askServer(send);
    const schema = await versionOf(send);
    if (schema === 0) {
      yield problem(
        'store',
        'There are no tables of Latchkey in this database.',
        'Check the name of the database in DATABASE_URL. latchkey serve creates the tables.',
      );
      return null;
    }
    yield ok(
      'version',
      `PostgreSQL ${server.version}, schema version ${schema}, which ${whoseSchema(schema)}.`,
    );
    yield* checkUse(await senderOf({ read: send, write: send }).read(markSite(dialect))());
    return server;
  } catch (error) {
    if (error instanceof BadSetting) {
      yield problem('version', error.message, 'See docs/operations/postgresql.md.');
    } else if (error instanceof SchemaMismatch) {
      yield problem('version', error.message, 'Run the version of Latchkey that migrated it.');
    } else {
      throw error;
    }
    return null;
  }
}

function* checkTopology(server: ServerFacts): Generator<Finding> {
  const { standbys } = server;
  yield standbys.length > 0
    ? ok('topology', `Each change waits for the standby ${standbys.join(' and ')}.`)
    : warning(
        'topology',
        'No standby is synchronous: what is acknowledged is as durable as the one disk of the server, and after a failover to a standby a revoked grant may live again.',
        'Name one in synchronous_standby_names: docs/operations/postgresql.md, "With standbys".',
      );
  for (const text of warningsOf(server)) {
    yield warning('topology', text, 'See docs/operations/postgresql.md.');
  }
}

async function* checkIndexes(send: Send, reducesRevoked: boolean): AsyncGenerator<Finding> {
  const missing = await missingIndexes(send, keptIndexes(reducesRevoked));
  if (missing.length === 0) {
    yield ok('indexes', 'All indexes are there.');
    return;
  }
  yield warning(
    'indexes',
    `Indexes are missing, or the service is still to build them: ${missing.map(({ name }) => name).join(', ')}. Lists, connections, disconnecting, exports and erasures that need them are slow.`,
    `latchkey serve builds them, if its user owns the tables. Or run in psql: ${missing.map(({ text }) => text).join(' ')}`,
  );
}

async function* checkRights(send: Send): AsyncGenerator<Finding> {
  const missing = await missingRights(send, TABLES);
  for (const each of missing) {
    yield problem(
      'rights',
      `The user may not ${each.rights.join(', ')} in the table ${each.table}.`,
      `${remedyFor(each)}.`,
    );
  }
  if (missing.length === 0) yield ok('rights', 'The user may do what the service does.');
}

async function* checkFence(send: Send, { standbys }: ServerFacts): AsyncGenerator<Finding> {
  const began = performance.now();
  try {
    await send(`SELECT WHERE ${FENCED}`);
  } catch (error) {
    yield problem(
      'write_concern',
      `No decision can be made on this server: ${messageOf(error)}`,
      standbys.length === 0
        ? 'Set DATABASE_URL to the primary.'
        : `Look at pg_stat_replication, and bring the standby ${standbys.join(' or ')} up, or name another in synchronous_standby_names.`,
    );
    return;
  }
  const milliseconds = Math.ceil(performance.now() - began);
  yield ok(
    'write_concern',
    standbys.length === 0
      ? 'Each change waits for the disk of the server, whatever its settings say.'
      : `Each change waits for the disks of the server and of its standby, whatever their settings say: ${milliseconds} ms.`,
  );
}

async function checkClock(send: Send, clock: Clock): Promise<Finding> {
  const before = clock();
  const [found] = await send('SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now');
  return checkServerClock(found?.now, before, clock());
}

async function newestGrant(send: Send): Promise<Milliseconds | null> {
  const [newest] = await send('SELECT id FROM grants ORDER BY id DESC LIMIT 1');
  return newest === undefined ? null : uuidV7Time(newest.id);
}

function checkTls({ host, ssl }: ReturnType<typeof poolConfigOf>): Finding {
  if (ssl) {
    return ok('tls', 'The connection is encrypted, and the certificate of the server is checked.');
  }
  if (host.startsWith('/') || isLoopbackHost(host))
    return ok('tls', 'The server is on this machine.');
  return warning(
    'tls',
    'The connection to the server is not encrypted.',
    'Turn on TLS at the server, and add sslmode=verify-full to DATABASE_URL.',
  );
}

async function checkDisk(send: Send): Promise<Finding> {
  const [found] = await send('SELECT pg_database_size(current_database()) AS bytes');
  return skipped(
    'disk',
    `The database takes ${Math.ceil(found?.bytes / 1_000_000)} MB. PostgreSQL does not say how much room its disk has.`,
    'Watch the disk of the server yourself.',
  );
}

/** Whether it has a code of PostgreSQL, so that it has responded. */
const isOfServer = (error: unknown): error is Error =>
  isDatabaseError(error) && /^[0-9A-Z]{5}$/.test(error.code ?? '');

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
