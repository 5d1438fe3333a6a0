import { versionsOf } from '../../versions.ts';
import type { Contender, Running } from '../contender.ts';
import { betterAuth } from '../contenders/better-auth.ts';
import { floor } from '../contenders/floor.ts';
import {
  latchkey,
  latchkeyMongodb,
  latchkeyMongodbTrpc,
  latchkeyTrpc,
} from '../contenders/latchkey.ts';
import { mongodb } from '../contenders/mongodb.ts';
import { oauth2Server } from '../contenders/oauth2-server.ts';
import { oidcProvider } from '../contenders/oidc-provider.ts';
import { sqlite } from '../contenders/sqlite.ts';
import { trpcStandalone } from '../contenders/trpc-standalone.ts';
import { CONNECTIONS, turn } from '../measure.ts';
import type { Part } from '../part.ts';
import { Results } from '../results.ts';
import { rounds } from '../rounds.ts';
import { aboutOf, storesOf } from '../stores.ts';
import { plot } from './plot.ts';
import { report } from './report.ts';
import { checkTargets } from './targets.ts';

interface Entry {
  contender: Contender;
  running: Running;
}

interface Sizes {
  requests: number;
  connections: readonly number[];
  rounds: number;
}

/** How many requests a contender gets. With one connection, a tenth: they take turns. */
function requestsOf({ share, most }: Contender, sizes: Sizes, connections: number): number {
  const requests = Math.ceil(sizes.requests * share * (connections === 1 ? 0.1 : 1));
  return Math.min(requests, most ?? requests);
}

async function compare(entries: readonly Entry[], sizes: Sizes): Promise<Results> {
  const results = new Results();
  for (const { order, counts } of rounds(entries, sizes.rounds)) {
    for (const connections of sizes.connections) {
      for (const { contender, running } of order) {
        const requests = requestsOf(contender, sizes, connections);
        const samples = await turn(running, { connections, requests });
        if (counts) results.add(contender.name, connections, samples);
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

/** Each server beside the floor. */
export const comparison: Part = {
  page: 'performance',
  title: 'Performance',
  async measure(workbench, quick) {
    const sizes: Sizes = quick
      ? { requests: 3_000, connections: [CONNECTIONS], rounds: 5 }
      : { requests: 5_000, connections: [CONNECTIONS, 1, 256], rounds: 7 };
    const contenders = [
      ...[floor, sqlite, latchkey, latchkeyTrpc, trpcStandalone],
      ...[oidcProvider, oauth2Server, betterAuth],
      ...(workbench.mongodb ? [mongodb, latchkeyMongodb, latchkeyMongodbTrpc] : []),
    ];
    const stores = await storesOf(workbench);
    const entries: Entry[] = [];
    for (const contender of contenders) {
      entries.push({ contender, running: await workbench.start(contender.name, contender.start) });
    }
    const results = await compare(entries, sizes);
    const versions = await versionsOf([
      ...['oidc-provider', '@node-oauth/oauth2-server', 'better-auth'],
      ...['@better-auth/oauth-provider', '@trpc/server', 'mongodb'],
    ]);
    return {
      conditions: [`${sizes.rounds} rounds`, versions, ...aboutOf(stores)],
      text: report(results, sizes.connections),
      checked: checkTargets(results),
      plot: { about: 'Exchanges beside the floor', svg: plot(results, CONNECTIONS) },
    };
  },
};
