import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplicaSet } from '@latchkey/test-kit/mongodb/replica-set';
import type { Host, Network } from '@latchkey/test-kit/network/network';
import type { ServerProcess } from '../http/served-process.ts';
import type { ServerName } from './history.ts';
import type { Random } from './random.ts';

/** What goes wrong during a run, besides the connections that the clients cut themselves. */
export type Fault =
  | { kind: 'kill-server'; server: ServerName }
  | { kind: 'pause-server'; server: ServerName; milliseconds: number }
  | { kind: 'database'; name: string };

/** What can go wrong with the database, by name: each makes it happen, and repairs it again. */
export type DatabaseFaults = Record<string, () => Promise<void>>;

/** How long the members of a replica set disagree before a paused primary goes on. */
const DISAGREEMENT = 500;

/** What can go wrong with a replica set: with one of three, everything that changes the primary. */
export function faultsOf(set: ReplicaSet): DatabaseFaults {
  if (set.members.length === 1) {
    return {
      'kill -9': async () => {
        const member = await set.primary();
        await member.kill();
        await member.restart();
        await set.settled();
      },
    };
  }
  return {
    'step-down': () => set.stepDown(),
    'kill -9 of the primary': async () => {
      const member = await set.primary();
      await member.kill();
      await set.primary();
      await member.restart();
      await set.settled();
    },
    // It still takes itself for the primary when it goes on, and has requests to answer.
    'pause of the primary': async () => {
      const member = await set.primary();
      await member.pause();
      await set.primary();
      await sleep(DISAGREEMENT);
      await member.resume();
      await set.settled();
    },
    'kill -9 of all members': async () => {
      await Promise.all(set.members.map((member) => member.kill()));
      await Promise.all(set.members.map((member) => member.restart()));
      await set.settled();
    },
  };
}

const LONGEST_PARTITION = 2_000;

export const partitionNames = [
  'two-way partition',
  'one-way partition',
  'partition with services on the minority side',
] as const;

type Partitions = Record<(typeof partitionNames)[number], (random: Random) => Promise<void>>;

/**
 * Cuts the connections between the primary and the other members, until these have elected another one.
 *
 * @param network - its first hosts are those of the members, the others those of two services
 */
export function partitionsOf(set: ReplicaSet, network: Network): Partitions {
  const services = network.hosts.slice(set.members.length);
  async function partition(
    random: Random,
    cut: (primary: Host, others: readonly Host[]) => Promise<void>,
  ): Promise<void> {
    const former = await set.primary();
    const others = set.members.filter((member) => member !== former).map(({ host }) => host);
    try {
      await cut(former.host, others);
      await set.primaryAfter(former);
      await sleep(DISAGREEMENT + random.integer(LONGEST_PARTITION - DISAGREEMENT));
    } finally {
      await network.repair();
    }
    await set.settled();
  }
  const separate = async (one: readonly Host[], other: readonly Host[]) => {
    await network.cut(one, other);
    await network.cut(other, one);
  };
  return {
    // The services reach all members.
    'two-way partition': (random) =>
      partition(random, (primary, others) => separate([primary], others)),
    'one-way partition': (random) =>
      partition(random, (primary, others) =>
        random.chance(0.5) ? network.cut([primary], others) : network.cut(others, [primary]),
      ),
    'partition with services on the minority side': (random) =>
      partition(random, (primary, others) => {
        const [a, b] = services as [Host, Host];
        const cutOff = random.pick([[a], [b], [a, b]]);
        const rest = services.filter((service) => !cutOff.includes(service));
        return separate([primary, ...cutOff], [...others, ...rest]);
      }),
  };
}

// Less than a server waits for the lock of another, in case it is stopped while it holds it, and
// much more than a call takes.
const SHORTEST_PAUSE = 50;
const LONGEST_PAUSE = 600;

/** The faults of a run, in their order. One of each kind comes first, so that no run lacks one. */
export function planFaults(random: Random, count: number, ofDatabase: readonly string[]): Fault[] {
  const kinds = [
    'kill-server' as const,
    'pause-server' as const,
    ...ofDatabase.map((name) => ({ name })),
  ];
  return Array.from({ length: count }, (_, index): Fault => {
    const kind = kinds[index] ?? random.pick(kinds);
    const server = random.pick(['A', 'B'] as const);
    if (typeof kind === 'object') return { kind: 'database', name: kind.name };
    if (kind === 'kill-server') return { kind, server };
    const milliseconds = SHORTEST_PAUSE + random.integer(LONGEST_PAUSE - SHORTEST_PAUSE);
    return { kind, server, milliseconds };
  });
}

/** Makes it happen, and repairs it again; in between the load goes on. */
export async function strike(
  fault: Fault,
  servers: Record<ServerName, ServerProcess>,
  ofDatabase: DatabaseFaults,
): Promise<void> {
  if (fault.kind === 'database') {
    await ofDatabase[fault.name]?.();
    return;
  }
  const server = servers[fault.server];
  if (fault.kind === 'kill-server') {
    await server.kill();
    await server.restart();
    return;
  }
  server.pause();
  await sleep(fault.milliseconds);
  server.resume();
}
