// Measures the service. Benchmarks run one after the other.
//
//   --only NAME       only this benchmark; may be given several times
//   --quick           small sizes, only `comparison` unless --only is given; writes no page
//   --check           exits with code 1 if a target is missed
//   --profile         runs no benchmark, and prints the functions where Latchkey spends its time
//   --mongodb URL     measures on this MongoDB instead of replica sets of its own, in new databases that it
//                     drops at the end
import { parseArgs } from 'node:util';
import type { Benchmark } from './benchmark.ts';
import { comparison } from './comparison/comparison.ts';
import { latchkey, latchkeyMongodb } from './contenders/latchkey.ts';
import { memory } from './memory/memory.ts';
import { mongodbKinds } from './mongodb-servers.ts';
import { render, save } from './page.ts';
import { profile } from './profile.ts';
import { logProgress } from './progress.ts';
import { pinLoad } from './server-process.ts';

/** By name, in the order in which they run. */
const benchmarks: Record<string, Benchmark> = { comparison, memory };

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    quick: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    mongodb: { type: 'string' },
  },
});

const names = options.only ?? (options.quick ? ['comparison'] : Object.keys(benchmarks));
for (const name of names) {
  if (Object.hasOwn(benchmarks, name)) continue;
  const known = Object.keys(benchmarks).join(', ');
  logProgress(`There is no benchmark '${name}'. Use --only with one of: ${known}.`);
  process.exit(2);
}

// An exit runs the handlers that stop the servers and delete their folders.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const mongodbs = await mongodbKinds(options.mongodb);
pinLoad();
if (options.profile) {
  const [mongodb] = mongodbs;
  const profiled = [
    [latchkey, null] as const,
    ...(mongodb ? [[latchkeyMongodb, mongodb] as const] : []),
  ];
  for (const [contender, server] of profiled) {
    const text = await profile(contender, server);
    process.stdout.write(`\n${contender.name}, including the issuing of codes\n\n${text}\n`);
  }
} else {
  for (const name of names) {
    const benchmark = benchmarks[name] as Benchmark;
    logProgress(`\n${benchmark.title}`);
    const result = await benchmark.run(mongodbs, options.quick);
    process.stdout.write(`\n${render(result)}`);
    if (!options.quick) await save(benchmark, result);
    if (options.check && result.targets.some(({ isMet }) => !isMet)) process.exitCode = 1;
  }
}
