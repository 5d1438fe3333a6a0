import { ratioTarget, type Target } from '../benchmark.ts';
import type { Contender } from '../contender.ts';
import { floor, unbatched } from '../contenders/floor.ts';
import { latchkey, latchkeyMongodb, latchkeyTrpc } from '../contenders/latchkey.ts';
import { mongodb } from '../contenders/mongodb.ts';
import { sqlite } from '../contenders/sqlite.ts';
import { trpcStandalone } from '../contenders/trpc-standalone.ts';
import { CONNECTIONS, type Operation } from '../measure.ts';
import type { Figure, Results } from '../results.ts';

const figures: Record<Figure, string> = {
  throughput: 'throughput',
  cpu: 'CPU per request',
  p50: 'p50',
  p99: 'p99',
};

type Bound = ['at least' | 'at most', number];

/** Compares one server's figures with those of another one in the same run. */
function comparer(results: Results, targets: Target[], where = '') {
  return (
    [one, other]: [{ name: string }, { name: string }],
    operation: Operation,
    figure: Figure,
    [bound, limit]: Bound,
    connections = CONNECTIONS,
  ): void => {
    const ours = results.medians(one.name, connections, operation);
    const theirs = results.medians(other.name, connections, operation);
    if (!ours || !theirs) return;
    const lone = connections === 1 ? ', one connection' : '';
    const text = `${one.name}${where}, ${operation}${lone}: ${figures[figure]} ${bound} ${limit} × ${other.name}`;
    targets.push(ratioTarget(text, ours[figure] / theirs[figure], [bound, limit]));
  };
}

/** The targets of Latchkey on SQLite. */
export function inMemoryTargets(results: Results): Target[] {
  const targets: Target[] = [];
  const compare = comparer(results, targets);

  const cpu = { convert: 1.5, authenticate: 1.5, revoke: 1.8 };
  for (const operation of ['convert', 'authenticate', 'revoke'] as const) {
    compare([latchkey, floor], operation, 'cpu', ['at most', cpu[operation]]);
  }
  for (const operation of ['convert', 'authenticate', 'revoke'] as const) {
    compare([latchkey, sqlite], operation, 'throughput', ['at least', 0.9], 1);
  }
  for (const operation of ['convert', 'revoke', 'authenticate'] as const) {
    compare([latchkey, unbatched], operation, 'throughput', ['at least', 0.9]);
    compare([latchkey, unbatched], operation, 'p99', ['at most', 1.5]);
  }
  compare([latchkey, unbatched], 'convert', 'cpu', ['at most', 1.2]);
  compare([latchkeyTrpc, unbatched], 'convert', 'throughput', ['at least', 0.6]);
  compare([latchkeyTrpc, trpcStandalone], 'convert', 'throughput', ['at least', 2]);

  const footprint = (name: string) => results.footprints.find((one) => one.name === name);
  const [ours, base] = [footprint(latchkey.name), footprint(unbatched.name)];
  if (ours && base) {
    const text = `${latchkey.name}: peak memory at most 1.5 × ${unbatched.name}`;
    targets.push(ratioTarget(text, ours.peakMemory / base.peakMemory, ['at most', 1.5]));
  }
  if (ours) {
    targets.push({
      text: `${latchkey.name}: first response within 400 ms of the start of the process`,
      measured: `${ours.startMilliseconds.toFixed(0)} ms`,
      isMet: ours.startMilliseconds <= 400,
    });
  }
  return targets;
}

/**
 * The targets on a MongoDB. The bare driver reads with `linearizable`, each request for itself, and
 * Latchkey behind a fence that requests share: hence the higher target for `authenticate`.
 */
export function mongodbTargets(where: string, results: Results): Target[] {
  const targets: Target[] = [];
  const compare = comparer(results, targets, ` (${where})`);
  const throughput = { convert: 1.5, revoke: 1.5, authenticate: 2 };
  for (const operation of ['convert', 'revoke', 'authenticate'] as const) {
    const pair: [Contender, Contender] = [latchkeyMongodb, mongodb];
    compare(pair, operation, 'throughput', ['at least', throughput[operation]]);
    compare(pair, operation, 'p99', ['at most', 1.2]);
    compare(pair, operation, 'cpu', ['at most', 0.7]);
  }
  return targets;
}
