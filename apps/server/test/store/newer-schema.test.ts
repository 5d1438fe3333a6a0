import { DatabaseSync } from 'node:sqlite';
import * as kinds from '@latchkey/store/kinds';
import { mongoHarness } from '@latchkey/store-mongodb/test/mongo-harness';
import { postgresqlHarness } from '@latchkey/store-postgresql/test/postgresql-harness';
import { pathOf } from '@latchkey/store-sqlite/driver';
import { sqliteHarness } from '@latchkey/store-sqlite/test/sqlite-harness';
import { everyOperation, type OpenStore } from '@latchkey/store-suite/every-operation';
import type { StoreHarness } from '@latchkey/store-suite/harness';
import { anId, issued, redemptionOf } from '@latchkey/store-suite/records';
import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { describeOnPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { query } from '@latchkey/test-kit/postgresql/query';
import { MongoClient } from 'mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { driverOf } from '../../src/open-store.ts';

// A program of the first version must be able to live beside the next one, which may add to what is there.

const names = Object.values(kinds).map(({ name }) => name);

/** @param addNotes - adds to every record, and says that programs of this version can live with it */
function describeNewer(harness: StoreHarness, addNotes: (url: string) => Promise<void>) {
  test('that only adds: every operation works, a code once, and a copy is refused', async () => {
    const database = await harness.fresh();
    onTestFinished(() => database.remove());
    const store = await database.open();
    onTestFinished(() => store.close());
    const code = await issued(store);
    await addNotes(database.url);

    // Such as after a crash.
    const again = await database.open();
    onTestFinished(() => again.close());
    const outcomes = await Promise.all(
      [store, again].map((one) => one.redeemCode(redemptionOf(code))),
    );
    expect(outcomes.filter((grant) => grant !== null)).toHaveLength(1);
    const { application_id, account } = code;
    await everyOperation(again as unknown as OpenStore, {
      application_id,
      account,
      before: anId(),
    });
    // It would lack what was added.
    await expect(driverOf(database.url).openSource(database.url)).rejects.toThrow(
      'Copy it with the newer version of Latchkey.',
    );
  });
}

describe('a newer schema on SQLite', () => {
  describeNewer(sqliteHarness, async (url) => {
    const database = new DatabaseSync(pathOf(url));
    for (const table of names) {
      database.exec(`ALTER TABLE ${table} ADD COLUMN note TEXT NOT NULL DEFAULT 'new'`);
    }
    database.exec('CREATE TABLE notes (id BLOB PRIMARY KEY, note TEXT NOT NULL) STRICT');
    database.exec('UPDATE schema_version SET version = 2; PRAGMA user_version = 2');
    database.close();
  });
});

describeOnMongodb('a newer schema', (server) => {
  describeNewer(mongoHarness(server), async (url) => {
    const client = await new MongoClient(url).connect();
    const db = client.db();
    for (const name of names) await db.collection(name).updateMany({}, { $set: { note: 'new' } });
    await db.collection('schema').updateOne({}, { $set: { version: 2 } });
    await client.close();
  });
});

describeOnPostgresql('a newer schema', (server) => {
  describeNewer(postgresqlHarness(server), async (url) => {
    for (const table of names) {
      await query(url, `ALTER TABLE ${table} ADD COLUMN note text NOT NULL DEFAULT 'new'`);
    }
    await query(url, 'UPDATE schema_version SET version = 2');
  });
});
