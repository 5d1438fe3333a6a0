import { type Db, MongoServerError, WriteConcern } from 'mongodb';
import {
  createIndexesText,
  type IndexFindings,
  type IndexOptions,
  inspectIndexes,
  type MissingIndexes,
  refuseConflicts,
} from './indexes.ts';

export interface KeeperOptions extends IndexOptions {
  maxTimeMS: number;
  writeConcern: WriteConcern;
  replicated: boolean;
  interval: number;
  onError(error: unknown): void;
}

const UNAUTHORIZED = 13;

/** Checks repeatedly: a dropped collection comes back without indexes, and would grow for ever. */
export class IndexKeeper {
  readonly #db: Db;
  readonly #options: KeeperOptions;
  readonly #building = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #lastProblem: string | undefined;
  #closed = false;

  constructor(db: Db, options: KeeperOptions) {
    this.#db = db;
    this.#options = options;
  }

  async start(): Promise<void> {
    const findings = await this.#inspect();
    refuseConflicts(findings);
    const inNewCollections = findings.missing.filter(({ exists }) => !exists);
    await Promise.all(inNewCollections.map((missing) => this.#build(missing)));
    for (const missing of findings.missing) if (missing.exists) void this.#build(missing);
    this.#lookLater();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #inspect(): Promise<IndexFindings> {
    return inspectIndexes(this.#db, this.#options.maxTimeMS, this.#options);
  }

  #lookLater(): void {
    if (this.#closed) return;
    // Processes that started together should not all build at once.
    const pause = this.#options.interval * (0.5 + Math.random() / 2);
    this.#timer = setTimeout(() => void this.#look(), pause);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    try {
      const findings = await this.#inspect();
      refuseConflicts(findings);
      for (const missing of findings.missing) void this.#build(missing);
      if (findings.missing.length === 0) this.#lastProblem = undefined;
    } catch (error) {
      this.#report(error);
    }
    this.#lookLater();
  }

  /** The database goes on with a build after its response is late. */
  async #build(missing: MissingIndexes): Promise<void> {
    const { collection, exists, indexes } = missing;
    if (this.#building.has(collection)) return;
    this.#building.add(collection);
    const { writeConcern, replicated, maxTimeMS } = this.#options;
    try {
      const command = {
        createIndexes: collection,
        indexes: indexes.map(({ name, key, options }) => ({ name, key, ...options })),
        // By default, all voting members have to be up until the build is done.
        ...(replicated && { commitQuorum: 'majority' }),
        ...(!exists && { maxTimeMS }),
      };
      await this.#db.command(WriteConcern.apply(command, writeConcern));
    } catch (error) {
      this.#report(explained(error, missing));
    } finally {
      this.#building.delete(collection);
    }
  }

  #report(error: unknown): void {
    const problem = String(error);
    if (this.#closed || problem === this.#lastProblem) return;
    this.#lastProblem = problem;
    this.#options.onError(error);
  }
}

function explained(error: unknown, missing: MissingIndexes): unknown {
  if (!(error instanceof MongoServerError)) return error;
  const names = missing.indexes.map(({ name }) => name).join(', ');
  const problem =
    error.code === UNAUTHORIZED ? 'the user may not create them' : `MongoDB says: ${error.message}`;
  return new Error(
    `Indexes of the collection ${missing.collection} are missing (${names}), and ${problem}. Run in mongosh: ${createIndexesText(missing)}`,
    { cause: error },
  );
}
