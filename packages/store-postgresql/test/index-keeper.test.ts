import { defaultTimeouts } from '@latchkey/store/server-store';
import { describeOnEachPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { createDatabase, dropDatabase } from '@latchkey/test-kit/postgresql/test-databases';
import { Client } from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Database, type Send } from '../src/database.ts';
import { type KeptIndex, keepIndexes, missingIndexes } from '../src/index-keeper.ts';

const indexes: KeptIndex[] = [
  {
    name: 'things_by_number',
    table: 'things',
    text: 'CREATE INDEX CONCURRENTLY IF NOT EXISTS things_by_number ON things (number);',
  },
];

const patient = { timeout: 60_000 };

describeOnEachPostgresql('the index keeper', (server) => {
  let url: string;
  let database: Database;
  let end: (() => Promise<void>) | undefined;
  const errors: unknown[] = [];
  const start = (send: Send = database.send.bind(database)) => {
    const onError = (error: unknown) => void errors.push(error);
    end = keepIndexes(send, indexes, { interval: 20, onError });
  };
  const missing = () => missingIndexes(database.send.bind(database), indexes);

  beforeEach(async () => {
    errors.length = 0;
    url = await createDatabase(server);
    database = new Database(url, defaultTimeouts);
    await database.send('CREATE TABLE things AS SELECT generate_series(1, 1000) AS number');
  });
  afterEach(async () => {
    await end?.();
    await database.close();
    await dropDatabase(url);
  });

  const built = () =>
    vi.waitFor(
      async () => expect(await database.send(STATES)).toEqual([{ isValid: true }]),
      patient,
    );

  test('builds what is missing, again after it was dropped, and tells nothing', async () => {
    expect(await missing()).toMatchObject([{ name: 'things_by_number', isInvalid: false }]);
    // That of another table is none of this one.
    await database.send('CREATE TABLE others AS TABLE things');
    await database.send('CREATE INDEX things_by_number ON others (number)');
    expect(await missing()).toMatchObject([{ name: 'things_by_number', isInvalid: false }]);
    await database.send('DROP TABLE others');
    start();
    await built();
    await database.send('DROP INDEX things_by_number');
    await built();
    expect(errors).toEqual([]);
  });

  test('builds again what was interrupted', async () => {
    const builder = new Client({ connectionString: url });
    builder.on('error', () => undefined);
    await builder.connect();
    const reader = await new Client({ connectionString: url }).connect();
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await reader.query('SELECT 1');
    const text = indexes[0]?.text ?? '';
    // It waits for the older transaction.
    const interrupted = expect(builder.query(text)).rejects.toThrow();
    await vi.waitFor(async () => {
      expect(await database.send(STATES)).toEqual([{ isValid: false }]);
      // As long as it is being built, it is left alone.
      expect(await missing()).toEqual([]);
    }, patient);
    await database.send(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONC%'`,
    );
    await interrupted;
    await reader.query('COMMIT');
    await reader.end();
    await vi.waitFor(
      async () => expect(await missing()).toMatchObject([{ isInvalid: true }]),
      patient,
    );
    start();
    await built();
    expect(errors).toEqual([]);
  });

  test('tells once what its user may not do, with the statement to run', async () => {
    start((text, values) => {
      const asReader = text.startsWith('CREATE') ? text.replace('things (', 'pg_class (') : text;
      return database.send(asReader, values);
    });
    await vi.waitFor(() => expect(errors).toHaveLength(1), patient);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(errors).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(
          /^The index things_by_number is missing.*run in psql: CREATE/,
        ),
      }),
    ]);
  });
});

const STATES = `SELECT indisvalid AS "isValid" FROM pg_index WHERE indrelid = 'things'::regclass`;
