import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { send } from './call.ts';
import { describeOnEachStore, type TestDatabase } from './databases.ts';
import { launchServer, listening } from './served-process.ts';

// Half of the limit is more than the requests that arrive before the processes share their counts.
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
    /** Fails every 100 ms until the limit refuses. Returns how many failures the limit allowed. */
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

describeOnEachStore('processes on one store', (fresh) => {
  test('share their counts, and a new process knows the counts of a killed one', async () => {
    const database = await fresh();
    const [one, other] = [await startServer(database), await startServer(database)];
    for (let i = 0; i < LIMIT / 2; i++) {
      expect([await one.fail(), await other.fail()]).toEqual([401, 401]);
    }
    // Each has counted half and learns the other half from the store.
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
