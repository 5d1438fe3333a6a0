import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { migrations as mongoMigrations } from '@latchkey/store-mongodb/migrations';
import { openMongoStore } from '@latchkey/store-mongodb/mongo-store';
import { migrations as sqliteMigrations } from '@latchkey/store-sqlite/migrations';
import { openSqliteStore } from '@latchkey/store-sqlite/sqlite-store';
import {
  aConsentPage,
  anInitiator,
  identificationOf,
  openingOf,
  redemptionOf,
} from '@latchkey/store-suite/records';
import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { freshName, urlOf } from '@latchkey/test-kit/mongodb/test-databases';
import { BSON, type Document, MongoClient } from 'mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import { invoke } from '../../http/call.ts';
import { startTestServer } from '../../http/running-server.ts';
import {
  activeId,
  codeOf,
  grantSecret,
  linkOf,
  openLinkId,
  pendingId,
  readContents,
  unboundId,
  unopenedPage,
  writeContents,
} from './contents.ts';

const FOLDER = new URL('./stores/', import.meta.url).pathname;

/** A store that a version wrote is kept, with all that the port showed of it. */
interface Kept {
  /** Such as `schema-1.db`. */
  file: string;
  /** Such as `schema-1.db.json`. */
  contents: string;
}
const keptOf = (version: number, suffix: string): Kept => {
  const file = join(FOLDER, `schema-${version}.${suffix}`);
  return { file, contents: `${file}.json` };
};

/**
 * The stores that are kept, the present version's too. Where that is missing it is written: commit it
 * with the migration that it is of.
 */
async function keepPresent(version: number, suffix: string, write: (kept: Kept) => Promise<void>) {
  const kept = keptOf(version, suffix);
  if (existsSync(kept.file)) return;
  if (process.env.CI) throw new Error(`${kept.file} is missing: run this test, and commit it.`);
  await mkdir(FOLDER, { recursive: true });
  await write(kept);
}

/** What is kept of each version. Nothing is missing, and nothing else is there. */
function keptOfAll(present: number, suffix: string): Kept[] {
  const found = readdirSync(FOLDER).filter((name) => name.includes(`.${suffix}`));
  const kept = Array.from({ length: present }, (_, index) => keptOf(index + 1, suffix));
  const files = kept.flatMap(({ file, contents }) => [basename(file), basename(contents)]);
  expect(found.sort()).toEqual(files.sort());
  return kept;
}

/** Writes all that the port shows of a store. */
async function keepContents(url: string, { contents }: Kept): Promise<void> {
  const store = await openStore(url, { clock: Date.now });
  writeFileSync(contents, `${JSON.stringify(await readContents(store), null, 1)}\n`);
  await store.close();
}

/** What a version kept is there, and works. */
async function expectUsable(url: string, { contents }: Kept): Promise<void> {
  const store = await openStore(url, { clock: Date.now });
  // A later version may show more.
  expect(await readContents(store)).toMatchObject(JSON.parse(readFileSync(contents, 'utf8')));

  for (const grant_id of [pendingId, unboundId]) {
    const redemption = redemptionOf(codeOf(grant_id));
    expect(await store.redeemCode(redemption)).toMatchObject({ grant_id });
    expect(await store.redeemCode(redemption)).toBeNull();
  }
  const link = linkOf(openLinkId);
  const page = aConsentPage(link, { account_id: unopenedPage.account_id });
  expect(await store.identifyLink(identificationOf(link, page))).toMatchObject({
    page_id: page.id,
  });
  expect(await store.openPage(openingOf(unopenedPage))).not.toBeNull();
  await store.close();

  const server = await startTestServer(url);
  const account = () => invoke(server, 'REST', 'account.get', {}, `Bearer ${grantSecret}`);
  expect(await account()).toMatchObject({ status: 200, body: { username: 'ada' } });
  await server.service.store.revokeGrant({
    grant_id: activeId,
    application_id: null,
    now: 1,
    initiator: anInitiator(),
  });
  expect((await account()).status).toBe(401);
  await server.close();
}

/** Without the index that REVOKED_GRANT_DAYS adds. */
const schemaOf = (database: DatabaseSync) =>
  database
    .prepare(
      "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name <> 'revoked_with_details' ORDER BY name",
    )
    .all()
    .map(({ sql }) => sql);

const temporaryFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-versions-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
};

/** SQLite writes beside a file that it opens, even if it only reads. */
async function copyOf(file: string): Promise<string> {
  const path = join(await temporaryFolder(), 'a.db');
  copyFileSync(file, path);
  return path;
}

describe('a SQLite file that a version of Latchkey wrote', () => {
  const [suffix, present] = ['db', sqliteMigrations.length];

  test('is kept for the present version', () =>
    keepPresent(present, suffix, async (kept) => {
      const path = join(await temporaryFolder(), 'a.db');
      await writeContents((options) => openSqliteStore({ path, ...options }));
      await keepContents(`file:${path}`, kept);
      copyFileSync(path, kept.file);
    }));

  test('has the schema of its version, which never changes', async () => {
    const fresh = new DatabaseSync(':memory:');
    for (const [index, { sql }] of sqliteMigrations.entries()) {
      fresh.exec(sql);
      const { file } = keptOf(index + 1, suffix);
      const kept = new DatabaseSync(await copyOf(file), { readOnly: true });
      const [expected, found] = [fresh, kept].map(schemaOf);
      kept.close();
      expect(
        expected,
        `Step ${index + 1} of the schema has changed since ${file} was written. If it was released, put it back, and add a step. If not, delete the files of this version, run this test, and commit the new ones.`,
      ).toEqual(found);
    }
  });

  test('is used by this one', async () => {
    for (const kept of keptOfAll(present, suffix)) {
      await expectUsable(`file:${await copyOf(kept.file)}`, kept);
    }
  });
});

describeOnMongodb('a database that a version of Latchkey wrote into', (server) => {
  const [suffix, present] = ['mongodb', mongoMigrations.length];
  const fresh = async () => {
    const client = await new MongoClient(server).connect();
    const db = client.db(freshName());
    onTestFinished(async () => {
      await db.dropDatabase();
      await client.close();
    });
    return { db, url: urlOf(server, db.databaseName) };
  };

  test('is kept for the present version', () =>
    keepPresent(present, suffix, async (kept) => {
      const { db, url } = await fresh();
      await writeContents((options) => openMongoStore({ url, ...options }));
      await keepContents(url, kept);
      const collections = await db.listCollections({ type: 'collection' }).toArray();
      const documents: Record<string, Document[]> = {};
      for (const { name } of collections)
        documents[name] = await db.collection(name).find().toArray();
      writeFileSync(
        kept.file,
        `${BSON.EJSON.stringify(documents, undefined, 1, { relaxed: false })}\n`,
      );
    }));

  test('is used by this one', async () => {
    for (const kept of keptOfAll(present, suffix)) {
      const { db, url } = await fresh();
      const documents = BSON.EJSON.parse(readFileSync(kept.file, 'utf8'), { relaxed: false });
      for (const [name, all] of Object.entries(documents as Record<string, Document[]>)) {
        if (all.length > 0) await db.collection(name).insertMany(all);
      }
      await expectUsable(url, kept);
    }
  });
});
