import { ratioTarget, type Target } from '../benchmark.ts';
import { betterAuth } from '../contenders/better-auth.ts';
import { floor } from '../contenders/floor.ts';
import { latchkey, latchkeyMongodb, latchkeyTrpc } from '../contenders/latchkey.ts';
import { mongodb } from '../contenders/mongodb.ts';
import { oauth2Server } from '../contenders/oauth2-server.ts';
import { oidcProvider } from '../contenders/oidc-provider.ts';
import { trpcStandalone } from '../contenders/trpc-standalone.ts';
import { CONNECTIONS, type Operation } from '../measure.ts';
import type { Results, Sample } from '../results.ts';

const figures: Record<keyof Sample, string> = {
  throughput: 'throughput',
  cpu: 'CPU per request',
  p50: 'p50',
  p99: 'p99',
};

/** The targets for everything that was measured. */
export function comparisonTargets(results: Results): Target[] {
  const targets: Target[] = [];

  function compare(
    [one, other]: [{ name: string }, { name: string }],
    operation: Operation,
    figure: keyof Sample,
    [bound, limit]: ['at least' | 'at most', number],
  ): void {
    const ours = results.medians(one.name, CONNECTIONS, operation);
    const theirs = results.medians(other.name, CONNECTIONS, operation);
    if (!ours || !theirs) return;
    const text = `${one.name}, ${operation}: ${figures[figure]} ${bound} ${limit} × ${other.name}`;
    targets.push(ratioTarget(text, ours[figure] / theirs[figure], [bound, limit]));
  }

  for (const operation of ['convert', 'revoke', 'authenticate'] as const) {
    compare([latchkey, floor], operation, 'throughput', ['at least', 0.9]);
    compare([latchkeyMongodb, mongodb], operation, 'throughput', ['at least', 0.9]);
    compare([latchkey, floor], operation, 'p99', ['at most', 1.5]);
  }
  compare([latchkey, floor], 'convert', 'cpu', ['at most', 1.2]);
  compare([latchkeyTrpc, floor], 'convert', 'throughput', ['at least', 0.6]);
  compare([latchkeyTrpc, trpcStandalone], 'convert', 'throughput', ['at least', 2]);
  for (const peer of [oidcProvider, oauth2Server, betterAuth]) {
    compare([latchkey, peer], 'convert', 'throughput', ['at least', 2]);
    compare([latchkey, peer], 'convert', 'cpu', ['at most', 0.5]);
  }

  const footprint = (name: string) => results.footprints.find((one) => one.name === name);
  const [ours, base] = [footprint(latchkey.name), footprint(floor.name)];
  if (ours && base) {
    const text = `${latchkey.name}: peak memory at most 1.5 × ${floor.name}`;
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
