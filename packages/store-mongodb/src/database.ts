import {
  beforeDeadline,
  type Moment,
  outsideRequests,
  pastDeadline,
  requestScope,
} from '@latchkey/domain/request-scope';
import { Calls } from '@latchkey/store/calls';
import { gather } from '@latchkey/store/gather';
import type { Timeouts } from '@latchkey/store/server-store';
import type { StoreOptions } from '@latchkey/store/store';
import {
  outcomeUnknown,
  type Write as SettledWrite,
  settle,
} from '@latchkey/store/uncertain-writes';
import { claimDatabase } from '@latchkey/store/use-mark';
import type { Binary, Collection, Db, MongoClient } from 'mongodb';
import { type Concerns, concernsFor } from './concerns.ts';
import { configurationError, withHint } from './configuration-error.ts';
import type {
  DeliveryDocument,
  GrantDocument,
  HourDocument,
  LiveCountDocument,
  RateLimitDocument,
} from './documents.ts';
import { isDatabaseError, isRefusedHint, unavailable } from './errors.ts';
import { type DecisiveOptions, fencedOrder, type Order, thisMoment, unordered } from './fence.ts';
import { keepIndexes } from './index-keeper.ts';
import { type IndexOptions, refuseNew } from './indexes.ts';
import { checkRights } from './rights.ts';
import { noteVersion, versionOf } from './schema-version.ts';
import { countSends, type Durably, type WriteOptions } from './sends.ts';
import { askServer, NEVER_ON_SHARDS, type ServerFacts } from './server.ts';
import { claimed } from './use-mark.ts';
import { toId } from './values.ts';

/** The options of each command say what it needs. */
export interface Collections extends Concerns {
  order: Order;
  /** Whether a decisive read may read several documents: a linearizable one may not. */
  gathers: boolean;
  db: Db;
  grants: Collection<GrantDocument>;
  deliveries: Collection<DeliveryDocument>;
  hourCounts: Collection<HourDocument>;
  /** In the same collection. */
  liveCount: Collection<LiveCountDocument>;
  rateLimitCounts: Collection<RateLimitDocument>;
}

/** A write whose driver may repeat it by itself. */
export interface Write<T> extends Omit<SettledWrite<T>, 'send'> {
  send(options: WriteOptions): Promise<T>;
}

export type ById = { _id: Binary | { $in: Binary[] } };

export type ListWork<T> = (
  collections: Collections,
  options: DecisiveOptions & { hint?: string },
) => Promise<T>;

/** Without `create`, no index is built either. */
export type DatabaseOptions = IndexOptions &
  Pick<StoreOptions, 'claim' | 'onWarning'> & { create?: boolean | undefined };

interface Asked {
  id: string;
  moment: Moment;
}

/** A linearizable read waits for a majority, also if it finds nothing. */
const NO_GRANT = toId('00000000-0000-0000-0000-000000000000');

// A response has a document for each id, with an application that may have a logo of 8 KB.
const MOST_IDS = 100;

export class Database {
  readonly #client: MongoClient;
  readonly #name: string;
  readonly #timeouts: Timeouts;
  #collections: Collections | undefined;
  readonly #calls = new Calls(() => this.#prepare());
  readonly #onError: (error: unknown) => void;
  readonly #options: DatabaseOptions;
  readonly #setNames = new Set<string>();
  #endKeeper: (() => Promise<void>) | undefined;

  constructor(
    client: MongoClient,
    name: string,
    timeouts: Timeouts,
    onError: (error: unknown) => void = () => undefined,
    options: DatabaseOptions = {},
  ) {
    this.#client = client;
    this.#name = name;
    this.#timeouts = timeouts;
    this.#onError = onError;
    this.#options = options;
    client.on('serverHeartbeatSucceeded', ({ reply: { setName } }) => {
      if (typeof setName === 'string') this.#setNames.add(setName);
    });
  }

  /** @throws ConfigurationError if waiting does not help; otherwise the next call retries */
  prepare(): Promise<Collections> {
    return this.#calls.prepare();
  }

  read<T>(work: (collections: Collections) => Promise<T>): Promise<T> {
    return this.#calls.run(async (collections) => {
      try {
        return await work(collections);
      } catch (error) {
        throw unavailable(error);
      }
    });
  }

  readByIndex<T>(index: string, work: ListWork<T>): Promise<T> {
    return this.read((collections) =>
      withHintIfBuilt(index, collections, collections.listing, work),
    );
  }

  /** Sees every acknowledged write. `decisive` is for one command. */
  decide<T>(
    work: (collections: Collections & { decisive: DecisiveOptions }) => Promise<T>,
    moments = [thisMoment()],
  ): Promise<T> {
    return this.read((collections) =>
      collections.order.read(moments, (decisive) => work({ ...collections, decisive })),
    );
  }

  /**
   * If the fence failed, a linearizable read takes its place. On a sharded cluster, a primary that
   * was just deposed may serve an older list.
   */
  decideByIndex<T>(index: string, work: ListWork<T>): Promise<T> {
    return this.decide((collections) => {
      const { decisive, gathers, listing } = collections;
      const isFenced = decisive.readConcern.level !== 'linearizable';
      if (isFenced || !gathers) {
        return withHintIfBuilt(index, collections, isFenced ? decisive : listing, work);
      }
      return this.#client.withSession({ causalConsistency: true }, async (session) => {
        await collections.grants.findOne({ _id: NO_GRANT }, { ...decisive, session });
        return withHintIfBuilt(index, collections, { ...listing, session }, work);
      });
    });
  }

  /** @param key - how a key is stored */
  gatherReads<T extends { _id: Binary }>(
    find: (collections: Collections & { decisive: DecisiveOptions }, byId: ById) => Promise<T[]>,
    key: { encode(key: string): Binary; decode(_id: Binary): string },
  ): (key: string) => Promise<T | null> {
    const findOne = async (_id: Binary) => {
      const [document] = await this.decide((collections) => find(collections, { _id }));
      return document ?? null;
    };
    const findGathered = gather<Asked, T | null>(
      async (all) => {
        const ids = [...new Set(all.map(({ id }) => id))];
        const findAll = async (collections: Collections & { decisive: DecisiveOptions }) => {
          const [first, ...others] = ids.map(key.encode);
          if (first === undefined) return [];
          if (others.length === 0) return find(collections, { _id: first });
          const binaries = [first, ...others];
          const isOneByOne = collections.decisive.readConcern.level === 'linearizable';
          if (!isOneByOne) return find(collections, { _id: { $in: binaries } });
          return (await allOf(binaries.map((_id) => find(collections, { _id })))).flat();
        };
        // With the moments of all, and the deadline of none: each waits until its own.
        const moments = new Set(all.map(({ moment }) => moment));
        const documents = await outsideRequests(() => this.decide(findAll, [...moments]));
        const found = new Map(documents.map((document) => [key.decode(document._id), document]));
        return all.map(({ id }) => found.get(id) ?? null);
      },
      { most: MOST_IDS },
    );
    // If every read is of one document, gathering only makes callers wait.
    return (id) =>
      this.#collections?.gathers === false
        ? findOne(key.encode(id))
        : beforeDeadline(findGathered({ id, moment: thisMoment() }));
  }

  /** The write may get lost, be repeated, or have been made although this rejects. */
  writeOnce<T>(work: (collections: Collections) => Promise<T>): Promise<T> {
    return this.read(work);
  }

  write<T>(write: (collections: Omit<Collections, 'durable'>) => Write<T>): Promise<T> {
    const scope = requestScope();
    let begun: Write<T> | undefined;
    return this.#calls.run(
      (collections) => {
        const { send, ...rest } = write(collections);
        begun = { send, ...rest };
        const durably: Durably = (command) => collections.order.write(scope, command);
        return settle(
          { ...rest, send: () => countSends(send, durably) },
          {
            ...{ timeout: this.#timeouts.outcome, closing: this.#calls.closing },
            ...{ isDatabaseError, unavailable },
          },
        );
      },
      () => (begun === undefined || begun.isPart ? pastDeadline() : outcomeUnknown(begun)),
    );
  }

  inSequence<T>(steps: () => Promise<T>): Promise<T> {
    return this.#calls.inSequence(steps);
  }

  async close(): Promise<void> {
    const ended = this.#endKeeper?.();
    await this.#calls.close();
    await this.#client.close();
    // Without its connection, a build is not waited for.
    await ended;
  }

  async #prepare(): Promise<Collections> {
    try {
      await this.#client.connect();
      const db = this.#client.db(this.#name);
      const server = await askServer(db);
      const concerns = concernsFor(server, this.#timeouts);
      const collections: Collections = {
        ...concerns,
        order: server.fenced
          ? fencedOrder(this.#client, db.collection('fences'), concerns)
          : unordered(concerns),
        gathers: server.fenced || !server.replicated,
        db,
        grants: db.collection('grants'),
        deliveries: db.collection('deliveries'),
        hourCounts: db.collection('hour_counts'),
        liveCount: db.collection('hour_counts'),
        rateLimitCounts: db.collection('rate_limit_counts'),
      };
      await checkRights(db, this.#timeouts.operation);
      const { create = true, claim, onWarning } = this.#options;
      if (server.sharded) {
        onWarning?.(`The database is ${NEVER_ON_SHARDS}. Use a replica set of three members.`);
      }
      if (create) await noteVersion(db, concerns);
      else {
        await refuseNew(db, this.#timeouts.operation);
        await versionOf(db, concerns);
      }
      if (claim) await claimDatabase(claimed(collections), claim, onWarning);
      if (create) await this.#keepIndexes(collections, server);
      this.#collections = collections;
      return collections;
    } catch (error) {
      throw configurationError(error, this.#setNames) ?? withHint(error);
    }
  }

  async #keepIndexes({ db, durable }: Collections, { replicated }: ServerFacts): Promise<void> {
    const { reducesRevoked = false } = this.#options;
    const { indexCheck: interval } = this.#timeouts;
    const end = await keepIndexes(db, {
      ...{ reducesRevoked, ...durable, replicated, interval, onError: this.#onError },
    });
    if (this.#calls.closing.aborted) void end();
    this.#endKeeper = end;
  }
}

/** Without the hint, MongoDB may read everybody's grants for a list in the order of `_id`. */
async function withHintIfBuilt<T>(
  index: string,
  collections: Collections,
  options: DecisiveOptions,
  work: ListWork<T>,
): Promise<T> {
  try {
    return await work(collections, { ...options, hint: index });
  } catch (error) {
    // The index is not built yet, or was dropped.
    if (isRefusedHint(error)) return work(collections, options);
    throw error;
  }
}

/** So that no read goes on after a failure. */
export async function allOf<T>(reads: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(reads);
  return Promise.all(reads);
}
