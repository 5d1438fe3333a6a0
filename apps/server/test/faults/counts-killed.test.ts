import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { longer } from '@latchkey/test-kit/long';
import { nodeArgumentsFor } from '@latchkey/test-kit/mongodb/test-databases';
import { expect, test } from 'vitest';
import { driverOf } from '../../src/open-store.ts';
import { NODE_COMPILE_CACHE } from '../http/command-process.ts';
import { describeOnEachStore } from '../http/databases.ts';

const SCRIPT = fileURLToPath(new URL('./counting-process.ts', import.meta.url));
const HOUR = 3_600_000;

describeOnEachStore('a process that is killed', (fresh) => {
  test('loses of its counts only what it had not written yet', async () => {
    const database = await fresh();
    const store = await driverOf(database.url).open(database.url, { clock: Date.now });
    const sum = async () => {
      const hours = await store.listCounts({ since: 0, until: Date.now() + HOUR });
      return hours.reduce((all, { counts }) => all + (counts['grants:created'] ?? 0), 0);
    };
    for (let round = 0; round < longer(1, 20); round += 1) {
      const before = await sum();
      const child = fork(SCRIPT, {
        execArgv: nodeArgumentsFor(database.url),
        env: { ...process.env, NODE_COMPILE_CACHE, DATABASE_URL: database.url },
      });
      const [written] = await once(child, 'message');
      // It counts and writes on, fewer than as many again: a count written twice makes it more.
      await sleep(Math.random() * 200);
      child.kill('SIGKILL');
      await once(child, 'exit');
      const found = (await sum()) - before;
      expect(found).toBeGreaterThanOrEqual(written);
      expect(found).toBeLessThan(2 * written);
    }
    await store.close();
    await database.remove();
  });
});
