import { fileURLToPath } from 'node:url';
import { longer } from '@latchkey/test-kit/long';
import { expect, test } from 'vitest';
import { invoke, type Json } from '../http/call.ts';
import { describeOnEachMongodb } from '../http/databases.ts';
import { isDurableWrite, lookAtOnce, startBehindProxy, urlThrough } from './behind-proxy.ts';
import { ready, startProcess } from './server-process.ts';

const WARM_UP = 20;
const CUTS = longer(40, 3_000);

describeOnEachMongodb('connections that break,', (mongodb) => {
  test('leave nothing behind in the process', {
    timeout: longer(120_000, 1_800_000),
  }, async () => {
    const service = await startBehindProxy(mongodb);
    const { proxy, linked } = service;
    const server = await startProcess(
      urlThrough(proxy, service.url, { ...lookAtOnce, retryWrites: 'false' }),
      {
        NODE_OPTIONS: `--import=${fileURLToPath(new URL('./census.ts', import.meta.url))}`,
        NODE_NO_WARNINGS: '1',
      },
    );

    async function census(): Promise<Json> {
      const before = server.run.stdout.length;
      server.kill('SIGUSR2');
      await server.printed(new RegExp(`^[^]{${before}}[^]*\\n`));
      return JSON.parse(server.run.stdout.slice(before).replace('census ', ''));
    }

    async function cut(times: number) {
      for (let round = 0; round < times; round++) {
        const { code } = await linked.issue();
        const holding = proxy.holdNext(isDurableWrite);
        const converting = invoke(server, 'REST', 'grants.convert', { code }, linked.bearer);
        const held = await holding;
        if (round % 2 === 0) await held.execute();
        held.cut();
        expect((await converting).status).toBe(200);
      }
      await ready(server);
    }

    await cut(WARM_UP);
    const before = await census();
    await cut(CUTS);
    // Whatever is left of each of them would be there as often as there were cuts, and would stay.
    const grown = async () => {
      const after = await census();
      return Object.keys(before).filter((kind) => after[kind] - before[kind] >= CUTS / 2);
    };
    await expect.poll(grown).toEqual([]);
    await service.stop();
  });
});
