import { anInitiator } from '@latchkey/store-suite/records';
import { expect, test } from 'vitest';
import { checkWork } from '../../src/doctor/check-work.ts';
import { send } from '../http/call.ts';
import { describeOnEachStore } from '../http/databases.ts';
import { linkedApplication } from '../http/linked-application.ts';
import { useServer } from '../http/running-server.ts';

const HOUR = 3_600_000;

describeOnEachStore('work that is not finished', (fresh) => {
  // Nobody looks for it.
  const server = useServer(fresh, { METRICS: 'on' }, { work: { lookEvery: 10 * HOUR } });

  test('is shown by the metrics and by doctor, and is a problem after an hour', async () => {
    const { account_id, link } = await linkedApplication(server);
    await link();
    const { service } = server;
    async function shown() {
      const { text } = await send(server, { method: 'GET', path: '/metrics' });
      const figures = [...text.matchAll(/^latchkey_work_(\w+)\{kind="revocation"\} (\S+)$/gm)];
      const lines = figures.map(([, name, value]) => `${name} ${value}`);
      for await (const { level, found } of checkWork(service)) lines.push(`${level} ${found}`);
      return lines;
    }
    expect(await shown()).toEqual([
      ...['pending 0', 'oldest_seconds 0'],
      'ok No erasure, deletion or revocation is unfinished.',
    ]);
    const mark = { account_id, initiator: anInitiator(), now: server.now() };
    const work = await service.store.markRevocation(mark);
    // For a process whose clock is behind.
    server.advance(-5_000);
    expect(await shown()).toContain('oldest_seconds 0');
    server.advance(HOUR + 5_000);
    expect(await shown()).toEqual([
      ...['pending 1', 'oldest_seconds 3600'],
      `ok Not finished yet: revocation of account ${account_id} (3600 s).`,
    ]);
    server.advance(1_000);
    expect(await shown()).toEqual([
      ...['pending 1', 'oldest_seconds 3601'],
      `problem Not finished within an hour: revocation of account ${account_id} (3601 s).`,
    ]);
    server.lines.length = 0;
    expect(await service.runner.run(work)).toMatchObject({ isDone: true, grants_revoked: 1 });
    expect(server.lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        ...{ msg: 'work', kind: 'revocation', account_id, grants_revoked: 1 },
        ...{ seconds: 3_601, request_id: mark.initiator.request_id },
      }),
    );
    expect((await shown()).slice(0, 2)).toEqual(['pending 0', 'oldest_seconds 0']);
  });
});
