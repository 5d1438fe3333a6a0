import { everyOperation } from '@latchkey/store-suite/every-operation';
import { anAccount, anId, atOnce } from '@latchkey/store-suite/records';
import { describeWithPooler } from '@latchkey/test-kit/postgresql/describe';
import { behindPooler, SESSIONS } from '@latchkey/test-kit/postgresql/pooler';
import { createDatabase, dropDatabase, urlOf } from '@latchkey/test-kit/postgresql/test-databases';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { openPostgresqlStore } from '../src/postgresql-store.ts';

/** What somebody else who gets the session would notice. PgBouncer itself sets what a client asks for at its start. */
const LEFT = `
  SELECT name FROM pg_settings WHERE source = 'session' AND name NOT IN
    ('application_name', 'client_encoding', 'DateStyle', 'IntervalStyle', 'standard_conforming_strings', 'TimeZone')
  UNION ALL SELECT name FROM pg_prepared_statements
  UNION ALL SELECT name FROM pg_cursors WHERE is_holdable
  UNION ALL SELECT channel FROM pg_listening_channels() AS channel
  UNION ALL SELECT 'lock ' || objid FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
  UNION ALL SELECT relname FROM pg_class WHERE relpersistence = 't'`;

describeWithPooler('a pooler in transaction mode', (server) => {
  test('passes on each operation, and finds nothing left in a session', async () => {
    const pooler = await behindPooler({ url: server, stop: async () => undefined });
    onTestFinished(() => pooler.stop());
    const direct = await createDatabase(server);
    onTestFinished(() => dropDatabase(direct));
    const url = urlOf(pooler.url, new URL(direct).pathname.slice(1));

    await atOnce(2, async () => {
      const options = { revokedGrantDays: 1, recordsEvents: true };
      const store = await openPostgresqlStore({ url, clock: Date.now, ...options });
      const account = anAccount({ username: anId() });
      await everyOperation(store, { application_id: anId(), account, before: anId() });
      await store.close();
    });

    const clients = await atOnce(SESSIONS, () => new Client(url).connect());
    // Each transaction has a session for itself.
    await Promise.all(clients.map((client) => client.query('BEGIN')));
    const found = await Promise.all(
      clients.map(async (client) => {
        const { rows } = await client.query(
          `SELECT pg_backend_pid() AS pid, ARRAY(${LEFT}) AS left`,
        );
        return rows[0];
      }),
    );
    await Promise.all(clients.map((client) => client.end()));
    expect(new Set(found.map(({ pid }) => pid)).size).toBe(SESSIONS);
    expect(found.flatMap(({ left }) => left)).toEqual([]);
  });
});
