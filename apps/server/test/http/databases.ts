import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { uuidToBytes } from '@latchkey/schema';
import { Binary, BSON, MongoClient } from 'mongodb';
import { describe, inject, test } from 'vitest';
import { dropDatabase, freshName, urlOf } from '../../src/store/mongodb/mongo-harness.ts';

/** A database of one suite's own. */
export interface TestDatabase {
  url: string;
  /** What no operation does: somebody deletes an account by hand. */
  deleteAccount(account_id: string): Promise<void>;
  /** Every byte that is kept: the files of SQLite, the documents of MongoDB. */
  bytes(): Promise<Buffer>;
  remove(): Promise<void>;
}

export type FreshDatabase = () => Promise<TestDatabase>;

// On a busy machine a test of many requests takes some seconds.
const options = { timeout: 30_000 };

/** Runs a suite once on each store, unchanged. */
export function describeOnEachStore(title: string, suite: (fresh: FreshDatabase) => void): void {
  describe(`${title} on SQLite`, options, () => suite(sqliteDatabase));
  describeOnMongodb(title, (server) => suite(() => mongoDatabase(server)));
}

/** Runs a suite on the MongoDB of the tests, where there is one; it gets the URL of the server. */
export function describeOnMongodb(title: string, suite: (server: string) => void): void {
  const server = inject('mongodbUrl');
  if (server) describe(`${title} on MongoDB`, options, () => suite(server));
  else describe.skip(`${title} on MongoDB (not run: there is none)`, () => test('is the same'));
}

/** A database in a directory of its own. */
export async function sqliteDatabase(): Promise<TestDatabase> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-http-'));
  const path = join(directory, 'latchkey.db');
  return {
    url: `file:${path}`,
    async deleteAccount(account_id) {
      const database = new DatabaseSync(path);
      database.prepare('DELETE FROM accounts WHERE id = ?').run(uuidToBytes(account_id));
      database.close();
    },
    async bytes() {
      const files = await readdir(directory);
      return Buffer.concat(await Promise.all(files.map((file) => readFile(join(directory, file)))));
    },
    remove: () => rm(directory, { recursive: true }),
  };
}

async function mongoDatabase(server: string): Promise<TestDatabase> {
  const name = freshName();
  return {
    url: urlOf(server, name),
    async deleteAccount(account_id) {
      const client = new MongoClient(server);
      const _id = new Binary(uuidToBytes(account_id), Binary.SUBTYPE_UUID);
      await client
        .db(name)
        .collection('accounts')
        .deleteOne({ _id: _id as never });
      await client.close();
    },
    async bytes() {
      const client = new MongoClient(server);
      const collections = await client.db(name).collections();
      const documents = await Promise.all(
        collections.map((collection) => collection.find().toArray()),
      );
      await client.close();
      return Buffer.concat(documents.flat().map((document) => BSON.serialize(document)));
    },
    remove: () => dropDatabase(server, name),
  };
}
