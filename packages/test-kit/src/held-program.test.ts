import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describeWithMongod } from './mongodb/describe.ts';
import { describeWithPostgresql } from './postgresql/describe.ts';

const from = (path: string) => JSON.stringify(new URL(path, import.meta.url));

describeWithMongod('a server', (mongod) =>
  leavesNothingBehind(`
    import { ReplicaSet } from ${from('./mongodb/replica-set.ts')};
    const set = await ReplicaSet.start(${JSON.stringify(mongod)}, { members: 1 });
    const [member] = set.members;
    const { parsed } = await member.command({ getCmdLineOpts: 1 });
    const pids = [Number((await member.command({ serverStatus: 1 })).pid)];
    await member.pause();
    console.log(JSON.stringify({ pids, data: parsed.storage.dbPath }));`),
);

describeWithPostgresql('a server', (programs) =>
  leavesNothingBehind(`
    import { PostgresqlServer } from ${from('./postgresql/server.ts')};
    const server = await PostgresqlServer.start(${JSON.stringify(programs)});
    const found = await server.query('SELECT pid FROM pg_stat_activity');
    await server.pause();
    console.log(JSON.stringify({ pids: found.map(({ pid }) => pid), data: server.data }));`),
);

/** @param program - prints the processes of a paused server, and where its data is */
function leavesNothingBehind(program: string): void {
  test('leaves nothing behind when the process that started it is killed', async () => {
    const child = spawn(
      process.execPath,
      ['--input-type=module', '--eval', `${program}\nsetInterval(() => undefined, 60_000);`],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [line] = await once(child.stdout, 'data');
    const { pids, data } = JSON.parse(String(line)) as { pids: number[]; data: string };
    expect([existsSync(data), pids.some(runs)]).toEqual([true, true]);

    child.kill('SIGKILL');
    await expect.poll(() => [existsSync(data), pids.some(runs)]).toEqual([false, false]);
  });
}

/** One that has ended may wait for long until its new parent looks at it. */
function runs(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', `${pid}`], { encoding: 'utf8' });
  return stdout !== '' && !stdout.startsWith('Z');
}
