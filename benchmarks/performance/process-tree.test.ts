import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { ProcessTree } from './process-tree.ts';

test('the CPU time of a tree has that of its descendants, also of those that have ended', async () => {
  const burn = 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done';
  const shell = spawn(
    'sh',
    ['-c', `sh -c '${burn}'; echo ended; sh -c '${burn}; echo ended; read _'`],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const tree = new ProcessTree([shell.pid as number]);
  await once(shell.stdout, 'data');
  const first = await tree.cpuSeconds();
  await once(shell.stdout, 'data');
  const second = await tree.cpuSeconds();
  shell.stdin.end();
  await once(shell, 'exit');
  expect(first).toBeGreaterThan(0);
  expect(second).toBeGreaterThan(first);
  expect(await tree.cpuSeconds()).toBe(0);
});
