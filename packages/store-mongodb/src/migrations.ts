import {
  mayMakeSteps,
  refuseNewer,
  type SchemaStep,
  type SchemaVersion,
  versionAfter,
} from '@latchkey/store/schema-version';
import type { Collection, Db } from 'mongodb';
import type { Concerns } from './concerns.ts';
import { isDuplicateKey } from './errors.ts';

/** There is no lock: several processes may run a step at once, while others serve requests. */
export interface MongoStep extends SchemaStep {
  run(db: Db, concerns: Pick<Concerns, 'durable' | 'listing'>): Promise<void>;
}

/** A new index is no step: every process builds missing ones in the background. */
export const migrations: readonly MongoStep[] = [
  {
    title: 'note the version',
    additive: false,
    rewrites: false,
    async run() {},
  },
];

interface SchemaDocument extends SchemaVersion {
  _id: 'version';
}

const ID = { _id: 'version' } as const;

const versions = (db: Db): Collection<SchemaDocument> => db.collection('schema');

export async function versionOf(
  db: Db,
  { listing }: Pick<Concerns, 'listing'>,
  steps: readonly SchemaStep[] = migrations,
): Promise<number> {
  const found = await versions(db).findOne(ID, listing);
  if (found === null) return 0;
  refuseNewer(found, steps, nameOf(db));
  return found.version;
}

export interface MigrateOptions {
  create?: boolean | undefined;
  migrate?: boolean | 'all' | undefined;
  migrations?: readonly MongoStep[] | undefined;
}

export async function migrate(
  db: Db,
  concerns: Pick<Concerns, 'durable' | 'listing'>,
  {
    create = true,
    migrate: mayMigrate = true,
    migrations: steps = migrations,
  }: MigrateOptions = {},
): Promise<void> {
  const from = await versionOf(db, concerns, steps);
  if (from === 0 && !create) return;
  if (mayMigrate !== 'all') mayMakeSteps(from, steps, nameOf(db), mayMigrate);
  for (const [index, step] of steps.entries()) {
    if (index < from) continue;
    await step.run(db, concerns);
    await note(db, concerns, index, versionAfter(steps.slice(0, index + 1)));
  }
}

async function note(
  db: Db,
  { durable }: Pick<Concerns, 'durable'>,
  before: number,
  after: SchemaVersion,
): Promise<void> {
  try {
    const upsert = before === 0;
    await versions(db).updateOne(
      { ...ID, version: before },
      { $set: after },
      { ...durable, upsert },
    );
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
}

const nameOf = (db: Db) => `The database ${db.databaseName}`;
