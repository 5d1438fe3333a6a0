import type { Store, StoreOptions } from '@latchkey/store/store';
import type { Transfer } from '@latchkey/store/transfer';
import { describe } from 'vitest';

/** What only a database can promise, with why the suite leaves its tests out without one. */
const skipped = {
  /** Races between processes. */
  processes: 'other processes do not see this store',
  /** What a process that is killed has begun is completed by another one. */
  kills: 'this store ends with its process',
  /** What was acknowledged is there when the store is opened again. */
  durability: 'this store keeps nothing',
} as const;

/** What `testStore` needs to test a store. */
export interface StoreHarness {
  /** Creates an empty database. The suite creates a few, and removes each of them. */
  fresh(): Promise<TestDatabase>;

  /** How long {@link TestDatabase.waitForSweep} may take, in milliseconds. */
  sweepTimeout: number;

  /** How long the store keeps a code after its expiry, in milliseconds. */
  expiredCodesKept: number;

  /** What the store does not promise, since it is no database. Default: nothing. */
  skips?: readonly (keyof typeof skipped)[];
}

/** A database for tests. */
export interface TestDatabase {
  /** The URL of a module that exports the `driver` of the store. Child processes open the database with it. */
  module: string;

  /** The URL of the database. */
  url: string;

  /** Arguments of Node for these processes. */
  nodeArguments?: readonly string[];

  /** Opens it to fill it with records that no call would make. */
  openTarget(): Promise<Pick<Transfer, 'replace' | 'write' | 'close'>>;

  /** Opens another handle to the same data, on the system's clock. The suite closes it. */
  open(options?: Pick<StoreOptions, 'recordsEvents' | 'claim'>): Promise<Store>;

  /** Resolves once the store's housekeeping has deleted this expired code. Starts it if possible. */
  waitForSweep(grant_id: string): Promise<void>;

  /** Runs the store's housekeeping once, at a time, with `revokedGrantDays`. */
  reduceRevoked(revokedGrantDays: number, now: number): Promise<void>;

  /** Runs the store's housekeeping once, at a time. */
  sweep(now: number): Promise<void>;

  /** The names of the columns or fields in which the database has anything of a record. */
  membersOf(kind: 'grants' | 'links' | 'pages' | 'deliveries', id: string): Promise<string[]>;

  /** Deletes the database. */
  remove(): Promise<void>;
}

/** The stores of the suite. Two handles, so that concurrent calls also come from two of them. */
export class SuiteStores {
  readonly #harness: StoreHarness;
  #opened: { database: TestDatabase; store: Store; other: Store } | null = null;

  constructor(harness: StoreHarness) {
    this.#harness = harness;
  }

  async start(): Promise<void> {
    const database = await this.#harness.fresh();
    this.#opened = { database, store: await database.open(), other: await database.open() };
  }

  async stop(): Promise<void> {
    if (!this.#opened) return;
    const { database, store, other } = this.#opened;
    this.#opened = null;
    await Promise.all([store.close(), other.close()]);
    await database.remove();
  }

  get #running() {
    if (!this.#opened) throw new Error('The suite has not started.');
    return this.#opened;
  }

  get sweepTimeout(): number {
    return this.#harness.sweepTimeout;
  }

  get expiredCodesKept(): number {
    return this.#harness.expiredCodesKept;
  }

  get database(): TestDatabase {
    return this.#running.database;
  }

  get store(): Store {
    return this.#running.store;
  }

  /** A second handle to the same data. */
  get other(): Store {
    return this.#running.other;
  }

  /** A group of tests that some stores leave out. */
  describeUnless(skip: keyof typeof skipped, title: string, tests: () => void): void {
    if (this.#harness.skips?.includes(skip)) {
      describe.skip(`${title} (not run: ${skipped[skip]})`, tests);
    } else {
      describe(title, tests);
    }
  }

  /** The two handles in turn. */
  handle(turn: number): Store {
    return turn % 2 === 0 ? this.store : this.other;
  }

  /** Runs a test on an empty database of its own. */
  async withFresh(test: (database: TestDatabase) => Promise<void>): Promise<void> {
    const database = await this.#harness.fresh();
    try {
      await test(database);
    } finally {
      await database.remove();
    }
  }
}
