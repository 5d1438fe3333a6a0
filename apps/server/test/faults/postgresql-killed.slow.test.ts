import { setTimeout as sleep } from 'node:timers/promises';
import { longer } from '@latchkey/test-kit/long';
import { describeWithPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { Relay } from '@latchkey/test-kit/postgresql/relay';
import { Replication } from '@latchkey/test-kit/postgresql/replication';
import { createDatabase } from '@latchkey/test-kit/postgresql/test-databases';
import { afterAll, beforeAll, test } from 'vitest';
import { startProcess } from './server-process.ts';
import { underLoad } from './under-load.ts';

const ROUNDS = longer(1, 30);
const timeout = longer(600_000, 1_800_000);

describeWithPostgresql('a service outlives a failover, and nothing is lost,', (programs) => {
  let set: Replication;
  let relay: Relay;
  beforeAll(async () => {
    set = await Replication.start(programs, { standbys: 1 });
    relay = await Relay.start(set.url);
  }, timeout);
  afterAll(async () => {
    await relay?.stop();
    await set?.stop();
  });

  const onFresh = async () => startProcess(relay.urlOf(await createDatabase(set.url)));

  test('when the primary is killed', { timeout }, async () => {
    await underLoad(await onFresh(), ROUNDS, async (random) => {
      await set.primary.kill();
      await sleep(random() * 1_000);
      const former = await set.failOver();
      relay.leadTo(set.url);
      await set.follow(former);
    });
  });

  test('when the standby is promoted beside it, and it is asked for a while', {
    timeout,
  }, async () => {
    await underLoad(await onFresh(), ROUNDS, async (random) => {
      const former = await set.failOver();
      await sleep(random() * 2_000);
      if (random() < 0.5) {
        await former.kill();
        await former.restart();
        await sleep(random() * 500);
      }
      relay.leadTo(set.url);
      await set.follow(former);
    });
  });

  test('when the standby is silent, or all are killed', { timeout }, async () => {
    await underLoad(await onFresh(), ROUNDS, async (random) => {
      const [standby] = set.standbys;
      await standby?.pause();
      await sleep(random() * 8_000);
      if (random() < 0.5) {
        await set.primary.kill();
        await set.primary.restart();
      }
      await standby?.resume();
      await set.settled();
    });
  });
});
