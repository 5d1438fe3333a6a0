import { issued } from '@latchkey/store-suite/records';
import { describeOnPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { openPostgresqlStore } from '../src/postgresql-store.ts';
import { newDatabaseOn } from './postgresql-harness.ts';

describeOnPostgresql('a sweep', (server) => {
  test('passes over what another transaction has locked, and leaves it if that has kept it', async () => {
    const url = await newDatabaseOn(server);
    const store = await openPostgresqlStore({ url, clock: Date.now });
    const past = Date.now() - 60_000;
    const kept = await issued(store, { code_expires_at: past });
    const expired = await issued(store, { code_expires_at: past });
    // A redemption that began before the code expired.
    const redemption = new Client({ connectionString: url });
    await redemption.connect();
    await redemption.query('BEGIN');
    await redemption.query('UPDATE grants SET code_expires_at = NULL WHERE id = $1', [
      kept.grant_id,
    ]);

    const sweep = store.housekeeping.find(({ name }) => name === 'expired');
    await sweep?.step(Date.now(), 100);
    expect(await store.findCode(expired.grant_id)).toBeNull();
    await redemption.query('COMMIT');
    await sweep?.step(Date.now(), 100);
    expect(await store.findCode(kept.grant_id)).not.toBeNull();
    await Promise.all([redemption.end(), store.close()]);
  });
});
