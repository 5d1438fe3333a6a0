// Checks a MongoDB that the tests can't start: another version, a sharded cluster, Atlas.
//
//   npm run check:mongodb -- URL [--no-questions] [--no-failover]
//
// It works in the database `latchkey_check`, which it deletes first and last. Each line says what was
// found and what is expected.
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { grants as kind } from '@latchkey/store/kinds';
import type { Store } from '@latchkey/store/store';
import { documentOf } from '@latchkey/store-mongodb/encoding';
import { inspectIndexes } from '@latchkey/store-mongodb/indexes';
import { openMongoStore } from '@latchkey/store-mongodb/mongo-store';
import { missingRights } from '@latchkey/store-mongodb/rights';
import { openExplained } from '@latchkey/store-mongodb/test/statements';
import { everyOperation } from '@latchkey/store-suite/every-operation';
import { aPast } from '@latchkey/store-suite/many-grants';
import { anAccount, anApplication, anId, granted } from '@latchkey/store-suite/records';
import { urlOf, withOptions } from '@latchkey/test-kit/mongodb/test-databases';
import { type Document, MongoClient } from 'mongodb';
import { failover } from './failover.ts';

const DATABASE = 'latchkey_check';
const GRANTS = 4_000;
const READS = 100;
const everyRight = [
  ...['find', 'insert', 'update', 'remove', 'listIndexes'],
  ...['createCollection', 'createIndex'],
];

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'no-questions': { type: 'boolean' }, 'no-failover': { type: 'boolean' } },
});
const [server] = positionals;
if (server === undefined) {
  process.stderr.write('Usage: npm run check:mongodb -- URL [--no-questions] [--no-failover]\n');
  process.exit(2);
}

const url = withAuthSource(urlOf(server, DATABASE), server);
const client = await new MongoClient(url).connect();
const db = client.db(DATABASE);
let failed = 0;

/** The user stays in the database where it was: without `authSource` that is the path of the URL. */
function withAuthSource(url: string, given: string): string {
  const [, userinfo, path] = /^[^/]+:\/\/([^/]*@)?[^/]*\/?([^?]*)/.exec(given) ?? [];
  if (!userinfo || !path || /[?&]authSource=/i.test(given)) return url;
  return withOptions(url, { authSource: decodeURIComponent(path) });
}

function report(what: string, found: string, expected: string, isRight: boolean): void {
  if (!isRight) failed += 1;
  process.stdout.write(
    `${isRight ? 'ok  ' : 'FAIL'} ${what}: ${found}\n     expected: ${expected}\n`,
  );
}

/** Asks a person to do something; false if nobody is there. */
async function ask(request: string): Promise<boolean> {
  if (options['no-questions'] || !process.stdin.isTTY) {
    process.stdout.write(`skip ${request}\n`);
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  await terminal.question(`${request}, then press Enter. `);
  terminal.close();
  return true;
}

async function checkVersion(): Promise<Document> {
  const [{ version }, hello] = await Promise.all([
    db.command({ buildInfo: 1 }),
    db.command({ hello: 1 }),
  ]);
  const kind = hello.msg === 'isdbgrid' ? 'sharded cluster' : (hello.setName ?? 'standalone');
  report('version', `MongoDB ${version}, ${kind}`, '7.0 or later', hello.maxWireVersion >= 21);
  return hello;
}

async function checkRights(): Promise<void> {
  const { authInfo } = await db.command({ connectionStatus: 1, showPrivileges: true });
  const missing = missingRights(authInfo, DATABASE, everyRight);
  const users = authInfo.authenticatedUsers.length;
  const found = users === 0 ? 'the server checks no rights' : `missing: ${JSON.stringify(missing)}`;
  report('rights', found, everyRight.join(' '), missing.length === 0);
}

async function checkIndexes(): Promise<void> {
  const { missing, conflicts } = await inspectIndexes(db, 5_000);
  const found = `${missing.length} collections lack some, ${conflicts.length} conflicts`;
  report('indexes', found, 'none and none', missing.length + conflicts.length === 0);
}

/** Explains the commands of every operation: see `packages/store-mongodb/test/statements.slow.test.ts`. */
async function checkCommands(shards: number): Promise<void> {
  const [explained, excessive] = [new Set<string>(), new Set<string>()];
  const { store, close } = await openExplained(
    withOptions(url, { monitorCommands: 'true' }),
    (shape, { keys, documents, returned }) => {
      explained.add(shape);
      const most = (2 * returned + 10) * shards;
      if (Math.max(keys, documents) > most) excessive.add(`${keys} keys: ${shape}`);
    },
  );
  const past = await aPast(
    { application_id: anId(), account: anAccount({ username: anId() }) },
    { grants: GRANTS, ofAccount: GRANTS / 4 },
    (grants) => db.collection('grants').insertMany(grants.map(documentOf(kind))),
  );
  await everyOperation(store, past);
  await close();
  report(
    'what commands examine',
    [`${excessive.size} of ${explained.size} examine too much`, ...excessive].join('\n     '),
    'at most twice what they return, and 10, on each shard',
    excessive.size === 0,
  );
}

async function costOfReads(store: Store, grant_id: string): Promise<number> {
  const durations: number[] = [];
  for (let turn = 0; turn < READS; turn++) {
    const start = performance.now();
    await store.authenticateGrant(grant_id, { currentAccount: true });
    durations.push(performance.now() - start);
  }
  return durations.toSorted((one, other) => one - other)[READS / 2] ?? 0;
}

async function checkReads(store: Store, grant_id: string): Promise<void> {
  const median = await costOfReads(store, grant_id);
  const found = `${median.toFixed(1)} ms`;
  report('authenticating a grant, median', found, 'some round trips; under 100 ms', median < 100);
  if (!(await ask('Stop one secondary'))) return;
  const withOneDown = await costOfReads(store, grant_id);
  report(
    'the same with a secondary down',
    `${withOneDown.toFixed(1)} ms`,
    'up to 150 ms, the interval of the journal (storage.journal.commitIntervalMs)',
    withOneDown < 150,
  );
  await ask('Start it again');
}

/** @returns how many there are */
async function checkShards(store: Store): Promise<number> {
  const admin = client.db('admin');
  for (const name of ['grants', 'accounts', 'refusals', 'links', 'pages', 'deliveries']) {
    await admin.command({ shardCollection: `${DATABASE}.${name}`, key: { _id: 'hashed' } });
  }
  const application = anApplication();
  await store.createApplication(application);
  const found: boolean[] = [];
  // Enough that some are on each shard.
  for (let turn = 0; turn < 50; turn++) {
    const account = anAccount();
    await store.putAccount(account);
    const { grant } = await granted(store, { account, application_id: application.id });
    const seen = await store.authenticateGrant(grant.grant_id, { currentAccount: true });
    found.push(seen?.account?.id === account.id && seen.application_disabled === false);
  }
  const joined = found.filter(Boolean).length;
  report('$lookup across shards', `${joined} of 50 joined`, 'all joined', joined === 50);
  const { shards } = await admin.command({ listShards: 1 });
  return shards.length;
}

await db.dropDatabase();
const hello = await checkVersion();
await checkRights();
const store = await openMongoStore({ url, clock: Date.now });
try {
  await checkIndexes();
  const shards = hello.msg === 'isdbgrid' ? await checkShards(store) : 1;
  await checkCommands(shards);
  const { grant } = await granted(store);
  await checkReads(store, grant.grant_id);
} finally {
  await store.close();
  await db.dropDatabase();
}
if (!options['no-failover']) {
  const sound = await failover(url, client, ask);
  report('failover under load', sound ? 'sound' : 'see above', 'no violation', sound);
  await db.dropDatabase();
}
await client.close();
process.stdout.write(failed === 0 ? 'All as expected.\n' : `${failed} not as expected.\n`);
process.exitCode = failed === 0 ? 0 : 1;
