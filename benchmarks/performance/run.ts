// Measures each server beside the floor, in interleaved rounds.
//
//   --quick           32 connections only, and fewer requests; writes nothing
//   --check           ends with exit code 1 where a target is missed
//   --profile         measures nothing, and shows where Latchkey's time goes
//   --mongodb URL     with Latchkey and the bare driver on this server, in a database of their own
import { rmSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  dropDatabase,
  freshName,
  urlOf,
} from '../../apps/server/src/store/mongodb/mongo-harness.ts';
import { versionsOf } from '../versions.ts';
import type { Contender, Running } from './contender.ts';
import { betterAuth } from './contenders/better-auth.ts';
import { floor } from './contenders/floor.ts';
import { latchkey, latchkeyMongodb, latchkeyTrpc } from './contenders/latchkey.ts';
import { mongodb } from './contenders/mongodb.ts';
import { oauth2Server } from './contenders/oauth2-server.ts';
import { oidcProvider } from './contenders/oidc-provider.ts';
import { sqlite } from './contenders/sqlite.ts';
import { trpcStandalone } from './contenders/trpc-standalone.ts';
import { operations, turn } from './measure.ts';
import { plot } from './plot.ts';
import { type CpuProfile, selfTimes } from './profile.ts';
import { report } from './report.ts';
import { Results } from './results.ts';
import { pinLoad, pinned } from './server-process.ts';
import { checkTargets } from './targets.ts';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    mongodb: { type: 'string' },
  },
});

const sizes = options.quick
  ? { requests: 3_000, connections: [32], rounds: 5 }
  : { requests: 20_000, connections: [32, 1, 256], rounds: 7 };

const note = (text: string) => process.stderr.write(`${text}\n`);

/** A contender that runs, and what to do when it is done. */
interface Entry {
  contender: Contender;
  running: Running;
}

/** Runs something with contenders, each in a process and a folder of its own. */
async function withContenders<T>(
  contenders: readonly Contender[],
  nodeArguments: readonly string[],
  run: (entries: Entry[], folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-bench-'));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', removeFolder);
  const name = freshName();
  const mongodbUrl = options.mongodb && urlOf(options.mongodb, name);
  const entries: Entry[] = [];
  try {
    for (const contender of contenders) {
      note(`Starting ${contender.name} …`);
      const place = { folder: await mkdtemp(join(folder, 'server-')), nodeArguments, mongodbUrl };
      entries.push({ contender, running: await contender.start(place) });
    }
    return await run(entries, folder);
  } finally {
    await Promise.all(entries.map(({ running }) => running.server.stop()));
    if (options.mongodb !== undefined) await dropDatabase(options.mongodb, name);
    process.off('exit', removeFolder);
    removeFolder();
  }
}

/** How many requests a contender gets. With one connection, a tenth: they take turns. */
function requestsOf({ share, most }: Contender, connections: number): number {
  const requests = Math.ceil(sizes.requests * share * (connections === 1 ? 0.1 : 1));
  return Math.min(requests, most ?? requests);
}

async function compare(entries: readonly Entry[]): Promise<Results> {
  const results = new Results();
  // Round 0 is for the compilers of the servers, and does not count.
  for (let round = 0; round <= sizes.rounds; round++) {
    note(round === 0 ? 'Warming up …' : `Round ${round} of ${sizes.rounds} …`);
    // Each round begins with another, so that none is always the one after the slowest.
    const order = entries.map((_, index) => entries[(index + round) % entries.length] as Entry);
    for (const connections of sizes.connections) {
      for (const { contender, running } of order) {
        const requests = requestsOf(contender, connections);
        const samples = await turn(running, { connections, requests });
        for (const operation of operations) {
          const sample = samples[operation];
          if (sample && round > 0) results.add(contender.name, connections, operation, sample);
        }
      }
    }
  }
  for (const { contender, running } of entries) {
    results.footprints.push({
      name: contender.name,
      startMilliseconds: running.startMilliseconds,
      peakMemory: await running.server.peakMemory(),
    });
  }
  return results;
}

/** Where the time of Latchkey goes, over REST at 32 connections. */
async function profile(contender: Contender): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-profile-'));
  await withContenders([contender], ['--cpu-prof', `--cpu-prof-dir=${folder}`], async (entries) => {
    for (const { running } of entries) {
      for (let round = 0; round < 3; round++) {
        await turn(running, { connections: 32, requests: requestsOf(contender, 32) });
      }
    }
  });
  const [file = ''] = await readdir(folder);
  const text = await readFile(join(folder, file), 'utf8');
  await rm(folder, { recursive: true });
  return selfTimes(JSON.parse(text) as CpuProfile, 40);
}

function conditions(): string {
  const [cpu] = cpus();
  return [
    new Date().toISOString().slice(0, 10),
    `Node ${process.versions.node}`,
    `${cpu?.model ?? 'unknown CPU'}, ${cpus().length} cores`,
    pinned ? 'server and load on a core each' : 'server and load on the same cores',
    `${sizes.rounds} rounds`,
  ].join('; ');
}

// Interrupted, it leaves by the way on which the servers are ended and their folders deleted.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
pinLoad();
if (options.profile) {
  for (const contender of options.mongodb ? [latchkey, latchkeyMongodb] : [latchkey]) {
    const text = await profile(contender);
    process.stdout.write(`\n${contender.name}, codes being issued included\n\n${text}\n`);
  }
} else {
  const contenders = [
    ...[floor, sqlite, latchkey, latchkeyTrpc, trpcStandalone],
    ...[oidcProvider, oauth2Server, betterAuth],
    ...(options.mongodb ? [mongodb, latchkeyMongodb] : []),
  ];
  const results = await withContenders(contenders, [], compare);
  const checked = checkTargets(results);
  const versions = await versionsOf([
    ...['oidc-provider', '@node-oauth/oauth2-server', 'better-auth', '@better-auth/oauth-provider'],
    ...['@trpc/server', 'mongodb'],
  ]);
  const text = `${conditions()}. ${versions}.\n\n${report(results, sizes.connections, checked)}\n`;
  process.stdout.write(`\n${text}`);

  // A quick run is for the one who changes something, not for the page.
  if (!options.quick) {
    const write = (name: string, content: string) =>
      writeFile(fileURLToPath(new URL(`../results/${name}`, import.meta.url)), content);
    const about =
      'Written by `npm run bench`; [what is measured, and how](../../docs/performance.md).';
    await write(
      'performance.md',
      `# Performance\n\n${about}\n\n![Exchanges beside the floor](performance.svg)\n\n${text}`,
    );
    await write('performance.svg', plot(results, 32));
  }
  if (options.check && checked.some(({ isMet }) => !isMet)) process.exitCode = 1;
}
