import { hashCredential, newId } from '@latchkey/domain/credentials/credentials';
import { authenticateGrant } from '@latchkey/rules/grants/authenticate-grant';
import type { Service } from '@latchkey/rules/service';
import { formatCredential } from '@latchkey/schema';
import {
  aCode,
  anApplication,
  anInitiator,
  newCode,
  redemptionOf,
} from '@latchkey/store-suite/records';
import { longer } from '@latchkey/test-kit/long';
import { seededRandom } from '@latchkey/test-kit/seeded-random';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { closeService, openService } from '../../src/open-service.ts';
import { describeOnEachStore, type FreshDatabase } from '../http/databases.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A process whose clock may be wrong. Its monotonic clock counts the true time. */
interface Process {
  service: Service;
  warnings: string[];
  /** By how much its clock is wrong. */
  error: number;
}

describeOnEachStore('the clocks of processes that end idle grants', (fresh) => {
  /** Processes on a database of their own, and the true time. */
  async function world(from: FreshDatabase) {
    const database = await from();
    const running = new Set<Service>();
    onTestFinished(async () => {
      for (const service of running) await closeService(service);
      await database.remove();
    });
    const truth = { now: Date.now() };

    async function start(error = 0): Promise<Process> {
      const warnings: string[] = [];
      const log = pino(
        { level: 'warn' },
        {
          write: (line) => void (line.includes('the clock needs attention') && warnings.push(line)),
        },
      );
      const process = { warnings, error } as Process;
      process.service = await openService(database.url, log, {
        clock: () => truth.now + process.error,
        monotonic: () => truth.now,
      });
      running.add(process.service);
      // A part is made at its first use, which `serve` makes at its start: from then on it knows a jump.
      process.service.idleGrants.timeOfUse();
      return process;
    }
    async function stop({ service }: Process) {
      running.delete(service);
      await closeService(service);
    }
    return { truth, start, stop };
  }

  /** A grant of an application, made by a process. */
  async function link({ service }: Process, idle_days: number) {
    const { store, clock, idleGrants } = service;
    const application = anApplication({ idle_days });
    await store.createApplication(application);
    const code = aCode({
      ...{ grant_id: newId(clock()), application_id: application.id },
      code_expires_at: clock() + 300_000,
    });
    const credential = formatCredential('grantSecret', code.grant_id, new Uint8Array(32));
    await store.putAccount(code.account);
    await store.issueCode(newCode(code));
    const secret_hash = hashCredential(credential);
    await store.redeemCode(redemptionOf(code, { secret_hash, now: clock() }));
    // As it does by itself every half an hour.
    await idleGrants.end();
    return { credential, grant_id: code.grant_id };
  }
  async function use({ service }: Process, { credential }: { credential: string }) {
    const options = { grant_id: null, currentAccount: false };
    try {
      await authenticateGrant(service, credential, options, anInitiator());
      return 'accepted';
    } catch {
      return 'refused';
    }
  }
  const isRevoked = async ({ service }: Process, { grant_id }: { grant_id: string }) =>
    (await service.store.findGrantHistory(grant_id))?.revoked_at !== null;

  test('a clock that is ahead refuses, and ends nothing', async () => {
    const { truth, start } = await world(fresh);
    const right = await start();
    const grant = await link(right, 1);
    const wrong = await start(400 * DAY);
    await wrong.service.idleGrants.end();
    for (let day = 0; day < 2; day += 1) {
      expect(await use(wrong, grant)).toBe('refused');
      await wrong.service.idleGrants.end();
      expect(await use(right, grant)).toBe('accepted');
      truth.now += DAY;
    }
    // It ends what is idle by the true time that has passed.
    truth.now += 2 * DAY;
    await wrong.service.idleGrants.end();
    expect(await isRevoked(right, grant)).toBe(true);
  });

  test('a clock that is behind ends nothing', async () => {
    const { truth, start } = await world(fresh);
    const right = await start();
    const grant = await link(right, 1);
    const behind = await start(-30 * 60_000);
    await behind.service.idleGrants.end();
    truth.now += 2 * DAY + 10 * 60_000;
    await behind.service.idleGrants.end();
    expect(await isRevoked(right, grant)).toBe(false);
    await right.service.idleGrants.end();
    expect(await isRevoked(right, grant)).toBe(true);
  });

  test.each([2 * HOUR, -2 * HOUR])(
    'a jump by %d ms is a warning, and a day without an end',
    async (jump) => {
      const { truth, start } = await world(fresh);
      const one = await start();
      const grant = await link(one, 1);
      await one.service.idleGrants.end();
      truth.now += 5 * DAY;
      one.error = jump;
      await one.service.idleGrants.end();
      expect(one.warnings.join('')).toContain(`The clock jumped by ${jump / 1_000} s.`);
      truth.now += DAY - 1;
      await one.service.idleGrants.end();
      expect(await isRevoked(one, grant)).toBe(false);
      truth.now += 1;
      await one.service.idleGrants.end();
      expect(await isRevoked(one, grant)).toBe(true);
      expect(one.warnings).toHaveLength(1);
    },
  );

  test('what was late for a process at its start waits for its own time', async () => {
    const { truth, start, stop } = await world(fresh);
    const first = await start();
    const grant = await link(first, 1);
    await stop(first);
    truth.now += 100 * DAY;
    const next = await start();
    // No record says that this much time has passed.
    await next.service.idleGrants.end();
    expect(await use(next, grant)).toBe('refused');
    expect(await isRevoked(next, grant)).toBe(false);
    await stop(next);
    const later = await start();
    await link(later, 1);
    await stop(later);
    const last = await start();
    await last.service.idleGrants.end();
    expect(await isRevoked(last, grant)).toBe(true);
  });

  test('a grant that is used at least every idle_days never ends by itself', async () => {
    const random = seededRandom('uses of a grant while clocks jump');
    const { truth, start, stop } = await world(fresh);
    const steady = await start();
    let jumping = await start();
    const idle_days = 2;
    const grant = await link(steady, idle_days);
    const errors = [0, -40 * DAY, 40 * DAY, -5 * DAY, 5 * DAY, 30 * 60_000];
    for (let step = 0; step < longer(60, 2_000); step += 1) {
      truth.now += Math.floor(random() * idle_days * DAY);
      jumping.error = errors[Math.floor(random() * errors.length)] ?? 0;
      if (random() < 0.2) {
        await stop(jumping);
        jumping = await start();
      }
      await Promise.all([steady.service.idleGrants.end(), jumping.service.idleGrants.end()]);
      // Whichever process the request comes to. A wrong clock may refuse it, and the right one does not.
      const uses = random() < 0.5 ? [jumping, steady] : [steady, jumping];
      const [first, second] = uses as [Process, Process];
      if ((await use(first, grant)) === 'refused') {
        expect(first).toBe(jumping);
        expect(await use(second, grant)).toBe('accepted');
      }
    }
    expect(await isRevoked(steady, grant)).toBe(false);
  });
});
