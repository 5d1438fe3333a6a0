import { keepLooking, type LookOptions } from '@latchkey/store/keep-looking';
import { type Db, MongoServerError, WriteConcern } from 'mongodb';
import {
  createIndexesText,
  type IndexOptions,
  inspectIndexes,
  type MissingIndexes,
  refuseConflicts,
} from './indexes.ts';

export interface KeeperOptions extends IndexOptions, LookOptions {
  maxTimeMS: number;
  writeConcern: WriteConcern;
  replicated: boolean;
}

const UNAUTHORIZED = 13;

/**
 * Builds what is missing: that of new collections at once. A dropped collection comes back without indexes, and would
 * grow for ever.
 *
 * @returns what ends it
 * @throws ConfigurationError if another index is in the way
 */
export async function keepIndexes(db: Db, options: KeeperOptions): Promise<() => Promise<void>> {
  async function findMissing(): Promise<readonly MissingIndexes[]> {
    const findings = await inspectIndexes(db, options.maxTimeMS, options);
    refuseConflicts(findings);
    return findings.missing;
  }
  const build = (all: readonly MissingIndexes[]) =>
    Promise.all(all.map((missing) => buildOne(db, options, missing)));

  const [old, fresh] = [[], []] as [MissingIndexes[], MissingIndexes[]];
  for (const missing of await findMissing()) (missing.exists ? old : fresh).push(missing);
  const first = await build(fresh);
  let isFirst = true;
  return keepLooking(async () => {
    const problems = isFirst ? [...first, ...(await build(old))] : await build(await findMissing());
    isFirst = false;
    return problems.flat();
  }, options);
}

/**
 * The database goes on with a build after its response is late.
 *
 * @returns the problem, if there is one
 */
async function buildOne(
  db: Db,
  { writeConcern, replicated, maxTimeMS }: KeeperOptions,
  missing: MissingIndexes,
): Promise<unknown[]> {
  const { collection, exists, indexes } = missing;
  const command = {
    createIndexes: collection,
    indexes: indexes.map(({ name, key, options }) => ({ name, key, ...options })),
    // By default, all voting members have to be up until the build is done.
    ...(replicated && { commitQuorum: 'majority' }),
    ...(!exists && { maxTimeMS }),
  };
  try {
    await db.command(WriteConcern.apply(command, writeConcern));
    return [];
  } catch (error) {
    return [explained(error, missing)];
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
