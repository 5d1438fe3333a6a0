import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, inject, test } from 'vitest';
// Declares the type of `inject`.
import type {} from '../global-setup.ts';

const mongod = inject('mongod');
const title = mongod ? 'a replica set' : 'a replica set (not run: there is no mongod)';

describe.skipIf(!mongod)(title, () => {
  test('leaves nothing behind when its process is killed', async () => {
    const program = `
      import { ReplicaSet } from ${JSON.stringify(new URL('./replica-set.ts', import.meta.url))};
      const set = await ReplicaSet.start(${JSON.stringify(mongod)}, { members: 1 });
      const { parsed } = await set.members[0].command({ getCmdLineOpts: 1 });
      const { pid } = await set.members[0].command({ serverStatus: 1 });
      await set.members[0].pause();
      console.log(JSON.stringify({ pid: Number(pid), data: parsed.storage.dbPath }));
      setInterval(() => undefined, 60_000);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(child.stdout, 'data');
    const { pid, data } = JSON.parse(String(line));
    expect([existsSync(data), runs(pid)]).toEqual([true, true]);

    child.kill('SIGKILL');
    await expect.poll(() => [existsSync(data), runs(pid)]).toEqual([false, false]);
  });
});

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
