import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { send } from './call.ts';
import { describeOnEachStore, type TestDatabase } from './databases.ts';
import { launchServer, listening } from './served-process.ts';

// So that a half is more than comes while the processes hear of each other.
const LIMIT = 200;

async function startServer({ url }: TestDatabase) {
  const environment = { LOG_LEVEL: 'silent', RATE_LIMIT: `authentications=${LIMIT}/3600` };
  const process = launchServer(url, { environment });
  const address = await listening(process);
  const request = { method: 'GET', path: '/v1/account', authorization: 'x' };
  return {
    kill: () => process.kill('SIGKILL'),
    ended: process.ended,
    async fail() {
      return (await send({ url: address }, request)).status;
    },
    /** Fails now and then until it is refused; returns how often that was told as a failure. */
    async failUntilRefused() {
      let failures = 0;
      while ((await this.fail()) !== 429) {
        failures += 1;
        await setTimeout(100);
      }
      return failures;
    },
  };
}

describeOnEachStore('the processes on one store', (fresh) => {
  test('share their counts, and a new one knows what a killed one counted', {
    timeout: 120_000,
  }, async () => {
    const database = await fresh();
    const [one, other] = [await startServer(database), await startServer(database)];
    for (let i = 0; i < LIMIT / 2; i++) {
      expect([await one.fail(), await other.fail()]).toEqual([401, 401]);
    }
    // Each has counted a half, and what it hears of the other is the rest.
    expect(await one.failUntilRefused()).toBeLessThan(LIMIT / 2);
    expect(await other.failUntilRefused()).toBeLessThan(LIMIT / 2);

    for (const server of [one, other]) server.kill();
    await Promise.all([one.ended, other.ended]);
    const next = await startServer(database);
    expect(await next.failUntilRefused()).toBeLessThan(LIMIT / 2);
    next.kill();
    await next.ended;
    await database.remove();
  });
});
