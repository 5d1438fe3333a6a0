import type { Clock } from '@latchkey/domain/clock';
import { uuidV7Time } from '@latchkey/schema';
import { checkRoom } from '@latchkey/store/disk-room';
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
import { configurationError, withHint } from './configuration-error.ts';
import { createIndexesText, type IndexOptions, inspectIndexes, refuseNew } from './indexes.ts';
import { missingRights, needed } from './rights.ts';
import { versionOf } from './schema-version.ts';
import { askServer, isMongos, NEVER_ON_SHARDS, type ServerFacts } from './server.ts';
import { sizesIn } from './sizes.ts';
import { useMarks } from './use-mark.ts';
import { fromId } from './values.ts';

const maxTimeMS = defaultTimeouts.operation;
const PAGE = 'docs/operations/mongodb.md';

export async function* inspectMongodb(
  url: string,
  clock: Clock,
  indexes: IndexOptions,
): AsyncGenerator<Finding> {
  function open() {
    const { client, name } = createClient(url, defaultTimeouts);
    return {
      name,
      connect: () => connect(client),
      inspect: () => inspect(client, client.db(name), clock, indexes),
      close: () => client.close(),
    };
  }
  yield* inspectServer('MongoDB', open, (error) => configurationError(error, new Set()) ?? null);
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
  yield* checkAllIndexes(db, options);
  const remote = remoteHosts(client.options);
  yield* checkLogin(db, remote);
  // Matches nothing, but waits until a majority has every earlier write.
  const none = { _id: null as never };
  const { durable } = concernsFor(server, defaultTimeouts);
  yield await checkWrites({
    write: () => db.collection('fences').deleteOne(none, durable),
    waitsFor: 'the journals of a majority, whatever the URL says',
    failed: [
      'The journals of a majority did not confirm a write',
      'Look at rs.status() in mongosh, and bring the members up that are down or behind.',
    ],
  });
  yield checkServerClock(hello.localTime.getTime(), before, clock());
  const grants = db.collection('grants').find({}, { maxTimeMS, projection: { _id: 1 } });
  const newest = await grants.sort({ _id: -1 }).limit(1).next();
  yield checkNewestRecord(newest && uuidV7Time(fromId(newest._id as never)), clock);
  yield hasUncheckedTls(client.options)
    ? problem(
        'tls',
        'TLS is on, but the certificate of the server is not checked.',
        'Remove tlsInsecure and tlsAllowInvalid… from DATABASE_URL, and set tlsCAFile.',
      )
    : checkTls(client.options.tls, remote, 'tls=true');
  yield await checkDisk(db);
}

async function* checkVersion(db: Db): AsyncGenerator<Finding, ServerFacts | null> {
  try {
    const server = await askServer(db);
    const { version } = await db.command({ buildInfo: 1 });
    const concerns = concernsFor(server, defaultTimeouts);
    const schema = await versionOf(db, concerns);
    yield schema === 0
      ? ok('version', `MongoDB ${version}, schema version 0: the first start notes it.`)
      : checkSchemaVersion(`MongoDB ${version}`, schema);
    yield* checkUse(await useMarks(db, concerns).find());
    return server;
  } catch (error) {
    yield versionProblem(error, PAGE);
    return null;
  }
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

async function* checkAllIndexes(db: Db, options: IndexOptions): AsyncGenerator<Finding> {
  const { missing, conflicts } = await inspectIndexes(db, maxTimeMS, options);
  for (const conflict of conflicts) {
    yield problem('indexes', conflict, 'The service does not start until then.');
  }
  try {
    await refuseNew(db, maxTimeMS);
  } catch (error) {
    const { message } = error as Error;
    yield problem('store', message, 'Check the name of the database in DATABASE_URL.');
    return;
  }
  if (missing.length > 0 || conflicts.length === 0) {
    yield checkIndexes(
      missing.flatMap(({ indexes }) => indexes.map(({ name }) => name)),
      `latchkey serve builds them, if its user may. Or run in mongosh: ${missing.map(createIndexesText).join('; ')}`,
    );
  }
}

async function* checkLogin(db: Db, hosts: readonly string[]): AsyncGenerator<Finding> {
  const { authInfo } = await db.command({ connectionStatus: 1, showPrivileges: true, maxTimeMS });
  if (!authInfo?.authenticatedUsers?.length) {
    yield hosts.length === 0
      ? ok('rights', 'No login, to a server on this machine.')
      : warning(
          'rights',
          `No login: whoever reaches ${hosts.join(', ')} can read and change everything.`,
          `Turn on access control, and give the service a user: ${PAGE}, "Least rights".`,
        );
    return;
  }
  const missing = missingRights(authInfo, db.databaseName, needed);
  const remedy = `Grant it the role readWrite on the database ${db.databaseName}, or the rights in ${PAGE}`;
  yield* checkRights(
    missing.map(({ collection, actions }) => ({
      ...{ rights: actions, place: `the collection ${collection}`, remedy },
    })),
  );
}

const hasUncheckedTls = ({ tls, rejectUnauthorized, checkServerIdentity }: MongoOptions) =>
  tls && (rejectUnauthorized === false || checkServerIdentity !== undefined);

const remoteHosts = ({ hosts }: MongoOptions): string[] =>
  hosts.flatMap(({ host, socketPath }) =>
    host !== undefined && socketPath === undefined && isRemote(host) ? [host] : [],
  );

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
