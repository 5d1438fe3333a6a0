import { packageVersions } from '../../package-versions.ts';
import { Databases } from '../../peers/databases.ts';
import { Unavailable } from '../../peers/peer.ts';
import type { Benchmark } from '../benchmark.ts';
import { type Harness, onMongodb, withHarness } from '../harness.ts';
import { withConnections } from '../load.ts';
import { CONNECTIONS, convertAll, expectRefusal, rounds } from '../measure.ts';
import type { MongodbServer } from '../mongodb-servers.ts';
import { ProcessTree } from '../process-tree.ts';
import { logProgress } from '../progress.ts';
import { Results } from '../results.ts';
import { type Contestant, contestants, fullName, type StartedContestant } from './contestants.ts';
import { plot, report, targets } from './report.ts';

/** A contestant that runs. */
interface Entry extends StartedContestant {
  contestant: Contestant;
  name: string;
  /** Where its data is, unless that is in its own process. */
  database: Pick<ProcessTree, 'cpuSeconds'>;
}

interface Sizes {
  requests: number;
  /** For the compilers of a JVM, before the first round. */
  warmUp: number;
  connections: readonly number[];
  rounds: number;
}

/** A tenth with one connection, where they run one by one. At least one for each connection. */
function requestsOf({ share }: Contestant, { requests }: Sizes, connections: number): number {
  return Math.max(connections, Math.ceil(requests * share * (connections === 1 ? 0.1 : 1)));
}

const NONE = { cpuSeconds: async () => 0 };

async function startAll(
  harness: Harness,
  databases: Databases,
  mongodb: MongodbServer | undefined,
): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const contestant of contestants) {
    const name = fullName(contestant);
    if (contestant.store === 'MongoDB' && mongodb === undefined) continue;
    try {
      const started = await contestant.start(harness, databases);
      const pids = {
        SQLite: () => null,
        MongoDB: () => mongodb?.pids ?? [],
        PostgreSQL: async () => [await databases.postgresqlPid()],
      };
      const own = await pids[contestant.store]();
      entries.push({
        ...{ contestant, name, ...started },
        database: own === null ? NONE : new ProcessTree(own),
      });
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      logProgress(`${name} is skipped: ${error.message}`);
    }
  }
  return entries;
}

async function convert({ server, database }: Entry, connections: number, requests: number) {
  const codes = await server.issue(requests);
  return withConnections(server.url, connections, async (opened) => {
    const before = await database.cpuSeconds();
    const { sample } = await convertAll(server, opened, codes);
    const databaseCpu = (((await database.cpuSeconds()) - before) / requests) * 1_000;
    const [code] = codes;
    if (code !== undefined) await expectRefusal(server.url, opened, server.wire.convert, code);
    return { ...sample, databaseCpu };
  });
}

async function compare(entries: readonly Entry[], sizes: Sizes): Promise<Results> {
  const results = new Results();
  for (const entry of entries) {
    if (!entry.contestant.isJvm || entry.contestant.isSlow) continue;
    logProgress(`Warming up ${entry.name} …`);
    await convert(entry, CONNECTIONS, sizes.warmUp);
  }
  for (const { order, isWarmUp } of rounds(entries, sizes.rounds)) {
    for (const connections of sizes.connections) {
      for (const entry of order) {
        const { contestant, name } = entry;
        if (contestant.isSlow && connections > CONNECTIONS) continue;
        const requests = requestsOf(contestant, sizes, connections);
        const sample = await convert(entry, connections, requests);
        if (!isWarmUp) results.add(name, connections, { convert: sample });
      }
    }
  }
  return results;
}

/** The same exchange of a code, at the same durability, by servers that somebody would really run. */
export const peers: Benchmark = {
  page: 'peers',
  title: 'Beside other servers',
  async run(mongodbs, quick) {
    const sizes: Sizes = quick
      ? { requests: 1_000, warmUp: 200, connections: [CONNECTIONS], rounds: 2 }
      : { requests: 5_000, warmUp: 2_000, connections: [CONNECTIONS, 1, 256], rounds: 5 };
    const databases = new Databases();
    let entries: Entry[] = [];
    const run = async (harness: Harness, mongodb?: MongodbServer) => {
      entries = await startAll(harness, databases, mongodb);
      return { results: await compare(entries, sizes), mongodb };
    };
    const [kind] = mongodbs;
    try {
      const { results, mongodb } =
        kind === undefined ? await withHarness(undefined, [], run) : await onMongodb(kind, run);
      const packages = await packageVersions([
        ...['oidc-provider', 'better-auth', '@better-auth/oauth-provider', 'mongodb'],
      ]);
      return {
        conditions: [
          ...[`${sizes.rounds} rounds`, packages, `SQLite ${process.versions.sqlite}`],
          ...(mongodb ? [mongodb.description] : []),
          ...new Set(entries.flatMap(({ versions }) => versions ?? [])),
        ],
        text: report(results, sizes.connections),
        targets: targets(results),
        plot: { alt: 'Codes exchanged a second, and the CPU for each', svg: plot(results) },
      };
    } finally {
      for (const { close } of entries) await close?.();
      await databases.stop();
    }
  },
};
