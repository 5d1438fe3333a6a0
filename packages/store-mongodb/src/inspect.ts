import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { isLoopbackHost } from '@latchkey/domain/loopback';
import { uuidV7Time } from '@latchkey/schema';
import { checkRoom } from '@latchkey/store/disk-room';
import { type Finding, ok, problem, skipped, warning } from '@latchkey/store/finding';
import { checkNewestRecord } from '@latchkey/store/newest-record';
import { SchemaMismatch, whoseSchema } from '@latchkey/store/schema-version';
import { checkServerClock } from '@latchkey/store/server-clock';
import { defaultTimeouts } from '@latchkey/store/server-store';
import { checkUse } from '@latchkey/store/use-mark';
import {
  type Db,
  type Document,
  type MongoClient,
  type MongoOptions,
  MongoServerError,
} from 'mongodb';
import { createClient } from './client.ts';
import { concernsFor } from './concerns.ts';
import { ConfigurationError, configurationError, withHint } from './configuration-error.ts';
import type { GrantDocument } from './documents.ts';
import { createIndexesText, type IndexOptions, inspectIndexes, refuseNew } from './indexes.ts';
import { missingRights, needed } from './rights.ts';
import { versionOf } from './schema-version.ts';
import { askServer, isMongos, NEVER_ON_SHARDS, type ServerFacts } from './server.ts';
import { sizesIn } from './sizes.ts';
import { useMarks } from './use-mark.ts';
import { fromId } from './values.ts';

const maxTimeMS = defaultTimeouts.operation;

export async function* inspectMongodb(
  url: string,
  clock: Clock,
  indexes: IndexOptions,
): AsyncGenerator<Finding> {
  let client: MongoClient | undefined;
  try {
    const created = createClient(url, defaultTimeouts);
    client = created.client;
    const db = client.db(created.name);
    const began = performance.now();
    await connect(client);
    const milliseconds = Math.ceil(performance.now() - began);
    yield ok('store', `MongoDB, database ${created.name}, connected in ${milliseconds} ms.`);
    yield* inspect(client, db, clock, indexes);
  } catch (failure) {
    // A user without rights is refused only after the connection.
    const error = configurationError(failure, new Set()) ?? failure;
    yield error instanceof ConfigurationError
      ? problem('store', error.message, 'Correct it, then run latchkey doctor again.')
      : problem(
          'store',
          `MongoDB does not respond: ${messageOf(error)}`,
          'Check that it runs at the hosts of DATABASE_URL, and that no firewall is in between.',
        );
  } finally {
    await client?.close();
  }
}

async function connect(client: MongoClient): Promise<void> {
  const setNames = new Set<string>();
  client.on('serverHeartbeatSucceeded', ({ reply: { setName } }) => {
    if (typeof setName === 'string') setNames.add(setName);
  });
  try {
    await client.connect();
  } catch (error) {
    throw configurationError(error, setNames) ?? withHint(error);
  }
}

async function* inspect(
  client: MongoClient,
  db: Db,
  clock: Clock,
  options: IndexOptions,
): AsyncGenerator<Finding> {
  const before = clock();
  const hello = await db.command({ hello: 1 });
  const server = yield* checkVersion(db);
  if (server === null) return;
  yield skipped('damage', 'MongoDB checks what it reads itself.');
  yield* checkTopology(hello);
  yield* checkIndexes(db, options);
  yield* checkRights(db, remoteHosts(client.options));
  yield* checkWriteConcern(db, server);
  yield checkServerClock(hello.localTime.getTime(), before, clock());
  yield checkNewestRecord(await newestGrant(db), clock);
  yield checkTls(client.options);
  yield await checkDisk(db);
}

async function* checkVersion(db: Db): AsyncGenerator<Finding, ServerFacts | null> {
  try {
    const server = await askServer(db);
    const { version } = await db.command({ buildInfo: 1 });
    const concerns = concernsFor(server, defaultTimeouts);
    const schema = await versionOf(db, concerns);
    yield checkSchema(`MongoDB ${version}, schema version ${schema}`, schema);
    yield* checkUse(await useMarks(db, concerns).find());
    return server;
  } catch (error) {
    if (error instanceof ConfigurationError) {
      yield problem('version', error.message, 'See docs/operations/mongodb.md.');
    } else if (error instanceof SchemaMismatch) {
      yield problem('version', error.message, 'Run the version of Latchkey that migrated it.');
    } else {
      throw error;
    }
    return null;
  }
}

function checkSchema(found: string, schema: number): Finding {
  if (schema === 0) return ok('version', `${found}: the first start notes it.`);
  return ok('version', `${found}, which ${whoseSchema(schema)}.`);
}

const MEMBERS = 3;

function* checkTopology(hello: Document): Generator<Finding> {
  if (isMongos(hello)) {
    yield warning(
      'topology',
      `This is ${NEVER_ON_SHARDS}.`,
      'Use a replica set of three members: docs/operations/mongodb.md, "On a sharded cluster".',
    );
    return;
  }
  const { setName, hosts = [], arbiters = [] } = hello;
  if (typeof setName !== 'string') {
    yield warning(
      'topology',
      'A standalone server: it is as durable as its one disk, and nothing takes its place.',
      'Make it a replica set of three members.',
    );
    return;
  }
  const set = `The replica set ${setName} of ${hosts.length} members with data`;
  if (arbiters.length > 0) {
    yield warning(
      'topology',
      `${set}, and ${arbiters.length} arbiters.`,
      'Give each arbiter data: with one member down, no write is confirmed by a majority.',
    );
  } else if (hosts.length < MEMBERS) {
    yield warning(
      'topology',
      `${set}.`,
      'Make it three: with fewer, one member that is down stops every change.',
    );
  } else {
    yield ok('topology', `${set}.`);
  }
}

async function* checkIndexes(db: Db, options: IndexOptions): AsyncGenerator<Finding> {
  const { missing, conflicts } = await inspectIndexes(db, maxTimeMS, options);
  for (const conflict of conflicts) {
    yield problem('indexes', conflict, 'The service does not start until then.');
  }
  try {
    await refuseNew(db, maxTimeMS);
  } catch (error) {
    yield problem('store', messageOf(error), 'Check the name of the database in DATABASE_URL.');
    return;
  }
  if (missing.length > 0) {
    const names = missing.flatMap(({ indexes }) => indexes.map(({ name }) => name));
    yield warning(
      'indexes',
      `Indexes are missing, or the service is still to build them: ${names.join(', ')}. Lists, connections, disconnecting, exports and erasures that need them may fail.`,
      `latchkey serve builds them, if its user may. Or run in mongosh: ${missing.map(createIndexesText).join('; ')}`,
    );
  } else if (conflicts.length === 0) {
    yield ok('indexes', 'All indexes are there.');
  }
}

async function* checkRights(db: Db, hosts: readonly string[]): AsyncGenerator<Finding> {
  const { authInfo } = await db.command({ connectionStatus: 1, showPrivileges: true, maxTimeMS });
  if (!authInfo?.authenticatedUsers?.length) {
    yield hosts.length === 0
      ? ok('rights', 'No login, to a server on this machine.')
      : warning(
          'rights',
          `No login: whoever reaches ${hosts.join(', ')} can read and change everything.`,
          'Turn on access control, and give the service a user: docs/operations/mongodb.md, "Least rights".',
        );
    return;
  }
  const missing = missingRights(authInfo, db.databaseName, needed);
  for (const { collection, actions } of missing) {
    yield problem(
      'rights',
      `The user may not ${actions.join(', ')} in the collection ${collection}.`,
      `Grant it the role readWrite on the database ${db.databaseName}, or the rights in docs/operations/mongodb.md.`,
    );
  }
  if (missing.length === 0) yield ok('rights', 'The user may do what the service does.');
}

async function* checkWriteConcern(db: Db, server: ServerFacts): AsyncGenerator<Finding> {
  const { durable } = concernsFor(server, defaultTimeouts);
  const began = performance.now();
  try {
    // Matches nothing, but waits until a majority has every earlier write.
    const none = { _id: null as never };
    await db.collection('fences').deleteOne(none, durable);
  } catch (error) {
    yield problem(
      'write_concern',
      `The journals of a majority did not confirm a write: ${messageOf(error)}`,
      'Look at rs.status() in mongosh, and bring the members up that are down or behind.',
    );
    return;
  }
  const milliseconds = Math.ceil(performance.now() - began);
  yield ok(
    'write_concern',
    `Each change waits for the journals of a majority, whatever the URL says: ${milliseconds} ms.`,
  );
}

async function newestGrant(db: Db): Promise<Milliseconds | null> {
  const [newest] = await db
    .collection<GrantDocument>('grants')
    .find({}, { maxTimeMS, projection: { _id: 1 } })
    .sort({ _id: -1 })
    .limit(1)
    .toArray();
  return newest === undefined ? null : uuidV7Time(fromId(newest._id));
}

function checkTls(options: MongoOptions): Finding {
  const hosts = remoteHosts(options);
  const isUnchecked =
    options.rejectUnauthorized === false || options.checkServerIdentity !== undefined;
  if (options.tls && isUnchecked) {
    return problem(
      'tls',
      'TLS is on, but the certificate of the server is not checked.',
      'Remove tlsInsecure and tlsAllowInvalid… from DATABASE_URL, and set tlsCAFile.',
    );
  }
  if (options.tls) {
    return ok('tls', 'The connection is encrypted, and the certificate of the server is checked.');
  }
  if (hosts.length === 0) return ok('tls', 'The server is on this machine.');
  return warning(
    'tls',
    `The connection to ${hosts.join(', ')} is not encrypted.`,
    'Turn on TLS at the server, and add tls=true to DATABASE_URL.',
  );
}

function remoteHosts({ hosts }: MongoOptions): string[] {
  return hosts.flatMap(({ host, socketPath }) =>
    host === undefined || socketPath !== undefined || isLoopbackHost(host) ? [] : [host],
  );
}

async function checkDisk(db: Db): Promise<Finding> {
  let stats: Document;
  try {
    stats = await db.command({ dbStats: 1, maxTimeMS });
  } catch (error) {
    if (!(error instanceof MongoServerError)) throw error;
    return skipped(
      'disk',
      'The user may not ask how much room the server has.',
      'Grant it dbStats on the database, or watch the disk of each member yourself.',
    );
  }
  const { database, free } = sizesIn(stats);
  if (free === null) return skipped('disk', 'The server does not say how much room it has.');
  return checkRoom('The disk of the server', { free, database });
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
