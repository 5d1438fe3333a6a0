import { BadSetting } from '@latchkey/domain/bad-setting';
import type { Clock } from '@latchkey/domain/clock';
import { uuidV7Time } from '@latchkey/schema';
import { type Finding, ok, problem, skipped, warning } from '@latchkey/store/finding';
import {
  checkIndexes,
  checkRights,
  checkSchemaVersion,
  checkTls,
  checkWrites,
  inspectServer,
  isRemote,
  versionProblem,
} from '@latchkey/store/inspect-server';
import { checkNewestRecord } from '@latchkey/store/newest-record';
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

const PAGE = 'docs/operations/postgresql.md';

export async function* inspectPostgresql(
  url: string,
  clock: Clock,
  { reducesRevoked }: { reducesRevoked: boolean },
): AsyncGenerator<Finding> {
  function open() {
    const { database: name, host, ssl } = poolConfigOf(url);
    const database = new Database(url, defaultTimeouts);
    const send: Send = database.send.bind(database);
    return {
      name,
      connect: () => send('SELECT 1'),
      async *inspect() {
        yield* inspect(send, clock, reducesRevoked);
        const remote = isRemote(host) ? [host] : [];
        yield checkTls(Boolean(ssl), remote, 'sslmode=verify-full');
      },
      close: () => database.close(),
    };
  }
  yield* inspectServer('PostgreSQL', open, toRefusal);
}

/** An error with a code of PostgreSQL says that it has responded. */
const toRefusal = (error: unknown) =>
  error instanceof BadSetting || (isDatabaseError(error) && /^[0-9A-Z]{5}$/.test(error.code ?? ''))
    ? error
    : null;

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
  const indexes = await missingIndexes(send, keptIndexes(reducesRevoked));
  yield checkIndexes(
    indexes.map((index) => index.name),
    `latchkey serve builds them, if its user owns the tables. Or run in psql: ${indexes.map(({ text }) => text).join(' ')}`,
  );
  const rights = await missingRights(send, TABLES);
  yield* checkRights(
    rights.map((missing) => ({
      ...{ rights: missing.rights, place: `the table ${missing.table}` },
      remedy: remedyFor(missing),
    })),
  );
  yield await checkFence(send, server);
  yield await checkClock(send, clock);
  const [newest] = await send('SELECT id FROM grants ORDER BY id DESC LIMIT 1');
  yield checkNewestRecord(newest ? uuidV7Time(newest.id) : null, clock);
  const [{ bytes } = {}] = await send('SELECT pg_database_size(current_database()) AS bytes');
  yield skipped(
    'disk',
    `The database takes ${Math.ceil(bytes / 1_000_000)} MB. PostgreSQL does not say how much room its disk has.`,
    'Watch the disk of the server yourself.',
  );
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
    yield checkSchemaVersion(`PostgreSQL ${server.version}`, schema);
    yield* checkUse(await senderOf({ read: send, write: send }).read(markSite(dialect))());
    return server;
  } catch (error) {
    yield versionProblem(error, PAGE);
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
    yield warning('topology', text, `See ${PAGE}.`);
  }
}

const checkFence = (send: Send, { standbys }: ServerFacts): Promise<Finding> =>
  checkWrites({
    write: () => send(`SELECT WHERE ${FENCED}`),
    waitsFor:
      standbys.length === 0
        ? 'the disk of the server, whatever its settings say'
        : 'the disks of the server and of its standby, whatever their settings say',
    failed: [
      'No decision can be made on this server',
      standbys.length === 0
        ? 'Set DATABASE_URL to the primary.'
        : `Look at pg_stat_replication, and bring the standby ${standbys.join(' or ')} up, or name another in synchronous_standby_names.`,
    ],
  });

async function checkClock(send: Send, clock: Clock): Promise<Finding> {
  const before = clock();
  const [found] = await send('SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now');
  return checkServerClock(found?.now, before, clock());
}
