import { longer } from '@latchkey/test-kit/long';
import { describeOnEachMongodb } from '@latchkey/test-kit/mongodb/describe';
import { isDurableWrite, lookAtOnce } from '@latchkey/test-kit/mongodb/proxy';
import { seededRandom } from '@latchkey/test-kit/seeded-random';
import { onTestFinished, test } from 'vitest';
import { startBehindProxy } from './behind-proxy.ts';
import { Load } from './load.ts';

const CUTS = longer(20, 1_000);

describeOnEachMongodb('under load, with connections that break at random,', (mongodb) => {
  test.each([
    ['without', 'false'],
    ['with', 'true'],
  ])(
    'every code has one grant, every revocation holds, and the answers were true, %s the driver’s own repetition',
    {
      timeout: longer(300_000, 1_800_000),
    },
    async (_, retryWrites) => {
      const service = await startBehindProxy(mongodb, { ...lookAtOnce, retryWrites });
      onTestFinished(() => service.stop());
      const random = seededRandom('connections that break');
      const { proxy, server, linked } = service;
      const load = new Load(server, linked, random);
      const enough = Promise.withResolvers<void>();
      let cuts = 0;
      const late: (() => Promise<void>)[] = [];
      proxy.hold(isDurableWrite, async (held) => {
        if (random() < 0.7) return held.forward();
        if (++cuts === CUTS) enough.resolve();
        const kind = random();
        if (kind < 0.4) await held.execute();
        held.cut();
        // Some of them arrive after all, when the world has gone on.
        if (kind > 0.8) late.push(held.execute);
        if (late.length > 10) await late.shift()?.();
      });
      load.start(8);
      await enough.promise;
      await load.stop();
      proxy.passAll();
      for (const arrive of late) await arrive();
      await load.verify();
    },
  );
});
