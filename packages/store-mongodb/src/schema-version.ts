import { refuseNewer, SCHEMA, type SchemaVersion } from '@latchkey/store/schema-version';
import type { Db } from 'mongodb';
import type { Concerns } from './concerns.ts';
import { isDuplicateKey } from './errors.ts';

interface SchemaDocument extends SchemaVersion {
  _id: 'version';
}

const ID = { _id: 'version' } as const;

const versions = (db: Db) => db.collection<SchemaDocument>('schema');

/** 0: nothing was noted yet. */
export async function versionOf(db: Db, { listing }: Pick<Concerns, 'listing'>): Promise<number> {
  const found = await versions(db).findOne(ID, listing);
  if (found === null) return 0;
  refuseNewer(found, `The database ${db.databaseName}`);
  return found.version;
}

/** Several processes may do so at once, also those of a newer version. */
export async function noteVersion(
  db: Db,
  { durable, listing }: Pick<Concerns, 'durable' | 'listing'>,
): Promise<void> {
  if ((await versionOf(db, { listing })) > 0) return;
  try {
    await versions(db).insertOne({ ...ID, ...SCHEMA }, durable);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    await versionOf(db, { listing });
  }
}
