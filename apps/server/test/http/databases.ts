import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { uuidToBytes } from '@latchkey/schema';
import { slow } from '@latchkey/test-kit/long';
import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { dropDatabase, freshName, urlOf } from '@latchkey/test-kit/mongodb/test-databases';
import { describeOnPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { query } from '@latchkey/test-kit/postgresql/query';
import * as postgresql from '@latchkey/test-kit/postgresql/test-databases';
import { Binary, BSON, MongoClient } from 'mongodb';
import { describe } from 'vitest';

/** A database for one suite. */
export interface TestDatabase {
  url: string;
  /** What metrics and traces call it. */
  system: 'sqlite' | 'mongodb' | 'postgresql';
  /** Deletes an account by hand: no operation does. */
  deleteAccount(account_id: string): Promise<void>;
  /** The same of an application. */
  deleteApplication(application_id: string): Promise<void>;
  /** Every byte that is kept: the files of SQLite, the documents of MongoDB, the rows of PostgreSQL. */
  bytes(): Promise<Buffer>;
  remove(): Promise<void>;
}

export type FreshDatabase = () => Promise<TestDatabase>;

/** Runs a suite on each store every day, since what it proves is also up to the store. */
export function describeOnEachStore(title: string, suite: (fresh: FreshDatabase) => void): void {
  describe(`${title} on SQLite`, () => suite(sqliteDatabase));
  describeOnMongodb(title, (server) => suite(() => mongoDatabase(server)));
  describeOnPostgresql(title, (server) => suite(() => postgresqlDatabase(server)));
}

/** Runs a suite whose subject is not the store on each store: `npm test` runs it on SQLite alone. */
export function describeOnAnyStore(title: string, suite: (fresh: FreshDatabase) => void): void {
  describe(`${title} on SQLite`, () => suite(sqliteDatabase));
  describeOnMongodb(title, (server) => suite(() => mongoDatabase(server)), slow);
  describeOnPostgresql(title, (server) => suite(() => postgresqlDatabase(server)), slow);
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
    system: 'sqlite',
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
    system: 'mongodb',
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

export async function postgresqlDatabase(server: string): Promise<TestDatabase> {
  const url = await postgresql.createDatabase(server);
  const deleteFrom = (table: string, id: string) =>
    query(url, `DELETE FROM ${table} WHERE id = $1`, [id]).then(() => undefined);
  return {
    url,
    system: 'postgresql',
    deleteAccount: (account_id) => deleteFrom('accounts', account_id),
    deleteApplication: (application_id) => deleteFrom('applications', application_id),
    async bytes() {
      const values = Object.values(await rowsOf(url)).flat(2);
      return Buffer.concat(
        values.map((value) =>
          Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value)),
        ),
      );
    },
    remove: () => postgresql.dropDatabase(url),
  };
}

/** The values of every row of a PostgreSQL, by table. */
export async function rowsOf(url: string): Promise<Record<string, unknown[][]>> {
  const tables = await query<{ name: string }>(
    url,
    'SELECT relid::regclass::text AS name FROM pg_stat_user_tables ORDER BY name',
  );
  const rows = tables.map(async ({ name }) => {
    const all = await query(url, `SELECT * FROM ${name} AS one ORDER BY one::text`);
    return [name, all.map(Object.values)] as const;
  });
  return Object.fromEntries(await Promise.all(rows));
}
