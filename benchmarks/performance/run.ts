// Measures the service. Benchmarks run one after the other.
//
//   --only NAME       only this benchmark; may be given several times
//   --quick           small sizes, only `comparison` unless --only is given; writes no page
//   --check           exits with code 1 if a target is missed
//   --profile         runs no benchmark, and prints the functions where Latchkey spends its time
//   --against PATH    runs no benchmark, and compares this tree with another checkout of the repository;
//                     exits with code 1 if an operation is slower
//     --pairs N       how often both are measured. Default: 15
//     --output FILE   where the figures go. Default: benchmarks/against.md
//   --mongodb URL     measures on this MongoDB instead of replica sets of its own, in new databases that it
//                     drops at the end
import { against } from './against/against.ts';
import { buildTree, NoTree } from './against/tree.ts';
import type { Benchmark } from './benchmark.ts';
import { comparison } from './comparison/comparison.ts';
import { latchkey, latchkeyMongodb } from './contenders/latchkey.ts';
import { events } from './events/events.ts';
import { growth } from './growth/growth.ts';
import { memory } from './memory/memory.ts';
import { type MongodbKind, mongodbKinds } from './mongodb-servers.ts';
import { type Options, readOptions, WrongOptions } from './options.ts';
import { render, save } from './page.ts';
import { peers } from './peers/peers.ts';
import { profile } from './profile.ts';
import { logProgress } from './progress.ts';
import { pinLoad } from './server-process.ts';

/** By name, in the order in which they run. */
const benchmarks: Record<string, Benchmark> = { comparison, peers, memory, events, growth };

async function printProfiles(mongodbs: readonly MongodbKind[]): Promise<void> {
  const [mongodb] = mongodbs;
  const profiled = [
    [latchkey, null] as const,
    ...(mongodb ? [[latchkeyMongodb, mongodb] as const] : []),
  ];
  for (const [contender, server] of profiled) {
    const text = await profile(contender, server);
    process.stdout.write(`\n${contender.name}, including the issuing of codes\n\n${text}\n`);
  }
}

/** Pins the load, and returns what is also measured on. */
async function prepare({ mongodb }: Options): Promise<MongodbKind[]> {
  const kinds = await mongodbKinds(mongodb);
  pinLoad();
  return kinds;
}

/** Runs what the options ask for; returns whether all is as it should be. */
async function run(options: Options): Promise<boolean> {
  if (options.task === 'against') {
    // Before this process is pinned to a core, since a build uses all.
    const other = buildTree(options.path);
    return !(await against(other, options, await prepare(options)));
  }
  const mongodbs = await prepare(options);
  if (options.task === 'profile') {
    await printProfiles(mongodbs);
    return true;
  }
  let isMet = true;
  for (const name of options.names) {
    const benchmark = benchmarks[name] as Benchmark;
    logProgress(`\n${benchmark.title}`);
    const result = await benchmark.run(mongodbs, options.quick);
    process.stdout.write(`\n${render(result)}`);
    if (!options.quick) await save(benchmark, result);
    if (options.check && result.targets.some((target) => !target.isMet)) isMet = false;
  }
  return isMet;
}

// An exit runs the handlers that stop the servers and delete their folders.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
try {
  const options = readOptions(process.argv.slice(2), Object.keys(benchmarks));
  process.exitCode = (await run(options)) ? 0 : 1;
} catch (error) {
  if (!(error instanceof WrongOptions || error instanceof NoTree)) throw error;
  logProgress(error.message);
  process.exitCode = 2;
}
