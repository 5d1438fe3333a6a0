import { DatabaseSync } from 'node:sqlite';
import type { GrantRecord, PendingRecord } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import { mongoHarness } from '@latchkey/store-mongodb/test/mongo-harness';
import { pathOf } from '@latchkey/store-sqlite/driver';
import { sqliteHarness } from '@latchkey/store-sqlite/test/sqlite-harness';
import { type StoreCall, StoreProcess, together } from '@latchkey/store-suite/child';
import type { StoreHarness, TestDatabase } from '@latchkey/store-suite/harness';
import { fillWithGrants } from '@latchkey/store-suite/many-grants';
import {
  aDeletion,
  aHash,
  aLink,
  anAccount,
  anApplication,
  anId,
  anInitiator,
  aPage,
  aRefusal,
  aScope,
  identified,
  issued,
  newCode,
  present,
  redemptionOf,
} from '@latchkey/store-suite/records';
import { longer, slow } from '@latchkey/test-kit/long';
import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { MongoClient } from 'mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { driverOf } from '../../../src/open-store.ts';

const GRANTS = longer(5_000, 1_000_000);
const NEXT = new URL('./next-version.ts', import.meta.url).href;
const MINUTE = 60_000;

/** Every kind of write and read, each of its own records. */
async function someOfEach(store: Store): Promise<StoreCall[]> {
  const code = await issued(store);
  const { link, page, account } = await identified(store);
  const { grant_id, application_id } = code;
  const application = anApplication({ disabled: true });
  await store.createApplication(application);
  return [
    { method: 'createApplication', args: [anApplication()] },
    { method: 'deleteApplication', args: [aDeletion({ application_id: application.id })] },
    { method: 'putScope', args: [aScope(), { most: 1_000_000 }] },
    { method: 'redeemCode', args: [redemptionOf(code)] },
    { method: 'authenticateGrant', args: [grant_id, { currentAccount: true }] },
    {
      method: 'revokeGrant',
      args: [{ grant_id, application_id, now: Date.now(), initiator: anInitiator() }],
    },
    { method: 'putAccount', args: [anAccount({ id: code.account.id })] },
    { method: 'issueCode', args: [newCode({ ...code, grant_id: anId() })] },
    { method: 'createLink', args: [{ ...aLink(), initiator: anInitiator() }] },
    { method: 'findLink', args: [link.id] },
    {
      method: 'createPage',
      args: [{ ...aPage({ account_id: account.id }), initiator: anInitiator() }],
    },
    { method: 'findPage', args: [page.id] },
    { method: 'listGrants', args: [{ application_id }, { limit: 10, before: null }] },
    { method: 'keepRefusals', args: [[aRefusal()]] },
    { method: 'findRefusals', args: [{ grant_id }, { limit: 5, before: null }] },
    {
      method: 'addToCount',
      args: [{ key: anId(), points: 1, now: Date.now(), duration: 60_000 }],
    },
  ];
}

/** Makes calls in one process until it is told to stop; returns how many, and what was rejected. */
function keepCalling(process: StoreProcess, store: Store) {
  let isStopped = false;
  const rejected: string[] = [];
  let calls = 0;
  const running = (async () => {
    while (!isStopped) {
      const batch = await someOfEach(store);
      await process.load(batch);
      for (const [index, outcome] of (await process.go()).entries()) {
        calls += 1;
        if ('rejected' in outcome) rejected.push(`${batch[index]?.method}: ${outcome.rejected}`);
      }
    }
  })();
  return async () => {
    isStopped = true;
    await running;
    return { calls, rejected };
  };
}

function describeTwoVersions(harness: StoreHarness, notesIn: (url: string) => Promise<number>) {
  test(`an additive migration of ${GRANTS} grants holds up no call of the version before`, {
    ...slow,
    timeout: longer(10 * MINUTE, 60 * MINUTE),
  }, async () => {
    const database = await harness.fresh();
    onTestFinished(() => database.remove());
    const { url } = database;
    await fillWithGrants(await database.openTarget(), GRANTS);
    // This handle is of the version before, too.
    const store = await database.open();
    onTestFinished(() => store.close());
    const processes: StoreProcess[] = [];
    onTestFinished(async () => {
      await Promise.all(processes.map((process) => process.stop()));
    });
    const start = async ({ module }: Pick<TestDatabase, 'module'> = database) => {
      const process = await StoreProcess.start({ ...database, module });
      processes.push(process);
      return process;
    };

    const before = await start();
    const stop = keepCalling(before, store);
    // It migrates before it is ready.
    const next = await start({ module: NEXT });
    const { calls, rejected } = await stop();
    expect(rejected).toEqual([]);
    expect(calls).toBeGreaterThan(0);
    expect(await notesIn(url)).toBeGreaterThanOrEqual(GRANTS);

    // Such as after a crash, or back to the version before.
    const restarted = await start();
    const all = [before, next, restarted];
    for (let round = 0; round < 10; round++) {
      const code = await issued(store);
      const grants = await redeemedBy(all, code);
      expect(present(grants)).toHaveLength(1);
      const { grant_id, application_id } = code;
      await together([all[round % 3] as StoreProcess], () => [
        {
          method: 'revokeGrant',
          args: [{ grant_id, application_id, now: 5, initiator: anInitiator() }],
        },
      ]);
      const found = await together(all, () => [
        { method: 'authenticateGrant', args: [grant_id, { currentAccount: false }] },
      ]);
      for (const [authentication] of found) {
        expect(authentication).toMatchObject({ grant: { revoked_at: 5 }, secret_hash: null });
      }
    }
    // What one version writes, all read.
    for (const [index, process] of all.entries()) {
      const account = anAccount({ username: `of ${index}` });
      await together([process], () => [{ method: 'putAccount', args: [account] }]);
      const read = await together(all, () => [{ method: 'findAccount', args: [account.id] }]);
      expect(read.flat()).toEqual(all.map(() => account));
    }
    // A copy by the version before would lose the notes.
    await expect(driverOf(url).openSource(url)).rejects.toThrow(
      'Copy it with the newer version of Latchkey.',
    );
  });
}

async function redeemedBy(processes: StoreProcess[], code: PendingRecord) {
  const outcomes = await together(processes, () =>
    Array.from({ length: 4 }, () => ({
      method: 'redeemCode',
      args: [redemptionOf(code, { secret_hash: aHash() })],
    })),
  );
  return outcomes.flat() as (GrantRecord | null)[];
}

describe('two versions at once on SQLite', () => {
  describeTwoVersions(sqliteHarness, async (url) => {
    const database = new DatabaseSync(pathOf(url), { readOnly: true });
    const found = database.prepare("SELECT count(*) AS notes FROM grants WHERE note = 'new'").get();
    database.close();
    return Number(found?.notes);
  });
});

describeOnMongodb('two versions at once', (server) => {
  describeTwoVersions(mongoHarness(server), async (url) => {
    const client = await new MongoClient(url).connect();
    const notes = await client.db().collection('grants').countDocuments({ note: 'new' });
    await client.close();
    return notes;
  });
});
