import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { grants } from '@latchkey/store/kinds';
import type { Store } from '@latchkey/store/store';
import { everyOperation, rowsBeside } from '@latchkey/store-suite/every-operation';
import { aPast } from '@latchkey/store-suite/many-grants';
import {
  anAccount,
  anApplication,
  anEndedTry,
  anEndpoint,
  anId,
  anInitiator,
  granted,
} from '@latchkey/store-suite/records';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqliteStore } from '../src/sqlite-store.ts';
import { openSqliteTarget } from '../src/transfer.ts';
import { isOfRows, record, replay, type Sent } from './recorded.ts';

// `statements.test.ts` has the plans of these, and the scans that are one instruction.

const GRANTS = 20_000;
const BESIDE = 200;

// A statement sets up about 100. A row that has 20 columns and is written to seven indexes takes 200.
const most = (rows: number) => 500 + 300 * rows;

/** What only SQLite does in statements of its own. */
async function everyEvent(store: Store): Promise<void> {
  const application = anApplication();
  const { id: application_id } = application;
  await store.createApplication(application);
  const own = anEndpoint({ application_id });
  await store.createEndpoint(own, { most: 9 });
  const { grant } = await granted(store, { application_id });
  const { account, grant_id } = grant;
  const now = Date.now();
  await store.putAccount({ ...account, username: anId() });
  await store.revokeGrant({ grant_id, application_id, now, initiator: anInitiator() });
  await store.setApplicationDisabled(application_id, true, now);
  await store.makeDeliveries(now);
  await store.putAccount({ ...account, username: anId() });
  await granted(store, { application_id, account });
  await store.putAccount(account);
  await store.makeDeliveries(now);
  // What an application is not told any more is dropped at its claim.
  const claim = anId();
  const endpoints = [{ id: own.id, most: 9 }];
  const [claimed] = await store.claimDeliveries({ now: now + 1_000, claim, endpoints });
  await store.endTries([
    anEndedTry({ delivery_id: claimed?.delivery.id ?? '', claim, endpoint_id: own.id }),
  ]);
  for (const status of ['pending', 'delivered', 'dropped'] as const) {
    await store.listDeliveries({ endpoint_id: own.id, status }, { limit: 9, before: null });
  }
  await store.deleteEndpoint(own.id, now);
}

describe('a statement for SQLite', () => {
  let directory: string;
  const prepared = new Set<string>();
  /** The most instructions of each statement, in each of two walks. */
  const walks: Map<string, number>[] = [];
  const excessive: string[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'latchkey-statements-'));
    const path = join(directory, 'latchkey.db');
    const application_id = anId();
    for (const ofAccount of [GRANTS / 4, GRANTS / 2]) {
      const target = await openSqliteTarget(path);
      const mark = (await target.find()) ?? ({ id: anId(), is: 'used' } as const);
      if (walks.length === 0) await target.replace(null, mark);
      const account = anAccount({ username: anId() });
      const past = await aPast(
        { application_id, account },
        { grants: GRANTS, ofAccount },
        (records) => target.write(grants, { records }, mark),
      );
      await target.close();
      const recorded = record((sql) => {
        if (isOfRows(sql)) prepared.add(sql);
      });
      const options = { revokedGrantDays: 1, recordsEvents: true };
      const store = await openSqliteStore({ path, clock: Date.now, ...options });
      await rowsBeside(store, BESIDE);
      const small = [
        'applications',
        'scopes',
        'endpoints',
        'endpoint_owners',
        'deliveries',
        'marks',
      ];
      for (const few of [...small, 'use_mark', 'hour_counts'])
        recorded.database().exec(`DELETE FROM ${few}`);
      recorded.database().exec('PRAGMA wal_checkpoint(TRUNCATE)');
      const copy = join(directory, `copy-${walks.length}.db`);
      await cp(path, copy);
      recorded.statements.length = 0;
      await everyEvent(store);
      await everyOperation(store, past);
      await store.admitEventsKeys({ current: 'b', previous: 'a' });
      // Whether it is refused depends on whether an endpoint is left.
      await store.admitEventsKeys({ current: 'c', previous: null }).catch(() => {});
      await store.close();
      recorded.stop();
      walks.push(check(copy, recorded.statements));
    }
  });
  afterAll(() => rm(directory, { recursive: true }));

  function check(copy: string, statements: readonly Sent[]): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { sql, instructions, rows } of replay(copy, statements)) {
      counts.set(sql, Math.max(counts.get(sql) ?? 0, instructions));
      if (instructions > most(rows)) excessive.push(`${instructions} for ${rows} rows: ${sql}`);
    }
    return counts;
  }

  test('is run by some operation', () => {
    const run = new Set(walks.flatMap((walk) => [...walk.keys()]));
    expect(
      [...prepared].filter((sql) => !run.has(sql)),
      'Let every-operation.ts run the statement',
    ).toEqual([]);
  });

  test('takes the same instructions with twice the grants', () => {
    const [once = new Map(), twice = new Map()] = walks;
    const differ = [...twice].filter(([sql, count]) => count > 1.1 * (once.get(sql) ?? 0) + 10);
    expect(differ.map(([sql, count]) => `${once.get(sql)}, then ${count}: ${sql}`)).toEqual([]);
  });

  test('takes no more than its rows do', () => {
    expect(excessive).toEqual([]);
  });
});
