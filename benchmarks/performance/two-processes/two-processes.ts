import { AtOnce } from '../at-once.ts';
import type { Running } from '../contender.ts';
import { startLatchkey } from '../contenders/latchkey.ts';
import { CONNECTIONS, turn } from '../measure.ts';
import type { Part } from '../part.ts';
import { Results } from '../results.ts';
import { rounds } from '../rounds.ts';
import { aboutOf, type StoreKind, storesOf } from '../stores.ts';
import { restWire } from '../wires/rest.ts';
import type { Workbench } from '../workbench.ts';
import { checkTargets, key, report, seenIn, serversOn, type Way } from './report.ts';

/** Servers that are under load at once. */
interface Group {
  store: StoreKind;
  way: Way;
  members: { name: string; running: Running }[];
}

/**
 * Two processes on one database, each alone and both at once; and beside them two with a database
 * each at once, which tells what comes of sharing a core, not a database.
 */
async function prepare(workbench: Workbench, store: StoreKind): Promise<Group[]> {
  const [first, second] = serversOn(store.name);
  const start = async (name: string, url: string) => {
    const running = await workbench.start(name, (place) => startLatchkey(place, url, restWire));
    return { name, running };
  };
  const shared = await store.newUrl();
  const together = [await start(first, shared), await start(second, shared)];
  const apart = [
    await start(first, await store.newUrl()),
    await start(second, await store.newUrl()),
  ];
  return [
    ...together.map((member): Group => ({ store, way: 'alone', members: [member] })),
    { store, way: 'on two databases', members: apart },
    { store, way: 'on one database', members: together },
  ];
}

/** Whether two processes on one database are in each other's way. */
export const twoProcesses: Part = {
  page: 'two-processes',
  title: 'Two processes on one database',
  async measure(workbench, quick) {
    const [requests, roundCount] = quick ? [1_000, 3] : [5_000, 5];
    const stores = await storesOf(workbench);
    const groups: Group[] = [];
    for (const store of stores) groups.push(...(await prepare(workbench, store)));
    const results = new Results();
    for (const { order, counts } of rounds(groups, roundCount)) {
      for (const { store, way, members } of order) {
        const sizes = {
          connections: CONNECTIONS,
          requests: Math.ceil(requests * store.share),
        };
        const atOnce = new AtOnce(members.length);
        const turns = members.map(async ({ name, running }) => {
          const samples = await turn(running, sizes, atOnce);
          if (counts) results.add(key(name, way), CONNECTIONS, samples);
        });
        await Promise.all(turns);
      }
    }
    const seen = seenIn(results, stores);
    return {
      conditions: [
        `${CONNECTIONS} connections a process`,
        `${requests} requests a turn`,
        `${roundCount} rounds`,
        ...aboutOf(stores),
      ],
      text: report(seen),
      checked: checkTargets(seen),
    };
  },
};
