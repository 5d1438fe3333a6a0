import { fileURLToPath } from 'node:url';
import { longer } from '@latchkey/test-kit/long';
import { describeOnLargestMongodb } from '@latchkey/test-kit/mongodb/describe';
import { isDurableWrite, lookAtOnce, urlThrough } from '@latchkey/test-kit/mongodb/proxy';
import { expect, test } from 'vitest';
import { invoke, type Json } from '../http/call.ts';
import { startBehindProxy } from './behind-proxy.ts';
import { ready, startProcess } from './server-process.ts';

const WARM_UP = 20;
// Some 50 objects come and go by themselves. A quarter of the cuts is more.
const CUTS = longer(240, 3_000);
const MOST_CUTS = longer(960, 9_000);

describeOnLargestMongodb('connections that break,', (mongodb) => {
  test('leave nothing behind in the process', {
    timeout: longer(300_000, 1_800_000),
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
      const before = server.command.run.stdout.length;
      server.command.kill('SIGUSR2');
      await server.command.printed(new RegExp(`^[^]{${before}}[^]*\\n`));
      return JSON.parse(server.command.run.stdout.slice(before).replace('census ', ''));
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
    let cuts = 0;
    let grown: string[];
    // What a cut leaves behind grows with their number, be it only one cut in two. What is made once
    // does not, however much it is: then more cuts tell the two apart.
    do {
      await cut(CUTS);
      cuts += CUTS;
      const after = await census();
      grown = Object.keys(before).filter((kind) => after[kind] - before[kind] >= cuts / 4);
    } while (grown.length > 0 && cuts < MOST_CUTS);
    expect(grown).toEqual([]);
    await service.stop();
  });
});
