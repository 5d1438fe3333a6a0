import type { Collection, Db, MongoClient } from 'mongodb';
import { DomainError } from '../../domain-error.ts';
import { type Concerns, concernsFor } from './concerns.ts';
import type {
  AccountDocument,
  ApplicationDocument,
  GrantDocument,
  RateLimitDocument,
  RefusalDocument,
} from './documents.ts';
import { unavailable } from './errors.ts';
import { permanentFault } from './faults.ts';
import { grantIndexes, prepareIndexes, rateLimitIndexes, refusalIndexes } from './indexes.ts';
import { settle, type Write } from './outcomes.ts';
import { askServer } from './server.ts';
import type { Patience } from './settings.ts';

/** The database once it is reached, asked what it is, and has its indexes. */
export interface Database extends Concerns {
  db: Db;
  applications: Collection<ApplicationDocument>;
  accounts: Collection<AccountDocument>;
  grants: Collection<GrantDocument>;
  refusals: Collection<RefusalDocument>;
  rateLimitCounts: Collection<RateLimitDocument>;
}

/** The way from the operations to the database. */
export class Connection {
  readonly #client: MongoClient;
  readonly #name: string;
  readonly #patience: Patience;
  #database: Database | undefined;
  #preparation: Promise<Database> | undefined;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(client: MongoClient, name: string, patience: Patience) {
    this.#client = client;
    this.#name = name;
    this.#patience = patience;
  }

  /**
   * Prepares the database; concurrent calls share one preparation, and one that failed is made anew
   * with the next call.
   *
   * @throws PermanentFault where waiting is of no use
   */
  async prepare(): Promise<Database> {
    if (this.#database) return this.#database;
    this.#preparation ??= this.#prepare().finally(() => {
      this.#preparation = undefined;
    });
    return this.#preparation;
  }

  /** Runs reads. Whatever the database does to them, nothing is changed. */
  read<T>(work: (database: Database) => Promise<T>): Promise<T> {
    return this.#run(async (database) => {
      try {
        return await work(database);
      } catch (error) {
        throw unavailable(error);
      }
    });
  }

  /**
   * Runs a write that no promise rests on, and that may be made twice: what became of it, where its
   * answer got lost, is not looked after.
   */
  writeCasually<T>(work: (database: Database) => Promise<T>): Promise<T> {
    return this.read(work);
  }

  /** Runs a write, and finds out what became of it where that is not plain. */
  write<T>(write: (database: Omit<Database, 'durable'>) => Write<T>): Promise<T> {
    return this.#run((database) =>
      settle(write(database), database.durable, this.#patience.outcome, this.#closing.signal),
    );
  }

  /**
   * Lets what runs finish, then lets go of the database. By then every request was answered or cut
   * off, so a write whose outcome is unknown is not looked after any longer.
   */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled([...this.#running, this.#preparation]);
    await this.#client.close();
  }

  #run<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const result = this.#whenPrepared(work);
    this.#running.add(result);
    const done = () => this.#running.delete(result);
    result.then(done, done);
    return result;
  }

  async #whenPrepared<T>(work: (database: Database) => Promise<T>): Promise<T> {
    if (this.#closing.signal.aborted)
      throw new DomainError('store_unavailable', {}, new Error('The store is closed.'));
    let database: Database;
    try {
      database = await this.prepare();
    } catch (error) {
      // A fault that turns up while the service runs is in the log, and may be put right meanwhile.
      throw new DomainError('store_unavailable', {}, error);
    }
    return work(database);
  }

  async #prepare(): Promise<Database> {
    try {
      await this.#client.connect();
      const db = this.#client.db(this.#name);
      const concerns = concernsFor(await askServer(db, this.#patience), this.#patience);
      // What is done once, such as the indexes, has no options of its own and takes these.
      const options = { ...concerns.listing, ...concerns.durable };
      const database: Database = {
        ...concerns,
        db,
        applications: db.collection('applications', options),
        accounts: db.collection('accounts', options),
        grants: db.collection('grants', options),
        refusals: db.collection('refusals', options),
        rateLimitCounts: db.collection('rate_limit_counts', options),
      };
      await prepareIndexes(database.grants, grantIndexes);
      await prepareIndexes(database.refusals, refusalIndexes);
      await prepareIndexes(database.rateLimitCounts, rateLimitIndexes);
      this.#database = database;
      return database;
    } catch (error) {
      throw permanentFault(error) ?? error;
    }
  }
}
