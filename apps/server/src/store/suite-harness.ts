import type { Store } from './store.ts';

/** What an adapter brings so that `describeStore` can hold it to the port. */
export interface StoreHarness {
  /** Makes an empty database. A suite makes a few, and removes each when done. */
  fresh(): Promise<TestDatabase>;

  /** How long {@link TestDatabase.waitForSweep} may take, in milliseconds. */
  sweepTimeout: number;
}

/** A database of the tests. */
export interface TestDatabase {
  /** What `openStore` takes: child processes open the database by it. */
  url: string;

  /** Another handle onto the same data, on the system's clock. The suite closes it. */
  open(): Promise<Store>;

  /**
   * Resolves once the adapter's own housekeeping has deleted this expired code: set it off where
   * that is possible, else wait for it.
   */
  waitForSweep(grant_id: string): Promise<void>;

  /** Lets go of the database, and deletes it. */
  remove(): Promise<void>;
}

/**
 * What the parts of the suite work on. Two handles, so that what one process of a service does at
 * once is also tried as two of them.
 */
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

  get database(): TestDatabase {
    return this.#running.database;
  }

  get store(): Store {
    return this.#running.store;
  }

  /** A second handle onto the same data. */
  get other(): Store {
    return this.#running.other;
  }

  /** The one handle or the other, by turns. */
  handle(turn: number): Store {
    return turn % 2 === 0 ? this.store : this.other;
  }

  /** An empty database of its own for a test that needs one. */
  async withFresh(test: (database: TestDatabase) => Promise<void>): Promise<void> {
    const database = await this.#harness.fresh();
    try {
      await test(database);
    } finally {
      await database.remove();
    }
  }
}
