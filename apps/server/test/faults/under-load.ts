import { setTimeout as sleep } from 'node:timers/promises';
import { type Random, seededRandom } from '@latchkey/test-kit/seeded-random';
import { linkedApplication } from '../http/linked-application.ts';
import type { ServerProcess } from '../http/served-process.ts';
import { Load } from './load.ts';
import { ready } from './server-process.ts';

/** Does something to the database of a service under load, and holds the service to what it acknowledged. */
export async function underLoad(
  server: ServerProcess,
  rounds: number,
  harm: (random: Random) => Promise<void>,
): Promise<void> {
  const random = seededRandom('harm to the database');
  const load = new Load(server, await linkedApplication(server), random);
  for (let round = 0; round < rounds; round++) {
    load.start(8);
    while (load.linked < 10) await sleep(10);
    await sleep(random() * 300);
    await harm(random);
    await ready(server);
    await load.stop();
    await load.verify();
  }
}
