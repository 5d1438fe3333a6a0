import { packageVersions } from '../../package-versions.ts';
import type { Benchmark } from '../benchmark.ts';
import type { Contender, RunningServer } from '../contender.ts';
import { floor, unbatched } from '../contenders/floor.ts';
import { latchkey, latchkeyMongodb, latchkeyOauth, latchkeyTrpc } from '../contenders/latchkey.ts';
import { mongodb } from '../contenders/mongodb.ts';
import { sqlite } from '../contenders/sqlite.ts';
import { trpcStandalone } from '../contenders/trpc-standalone.ts';
import { type Harness, onMongodb, withHarness } from '../harness.ts';
import { CONNECTIONS, measureOperations, rounds } from '../measure.ts';
import { Results } from '../results.ts';
import { plot } from './plot.ts';
import { type Group, report } from './report.ts';
import { inMemoryTargets, mongodbTargets } from './targets.ts';

interface Entry {
  contender: Contender;
  server: RunningServer;
}

interface Sizes {
  requests: number;
  connections: readonly number[];
  rounds: number;
}

/** How many requests a contender gets. A tenth with one connection, where they run one by one. */
function requestsOf({ share }: Contender, sizes: Sizes, connections: number): number {
  return Math.ceil(sizes.requests * share * (connections === 1 ? 0.1 : 1));
}

async function compare(
  harness: Harness,
  contenders: readonly Contender[],
  sizes: Sizes,
): Promise<Results> {
  const entries: Entry[] = [];
  for (const contender of contenders) {
    entries.push({ contender, server: await harness.start(contender.name, contender.start) });
  }
  const results = new Results();
  for (const { order, isWarmUp } of rounds(entries, sizes.rounds)) {
    for (const connections of sizes.connections) {
      for (const { contender, server } of order) {
        const requests = requestsOf(contender, sizes, connections);
        const samples = await measureOperations(server, { connections, requests });
        if (!isWarmUp) results.add(contender.name, connections, samples);
      }
    }
  }
  for (const { contender, server } of entries) {
    results.footprints.push({
      name: contender.name,
      startMilliseconds: server.startMilliseconds,
      peakMemory: await server.process.peakMemory(),
    });
  }
  return results;
}

const withoutMongodb = [
  ...[floor, unbatched, sqlite, latchkey, latchkeyTrpc, latchkeyOauth, trpcStandalone],
];

/**
 * Latchkey on SQLite, compared with the floor; then Latchkey on each MongoDB, compared with the bare driver.
 * Each group is measured while nothing else runs.
 */
export const comparison: Benchmark = {
  page: 'performance',
  title: 'Performance',
  async run(mongodbs, quick) {
    const sizes: Sizes = quick
      ? { requests: 3_000, connections: [CONNECTIONS], rounds: 5 }
      : { requests: 5_000, connections: [CONNECTIONS, 1, 256], rounds: 7 };
    const results = await withHarness(undefined, [], (harness) =>
      compare(harness, withoutMongodb, sizes),
    );
    const groups: Group[] = [{ title: 'SQLite', base: floor.name, results }];
    const targets = inMemoryTargets(results);
    const servers: string[] = [];
    // A first look is for Latchkey's own process: one member tells enough about it.
    for (const kind of quick ? mongodbs.slice(0, 1) : mongodbs) {
      await onMongodb(kind, async (harness, { description }) => {
        const found = await compare(harness, [mongodb, latchkeyMongodb], sizes);
        groups.push({ title: kind.name, base: mongodb.name, results: found });
        targets.push(...mongodbTargets(kind.name, found));
        servers.push(description);
      });
    }
    const packages = await packageVersions(['@trpc/server', 'mongodb']);
    return {
      conditions: [`${sizes.rounds} rounds`, packages, ...servers],
      text: report(groups, sizes.connections),
      targets,
      plot: { alt: 'Convert compared with the floor', svg: plot(results, CONNECTIONS) },
    };
  },
};
