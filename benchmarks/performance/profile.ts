import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Contender } from './contender.ts';
import { CONNECTIONS, turn } from './measure.ts';
import { type CpuProfile, selfTimes } from './self-times.ts';
import { withWorkbench } from './workbench.ts';

/** Where the time of a server goes at 32 connections, its codes being issued included. */
export async function profile(contender: Contender, mongodb: string | undefined): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-profile-'));
  await withWorkbench(mongodb, ['--cpu-prof', `--cpu-prof-dir=${folder}`], async (workbench) => {
    const running = await workbench.start(contender.name, contender.start);
    const requests = Math.ceil(20_000 * contender.share);
    for (let round = 0; round < 3; round++)
      await turn(running, { connections: CONNECTIONS, requests });
  });
  const [file = ''] = await readdir(folder);
  const text = await readFile(join(folder, file), 'utf8');
  await rm(folder, { recursive: true });
  return selfTimes(JSON.parse(text) as CpuProfile, 40);
}
