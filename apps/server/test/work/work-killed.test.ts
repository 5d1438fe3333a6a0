import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { WORK_STEPS, type Work, type WorkKind, workKinds } from '@latchkey/store/endings';
import type { Store } from '@latchkey/store/store';
import { aCode, anApplication, newCode, redemptionOf } from '@latchkey/store-suite/records';
import { isLong, runsAll } from '@latchkey/test-kit/long';
import { nodeArgumentsFor } from '@latchkey/test-kit/mongodb/test-databases';
import { expect, test, vi } from 'vitest';
import { driverOf } from '../../src/open-store.ts';
import { startProcess } from '../faults/server-process.ts';
import { NODE_COMPILE_CACHE } from '../http/command-process.ts';
import { describeOnEachStore, type TestDatabase } from '../http/databases.ts';
import type { Death } from './killed-process.ts';

const SCRIPT = fileURLToPath(new URL('./killed-process.ts', import.meta.url));

const MOMENTS = ['before', 'during', 'after'] as const;

/** An account with an application: two grants, and a code that is pending. */
async function link(store: Store) {
  const application = anApplication();
  const code = aCode({ application_id: application.id });
  const account = { ...code.account, username: 'quicksilver', display_name: 'Quicksilver' };
  await store.createApplication(application);
  await store.putAccount(account);
  async function issue() {
    const { revocations } = (await store.findApplication(application.id)) ?? application;
    const next = aCode({ application_id: application.id, account });
    const numbered = { ...newCode(next), application_revocations: revocations };
    if ((await store.issueCode(numbered)) === null) return null;
    return redemptionOf(next, { now: Date.now() });
  }
  async function convert() {
    const redemption = await issue();
    return redemption && store.redeemCode(redemption);
  }
  const grants = [await convert(), await convert()].map((grant) => grant?.grant_id ?? '');
  const code_before = await issue();
  return { application_id: application.id, account_id: account.id, grants, code_before, convert };
}

type Linked = Awaited<ReturnType<typeof link>>;

type Target = (linked: Linked) => Pick<Death, 'operation' | 'input'>;

/** What begins work of each kind. */
const targets: Record<WorkKind, readonly Target[]> = {
  erasure: [({ account_id }) => ({ operation: 'admin.accounts.erase', input: { account_id } })],
  deletion: [
    ({ application_id }) => ({ operation: 'admin.applications.delete', input: { application_id } }),
  ],
  revocation: [
    ({ account_id }) => ({ operation: 'admin.grants.revokeAll', input: { account_id } }),
    ({ application_id }) => ({ operation: 'admin.grants.revokeAll', input: { application_id } }),
    ({ account_id, application_id }) => ({
      ...{ operation: 'admin.connections.revoke', input: { account_id, application_id } },
    }),
  ],
};

/**
 * Each step of each kind, and the note of the end. Every day, one of the targets, and one of the moments of each. On
 * a server, all moments are for the night: one of each takes a third of their time.
 */
function deathsOn({ system }: TestDatabase) {
  const all = system === 'sqlite' ? runsAll : isLong;
  return workKinds.flatMap((kind) =>
    targets[kind].slice(0, runsAll ? undefined : 1).flatMap((target, index) =>
      [...WORK_STEPS[kind], 'finish'].flatMap((_, at) =>
        MOMENTS.filter((_, turn) => all || turn === (at + index) % MOMENTS.length).map(
          (moment) => ({
            ...{ kind, target, at, moment },
            // One of each kind dies with its lease.
            lingers: at === 1 && target === targets[kind][0] ? 1_500 : 0,
          }),
        ),
      ),
    ),
  );
}

async function dieAt(database: TestDatabase, death: Death): Promise<void> {
  const child = fork(SCRIPT, {
    execArgv: nodeArgumentsFor(database.url),
    env: {
      ...{ ...process.env, NODE_COMPILE_CACHE, DATABASE_URL: database.url },
      DEATH: JSON.stringify(death),
    },
  });
  const [, signal] = await once(child, 'exit');
  expect([death, signal]).toEqual([death, 'SIGKILL']);
}

describeOnEachStore('a process that is killed at a step of its work', (fresh) => {
  test('leaves what the next one finishes within 60 s, and what it has promised holds', {
    timeout: 600_000,
  }, async () => {
    const database = await fresh();
    const store = await driverOf(database.url).open(database.url, { clock: Date.now });
    const stays = await link(store);
    const left: { linked: Linked; work: Work | undefined; later: string | undefined }[] = [];
    for (const { target, ...death } of deathsOn(database)) {
      const linked = await link(store);
      const { application_id } = linked;
      if (death.kind === 'deletion') {
        await store.setApplicationDisabled(application_id, true, Date.now());
      }
      await dieAt(database, { ...death, ...target(linked) });
      const works = await store.listWork(1_000);
      const { account_id } = linked;
      const work = works.find(
        (one) => one.account_id === account_id || one.application_id === application_id,
      );
      // Only the note of the end takes it off the list.
      if (work === undefined) {
        expect([WORK_STEPS[death.kind].length, death.moment !== 'before']).toEqual([
          death.at,
          true,
        ]);
      }
      const later = death.kind === 'revocation' ? (await linked.convert())?.grant_id : undefined;
      left.push({ linked, work, later });
    }

    const isLive = async (grant_id = '') =>
      (await store.findGrantHistory(grant_id))?.revoked_at === null;
    async function holds(): Promise<void> {
      for (const { linked, later } of left) {
        expect(await Promise.all(linked.grants.map(isLive))).toEqual([false, false]);
        expect(linked.code_before && (await store.redeemCode(linked.code_before))).toBe(null);
        if (later !== undefined) expect(await isLive(later)).toBe(true);
      }
      expect(await Promise.all(stays.grants.map(isLive))).toEqual([true, true]);
    }
    await holds();

    await startProcess(database.url);
    await vi.waitFor(async () => expect(await store.listWork(1)).toEqual([]), {
      ...{ timeout: 60_000, interval: 200 },
    });
    await holds();
    for (const { work } of left) {
      for (const step of work === undefined ? [] : WORK_STEPS[work.kind]) {
        const done = await store.doStep(work as Work, step, 100);
        expect([work, step, done]).toEqual([
          ...[work, step, expect.objectContaining({ isOver: true, changed: 0 })],
        ]);
      }
    }
    await store.close();
    await database.remove();
  });
});
