import { StoreProcess } from '@latchkey/store-suite/child';
import { describeFaults, type FaultyDatabase, faultsOf } from '@latchkey/store-suite/faults';
import { authenticated, granted, issued, redemptionOf } from '@latchkey/store-suite/records';
import { describeOnPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { type HeldStatement, Relay } from '@latchkey/test-kit/postgresql/relay';
import { createDatabase, dropDatabase } from '@latchkey/test-kit/postgresql/test-databases';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { openPostgresqlStore } from '../../src/postgresql-store.ts';
import { newDatabaseOn, waiting } from '../postgresql-harness.ts';

const module = new URL('../../src/driver.ts', import.meta.url).href;

const isWrite = /INSERT INTO|UPDATE \w+ own SET|DELETE FROM/;
const isStatement = /SELECT/;

async function faultyDatabase(server: string): Promise<FaultyDatabase> {
  const url = await createDatabase(server);
  const relay = await Relay.start(url);
  const options = { clock: Date.now, recordsEvents: true };
  const through = relay.urlOf(url);
  const witness = await openPostgresqlStore({ url, ...options });
  const store = await openPostgresqlStore({ url: through, ...options });

  return {
    ...{ store, witness },
    ...faultsOf({
      hold: (matches, handle: (held: HeldStatement) => void) => relay.hold(matches, handle),
      passAll: () => relay.passAll(),
      matches: {
        all: (text: string) => isStatement.test(text),
        writes: (text: string) => isWrite.test(text),
      },
      end(statement, how) {
        if (how === 'pooled') statement.fail();
        else if (how === 'late') statement.cut();
        else statement.drop();
      },
      start: () => StoreProcess.start({ module, url: through }),
    }),
    refuse: async () => relay.refuse(),
    restore: async () => relay.restore(),
    async remove() {
      await Promise.all([store.close(), witness.close()]);
      await relay.stop();
      await dropDatabase(url);
    },
  };
}

describeOnPostgresql('a statement that is lost', (server) => {
  describeFaults({
    fresh: () => faultyDatabase(server),
    losses: ['late', 'after', 'pooled'],
    isRemote: true,
    kills: [1, 8],
    file: '../faults.txt',
  });

  // By hand: a lock is neither lost nor late. Whoever looks for the outcome waits behind it.
  test('while it waits for a lock loses no redemption, and holds up nobody else', async () => {
    const url = await newDatabaseOn(server);
    const relay = await Relay.start(url);
    onTestFinished(() => relay.stop());
    const store = await openPostgresqlStore({ url: relay.urlOf(url), clock: Date.now });
    onTestFinished(() => store.close());
    const [{ grant }, code] = [await granted(store), await issued(store)];
    const holder = await new Client(url).connect();
    await holder.query('BEGIN; SELECT FROM grants FOR UPDATE');
    const redeeming = store.redeemCode(redemptionOf(code));
    await waiting(url, 1);
    relay.cut();
    await waiting(url, 2);
    expect(await authenticated(store, grant.grant_id)).toBeTruthy();
    await holder.query('ROLLBACK');
    await holder.end();
    expect(await redeeming).toMatchObject({ grant_id: code.grant_id });
  });
});
