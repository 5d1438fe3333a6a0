import type { Store } from '@latchkey/store/store';
import { anInitiator, granted } from '@latchkey/store-suite/records';
import { describeWithMongod } from '@latchkey/test-kit/mongodb/describe';
import { ReplicaSet } from '@latchkey/test-kit/mongodb/replica-set';
import { freshName, urlOf } from '@latchkey/test-kit/mongodb/test-databases';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { Database } from '../src/database.ts';
import { openMongoStore } from '../src/mongo-store.ts';

const GRANTS = 8;

describeWithMongod('a primary that has not noticed that another was elected,', (mongod) => {
  let set: ReplicaSet;
  beforeEach(async () => {
    set = await ReplicaSet.start(mongod, { members: 3 });
  });
  afterEach(() => set.stop());

  async function open(url: string): Promise<Store> {
    const store = await openMongoStore({ url, clock: Date.now });
    onTestFinished(() => store.close());
    return store;
  }

  /** Asks the old primary about grants that the new one has revoked: how many it takes for active. */
  async function activeOnTheOldPrimary(): Promise<number> {
    const old = await set.primary();
    const database = freshName();
    const onOld = await open(`mongodb://${old.address}/${database}?directConnection=true`);
    const grants = await Promise.all(Array.from({ length: GRANTS }, () => granted(onOld)));
    const ids = grants.map(({ grant }) => grant.grant_id);
    const ask = () =>
      Promise.allSettled(ids.map((id) => onOld.authenticateGrant(id, { currentAccount: false })));
    await ask();
    await set.settled();
    await old.command({ configureFailPoint: 'blockHeartbeatStepdown', mode: 'alwaysOn' });
    await old.pause();
    await set.primary();
    const onNew = await open(urlOf(set.url, database));
    const revocations = ids.map((grant_id) =>
      onNew.revokeGrant({
        grant_id,
        application_id: null,
        now: Date.now(),
        initiator: anInitiator(),
      }),
    );
    for (const revoked of await Promise.all(revocations)) expect(revoked).not.toBeNull();
    const asked = ask();
    await old.resume();
    const answers = await asked;
    await old.command({ configureFailPoint: 'blockHeartbeatStepdown', mode: 'off' });
    return answers.filter(
      (answer) => answer.status === 'fulfilled' && answer.value?.secret_hash !== null,
    ).length;
  }

  test('accepts no grant that the other has revoked', async () => {
    expect(await activeOnTheOldPrimary()).toBe(0);
  });

  test('would accept them without a fence', async () => {
    const spy = vi.spyOn(Database.prototype, 'decide').mockImplementation(function (
      this: Database,
      work,
    ) {
      return this.read((database) => work({ ...database, decisive: database.listing }));
    });
    onTestFinished(() => spy.mockRestore());
    expect(await activeOnTheOldPrimary()).toBe(GRANTS);
  });
});
