import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ROOT, startLatchkey } from '../contenders/latchkey.ts';
import { withHarness } from '../harness.ts';
import { CONNECTIONS } from '../measure.ts';
import type { MongodbKind } from '../mongodb-servers.ts';
import { conditionsLine } from '../page.ts';
import { logProgress } from '../progress.ts';
import { restWire } from '../wires/rest.ts';
import { measureRound, type Pair, type Round } from './pair.ts';
import { report, type StorePairs } from './report.ts';
import { type Tree, treeOf } from './tree.ts';

/** Requests for each operation in a round. Short, so that both servers see the same of the machine. */
const REQUESTS = { sqlite: 1_000, mongodb: 200 };
/** Rounds of each pair, and those before them for the compilers. 15 pairs then take 15 minutes of CPU. */
const ROUNDS = 4;
const WARM_UP_ROUNDS = 2;

/**
 * Measures one pair. Both servers are new, on empty databases: two processes of the same code differ too,
 * by what their compilers chose, and an interval over pairs of the same two processes would not contain
 * that.
 */
function measurePair(
  trees: Pair<Tree>,
  mongodbUrl: string | undefined,
  turn: number,
): Promise<Round[]> {
  return withHarness(mongodbUrl, [], async (harness) => {
    const start = ({ folder, version }: Tree) =>
      harness.start(version, (options) => startLatchkey(options, { wire: restWire }, folder));
    const servers = [await start(trees[0]), await start(trees[1])] as const;
    const requests = mongodbUrl === undefined ? REQUESTS.sqlite : REQUESTS.mongodb;
    const rounds: Round[] = [];
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      const measured = await measureRound(servers, requests, turn + round);
      if (round >= 0) rounds.push(measured);
    }
    return rounds;
  });
}

async function measurePairs(
  trees: Pair<Tree>,
  count: number,
  { store, mongodbUrl }: { store: string; mongodbUrl?: string },
): Promise<StorePairs> {
  const pairs: Round[][] = [];
  for (let turn = 0; turn < count; turn++) {
    logProgress(`${store}: pair ${turn + 1} of ${count} …`);
    pairs.push(await measurePair(trees, mongodbUrl, turn));
  }
  return { store, pairs };
}

/**
 * Compares this tree with another checkout of the repository, on SQLite and, if there is one, a MongoDB.
 * Prints the ratios, and writes them to a file.
 *
 * @returns whether an operation of this tree is slower
 */
export async function against(
  other: Tree,
  options: { pairs: number; output: string },
  [mongodb]: readonly MongodbKind[],
): Promise<boolean> {
  const trees = [other, treeOf(ROOT)] as const;
  const stores = [await measurePairs(trees, options.pairs, { store: 'SQLite' })];
  const conditions = [
    `${options.pairs} pairs of servers, ${ROUNDS} rounds each`,
    `${CONNECTIONS} connections`,
    `${REQUESTS.sqlite} requests for each operation in a round (${REQUESTS.mongodb} on MongoDB)`,
  ];
  if (mongodb) {
    logProgress(`Starting ${mongodb.name} …`);
    const server = await mongodb.start();
    try {
      const where = { store: mongodb.name, mongodbUrl: server.url };
      stores.push(await measurePairs(trees, options.pairs, where));
      conditions.push(server.description);
    } finally {
      await server.stop();
    }
  }
  const { text, isSlower } = report(stores);
  const page = `# ${trees[1].version} against ${trees[0].version}

Figures of ${trees[1].version}, as ratios to those of ${trees[0].version}: of the CPU time that the server takes for a request,
and of the requests a second. The ratio is the geometric mean over the pairs, its interval Student's.

${conditionsLine(conditions)}

${text}`;
  await mkdir(dirname(options.output), { recursive: true });
  await writeFile(options.output, page);
  process.stdout.write(page);
  return isSlower;
}
