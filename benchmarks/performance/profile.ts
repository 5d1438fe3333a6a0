import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { markdownTable } from '../../packages/test-kit/src/markdown-table.ts';
import type { Contender } from './contender.ts';
import { type Harness, onMongodb, withHarness } from './harness.ts';
import { CONNECTIONS, measureOperations } from './measure.ts';
import type { MongodbKind } from './mongodb-servers.ts';

/** A CPU profile as V8 writes it. */
interface CpuProfile {
  nodes: {
    id: number;
    callFrame: { functionName: string; url: string; lineNumber: number };
  }[];
  /** The id of the node of each sample. */
  samples: number[];
  /** Microseconds before each sample. */
  timeDeltas: number[];
}

/**
 * Profiles a server at 32 connections, including the issuing of codes.
 *
 * @param mongodb - what it runs on; null for none
 */
export async function profile(contender: Contender, mongodb: MongodbKind | null): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-profile-'));
  const run = async (harness: Harness) => {
    const server = await harness.start(contender.name, contender.start);
    const requests = Math.ceil(20_000 * contender.share);
    for (let round = 0; round < 3; round++) {
      await measureOperations(server, { connections: CONNECTIONS, requests });
    }
  };
  const nodeArguments = ['--cpu-prof', `--cpu-prof-dir=${folder}`];
  if (mongodb === null) await withHarness(undefined, nodeArguments, run);
  else await onMongodb(mongodb, run, nodeArguments);
  const [file = ''] = await readdir(folder);
  const text = await readFile(join(folder, file), 'utf8');
  await rm(folder, { recursive: true });
  return selfTimes(JSON.parse(text) as CpuProfile, 40);
}

/** The functions with the most self time. */
function selfTimes({ nodes, samples, timeDeltas }: CpuProfile, limit: number): string {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
      const file = url
        .replace(/^.*\/(?=(?:node_modules|apps|packages)\/)/, '')
        .replace('file://', '');
      return [id, `${functionName || '(anonymous)'} ${url && `${file}:${lineNumber + 1}`}`.trim()];
    }),
  );
  const times = new Map<string, number>();
  let total = 0;
  for (const [index, id] of samples.entries()) {
    const name = names.get(id) ?? '';
    const time = timeDeltas[index] ?? 0;
    if (name === '(idle)') continue;
    times.set(name, (times.get(name) ?? 0) + time);
    total += time;
  }
  const top = [...times].sort(([, a], [, b]) => b - a).slice(0, limit);
  return markdownTable([
    ['self time', '%', 'function'],
    ...top.map(([name, time]) => [
      `${(time / 1000).toFixed(0)} ms`,
      ((time / total) * 100).toFixed(1),
      name,
    ]),
  ]);
}
