import type { Finding } from '@latchkey/store/finding';
import { expect, test } from 'vitest';
import { runInProcess } from '../http/command-process.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { ADMIN_SECRET, useServer } from '../http/running-server.ts';
import { pin, SETTINGS } from './document-flow.ts';
import { publish, useWorld } from './document-server.ts';

const world = useWorld();

describeOnAnyStore('doctor', (fresh) => {
  const server = useServer(fresh, SETTINGS);

  test('fetches each whole address of CLIENT_DOCUMENTS that is not pinned', async () => {
    const [good, late, bad, pinned] = [
      await publish(world),
      await publish(world),
      await publish(world, { client_secret: 'x' }),
      await publish(world, { client_secret: 'x' }),
    ];
    late.respond = (response) => response.writeHead(503).end();
    await pin(server, pinned.address);
    const all = [good, late, bad, pinned].map(({ address }) => address);
    const setting = ['*.docs.example', `!${all[0]}/x`, ...all].join();
    const { stdout } = await runInProcess(['doctor', '--json'], {
      ...{ ...SETTINGS, ADMIN_SECRET, CLIENT_DOCUMENTS: setting },
      DATABASE_URL: server.database.url,
    });
    const { data }: { data: Finding[] } = JSON.parse(stdout);
    const of = ({ level, found }: Finding) => [level, all.findIndex((one) => found.includes(one))];
    expect(data.filter(({ check }) => check === 'documents').map(of)).toEqual([
      ['ok', 0],
      ['warning', 1],
      ['problem', 2],
    ]);
    expect(pinned.requests).toBe(0);
  });
});
