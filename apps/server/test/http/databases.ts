import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { uuidToBytes } from '@latchkey/schema';
import { runsAll, slow } from '@latchkey/test-kit/long';
import { dropDatabase, freshName, urlOf } from '@latchkey/test-kit/mongodb/test-databases';
import type { Mongod } from '@latchkey/test-kit/mongodb/types';
import { Binary, BSON, MongoClient } from 'mongodb';
import { describe, inject, type TestOptions, test } from 'vitest';

/** A database for one suite. */
export interface TestDatabase {
  url: string;
  /** Deletes an account by hand: no operation does. */
  deleteAccount(account_id: string): Promise<void>;
  /** The same of an application. */
  deleteApplication(application_id: string): Promise<void>;
  /** Every byte that is kept: the files of SQLite, the documents of MongoDB. */
  bytes(): Promise<Buffer>;
  remove(): Promise<void>;
}

export type FreshDatabase = () => Promise<TestDatabase>;

/** Runs a suite on each store every day, since what it proves is also up to the store. */
export function describeOnEachStore(title: string, suite: (fresh: FreshDatabase) => void): void {
  describe(`${title} on SQLite`, () => suite(sqliteDatabase));
  describeOnMongodb(title, (server) => suite(() => mongoDatabase(server)));
}

/** Runs a suite whose subject is not the store on each store: `npm test` runs it on SQLite alone. */
export function describeOnAnyStore(title: string, suite: (fresh: FreshDatabase) => void): void {
  describe(`${title} on SQLite`, () => suite(sqliteDatabase));
  describeOnMongodb(title, (server) => suite(() => mongoDatabase(server)), slow);
}

/** Runs a suite on the MongoDB of the tests, if there is one; it gets the URL of the server. */
export function describeOnMongodb(
  title: string,
  suite: (server: string) => void,
  options: TestOptions = {},
): void {
  const server = inject('mongodbUrl');
  if (server) describe(`${title} on MongoDB`, options, () => suite(server));
  else describe.skip(`${title} on MongoDB (not run: there is none)`, () => test('is the same'));
}

/** Runs a suite on the MongoDB of the tests; if slow tests run, also on a replica set of three. */
export function describeOnEachMongodb(title: string, suite: (server: string) => void): void {
  describeOnMongodb(title, suite);
  const request = inject('threeMembersUrl');
  if (request) {
    describe(`${title} on a replica set of three`, slow, async () => {
      // All suites share the set. It starts with the first request.
      if (runsAll) suite(await urlFrom(request));
      else test('is the same');
    });
  } else {
    skipReplicaSets(`${title} on a replica set of three`);
  }
}

/** Runs a suite that starts replica sets of its own, to harm them. */
export function describeWithMongod(title: string, suite: (mongod: Mongod) => void): void {
  const mongod = inject('mongod');
  if (mongod) describe(`${title} on MongoDB`, () => suite(mongod));
  else skipReplicaSets(`${title} on MongoDB`);
}

function skipReplicaSets(title: string): void {
  const why = inject('mongodbUrl') ? 'the one of TEST_DATABASE_URL is not ours' : 'there is none';
  describe.skip(`${title} (not run: ${why})`, () => test('is the same'));
}

async function urlFrom(request: string): Promise<string> {
  const response = await fetch(request);
  const text = await response.text();
  if (!response.ok) throw new Error(`The replica set of three did not start: ${text}`);
  return text;
}

/** A database in a directory of its own. */
export async function sqliteDatabase(): Promise<TestDatabase> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-http-'));
  const path = join(directory, 'latchkey.db');
  async function deleteFrom(table: string, id: string) {
    const database = new DatabaseSync(path);
    database.prepare(`DELETE FROM ${table} WHERE id = ?`).run(uuidToBytes(id));
    database.close();
  }
  return {
    url: `file:${path}`,
    deleteAccount: (account_id) => deleteFrom('accounts', account_id),
    deleteApplication: (application_id) => deleteFrom('applications', application_id),
    async bytes() {
      const files = await readdir(directory);
      return Buffer.concat(await Promise.all(files.map((file) => readFile(join(directory, file)))));
    },
    remove: () => rm(directory, { recursive: true }),
  };
}

export async function mongoDatabase(server: string): Promise<TestDatabase> {
  const name = freshName();
  async function deleteFrom(collection: string, id: string) {
    const client = new MongoClient(server);
    const _id = new Binary(uuidToBytes(id), Binary.SUBTYPE_UUID);
    await client
      .db(name)
      .collection(collection)
      .deleteOne({ _id: _id as never });
    await client.close();
  }
  return {
    url: urlOf(server, name),
    deleteAccount: (account_id) => deleteFrom('accounts', account_id),
    deleteApplication: (application_id) => deleteFrom('applications', application_id),
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
