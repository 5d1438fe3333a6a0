import { setTimeout as sleep } from 'node:timers/promises';
import { ReplicaSet } from '@latchkey/test-kit/mongodb/replica-set';
import type { Mongod } from '@latchkey/test-kit/mongodb/types';
import type { Host, Network } from '@latchkey/test-kit/network/network';
import { Relay } from '@latchkey/test-kit/postgresql/relay';
import { Replication } from '@latchkey/test-kit/postgresql/replication';
import type { PostgresqlPrograms } from '@latchkey/test-kit/postgresql/types';
import { mongoDatabase, postgresqlDatabase, type TestDatabase } from '../http/databases.ts';
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

/** Servers of a database that runs harm. */
export interface HarmedServers {
  faults: DatabaseFaults;
  /** A database on them. */
  fresh(): Promise<TestDatabase>;
  stop(): Promise<void>;
}

export async function harmedMongodb(
  mongod: Mongod,
  options: Pick<Parameters<typeof ReplicaSet.start>[1], 'members' | 'hosts'>,
): Promise<HarmedServers & { set: ReplicaSet }> {
  const set = await ReplicaSet.start(mongod, options);
  return {
    ...{ set, faults: faultsOf(set), stop: () => set.stop() },
    fresh: () => mongoDatabase(set.url),
  };
}

/** A primary with a synchronous standby, behind one address. */
export async function harmedPostgresql(programs: PostgresqlPrograms): Promise<HarmedServers> {
  const set = await Replication.start(programs, { standbys: 1 });
  const relay = await Relay.start(set.url);
  return {
    faults: faultsOfReplication(set, relay),
    fresh: () => postgresqlDatabase(relay.urlOf(set.url)),
    async stop() {
      await relay.stop();
      await set.stop();
    },
  };
}

/** How long two servers disagree about which of them is the primary. */
const DISAGREEMENT = 500;

/** Longer than a statement may take, so what waits for the standby is given up. */
const SILENCE = 6_000;

/** How long statements are lost. */
const LOSSES = 1_000;

/** What each write of PostgreSQL has in it. */
const WRITE = 'made AS (';

function faultsOfReplication(set: Replication, relay: Relay): DatabaseFaults {
  return {
    'kill -9 of the primary': async () => {
      await set.primary.kill();
      const former = await set.failOver();
      relay.leadTo(set.url);
      await set.follow(former);
    },
    // A load balancer that asks each server whether it is a primary takes both for one.
    'promotion beside the primary': async () => {
      const former = await set.failOver();
      relay.leadTo(former.url, set.url);
      await sleep(DISAGREEMENT);
      relay.leadTo(set.url);
      await set.follow(former);
    },
    'lost statements': async () => {
      relay.loseEach(3, WRITE);
      await sleep(LOSSES);
      await relay.deliver();
    },
    'silent standby': async () => {
      await set.standbys[0]?.pause();
      await sleep(SILENCE);
      await set.standbys[0]?.resume();
      await set.settled();
    },
    'kill -9 of both': async () => {
      await Promise.all(set.servers.map((server) => server.kill()));
      await Promise.all(set.servers.map((server) => server.restart()));
      await set.settled();
    },
  };
}

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
