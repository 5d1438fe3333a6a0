import { uuidFromBytes } from '@latchkey/schema';
import { type AnyBulkWriteOperation, type Collection, MongoBulkWriteError } from 'mongodb';
import { refuseToCopy } from '../schema-version.ts';
import {
  type EarlierCopy,
  type ExportPage,
  isAhead,
  mergeApplication,
  type Transfer,
} from '../transfer.ts';
import { createClient, databaseName, defaultTimeouts } from './client.ts';
import { Connection, type Database } from './connection.ts';
import {
  type AccountDocument,
  type ErasedAccountDocument,
  fromAccountDocument,
  toSnapshot,
} from './documents/accounts.ts';
import {
  type ApplicationDocument,
  fromApplicationDocument,
  toApplicationDocument,
} from './documents/applications.ts';
import {
  fromStoredGrantDocument,
  type GrantDocument,
  type RedeemedDocument,
  toStoredGrantDocument,
} from './documents/grants.ts';
import {
  type DeletedScopeDocument,
  fromScopeDocument,
  type ScopeDocument,
} from './documents/scopes.ts';
import { fromId, toDate, toId } from './documents/values.ts';
import { migrations, versionOf } from './migrations.ts';
import { atRevision, revisionOf } from './retry-on-conflict.ts';

/** Erased accounts have no place. */
const notErased = { place: { $exists: true } };
const notDeleted = { deleted_at: { $exists: false } };
const redeemed = { created_at: { $exists: true } };

type CopyDocument = EarlierCopy & { _id: 'copy' };

/** The fields that change in the life of a grant; the others stay as they were inserted. */
const STATE = [
  ...(['created_at', 'secret_hash', 'first_used_at', 'revoked_at', 'recovered_at'] as const),
  ...(['redeemed_by', 'first_used_by', 'revoked_by', 'recovered_by', 'revision'] as const),
];

const DUPLICATE_KEY = 11000;

const MARK = { _id: 'copy' } as const;

/**
 * Opens a database to copy from, which is never changed, or to copy to.
 *
 * @throws SchemaMismatch if the schema of a source is not that of this program
 */
export async function openMongoTransfer(url: string, is: 'source' | 'target'): Promise<Transfer> {
  const { client, name } = createClient(url, defaultTimeouts);
  const isTarget = is === 'target';
  const options = { create: isTarget, migrate: isTarget };
  const connection = new Connection(client, name, defaultTimeouts, undefined, options);
  try {
    const { db, listing } = await connection.prepare();
    if (!isTarget) refuseToCopy(await versionOf(db, { listing }), migrations, db.databaseName);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return transfer(connection, databaseName(client, name));
}

function transfer(connection: Connection, name: string): Transfer {
  // A write that is repeated changes nothing more, so its outcome needs no finding out.
  const run = <T>(work: (database: Database) => Promise<T>) => connection.writeOnce(work);
  const copies = ({ db }: Database) => db.collection<CopyDocument>('copies');

  const page = async <Document extends { _id: GrantDocument['_id'] }>(
    collection: Collection<Document>,
    { listing }: Database,
    { after, limit }: ExportPage,
    condition = {},
  ) => {
    const filter = { ...condition, ...(after !== null && { _id: { $gt: toId(after) } }) };
    const found = collection
      .find(filter as never, listing)
      .sort({ _id: 1 })
      .limit(limit);
    return (await found.toArray()) as Document[];
  };

  return {
    name,

    exportScopes: () =>
      run(async ({ scopes, listing }) => {
        const found = await scopes.find(notDeleted, listing).toArray();
        return (found as ScopeDocument[]).map(fromScopeDocument);
      }),
    exportApplications: (range) =>
      run(async (database) =>
        (await page(database.applications, database, range, notDeleted)).map(
          fromApplicationDocument,
        ),
      ),
    exportAccounts: (range) =>
      run(async (database) => {
        const found = await page(database.accounts, database, range, notErased);
        return (found as AccountDocument[]).map((document) => ({
          place: fromId(document.place),
          account: fromAccountDocument(document),
        }));
      }),
    exportGrants: (range) =>
      run(async (database) => {
        const found = await page(database.grants, database, range, redeemed);
        return (found as RedeemedDocument[]).map(fromStoredGrantDocument);
      }),

    importScopes: (records, completed) =>
      run(async ({ scopes, durable }) => {
        type Operation = AnyBulkWriteOperation<ScopeDocument | DeletedScopeDocument>;
        const writes = records.map(({ scope, described_at, ...texts }): Operation => {
          const members = { described_at: toDate(described_at), ...texts };
          // A deleted one is not matched. Then the insertion finds its name taken.
          if (completed) return { insertOne: { document: { _id: scope, ...members } } };
          const update = { $set: members };
          return { updateOne: { filter: { _id: scope, ...notDeleted }, update, upsert: true } };
        });
        await bulk(scopes, writes, durable);
      }),
    importApplications: (records, completed) =>
      run(async ({ applications, listing, durable }) => {
        const ids = records.map(({ id }) => toId(id));
        const found = await applications.find({ _id: { $in: ids } }, listing).toArray();
        const present = new Map(found.map((each) => [uuidFromBytes(each._id.value()), each]));
        const writes = records.flatMap((record): AnyBulkWriteOperation<ApplicationDocument>[] => {
          const target = present.get(record.id);
          if (target?.deleted_at) return [];
          const brought = record.secrets.map(({ id }) => id);
          if (target === undefined) {
            const copied_secrets = brought.map(toId);
            return [
              { insertOne: { document: { ...toApplicationDocument(record), copied_secrets } } },
            ];
          }
          const earlier = new Set(target.copied_secrets?.map(fromId));
          const merged = completed
            ? mergeApplication(record, fromApplicationDocument(target), (id) => earlier.has(id))
            : record;
          const { _id, ...members } = toApplicationDocument(merged);
          const revision = revisionOf(target);
          const copied_secrets = [...new Set([...earlier, ...brought])].map(toId);
          const replacement = { ...members, copied_secrets, revision: revision + 1 };
          return [{ replaceOne: { filter: { _id, ...atRevision(revision) }, replacement } }];
        });
        await bulk(applications, writes, durable);
      }),

    importAccounts: (records, completed) =>
      run(async ({ accounts, durable }) => {
        type Operation = AnyBulkWriteOperation<AccountDocument | ErasedAccountDocument>;
        const writes = records.flatMap(({ place, account }): Operation[] => {
          const _id = toId(account.id);
          const members = { place: toId(place), ...toSnapshot(account) };
          // An erased account is not matched. Then the insertion finds its id taken.
          if (completed) return [{ insertOne: { document: { _id, ...members } } }];
          const update = { $set: members };
          return [{ updateOne: { filter: { _id, ...notErased }, update, upsert: true } }];
        });
        await bulk(accounts, writes, durable);
      }),

    importGrants: (records) =>
      run(async ({ grants, listing, durable }) => {
        const ids = records.map(({ grant_id }) => toId(grant_id));
        const found = await grants.find({ _id: { $in: ids } }, listing).toArray();
        const present = new Map(found.map((each) => [uuidFromBytes(each._id.value()), each]));
        const writes = records.flatMap((record): AnyBulkWriteOperation<GrantDocument>[] => {
          const document = toStoredGrantDocument(record);
          const target = present.get(record.grant_id);
          if (target === undefined) return [{ insertOne: { document } }];
          if (
            target.created_at &&
            !isAhead(record, fromStoredGrantDocument(target as RedeemedDocument))
          ) {
            return [];
          }
          const filter = {
            _id: document._id,
            ...atRevision(revisionOf(target)),
            // Nothing that changed since it was read is overwritten; the next copy compares again.
            created_at: target.created_at ?? { $exists: false },
            first_used_at: target.first_used_at ?? { $exists: false },
            revoked_at: { $exists: false },
          };
          const $set: Record<string, unknown> = {};
          const $unset: Record<string, ''> = { code_expires_at: '' };
          for (const field of STATE) {
            if (document[field] === undefined) $unset[field] = '';
            else $set[field] = document[field];
          }
          return [{ updateOne: { filter, update: { $set, $unset } } }];
        });
        await bulk(grants, writes, durable);
      }),

    findGrant: (grant_id) =>
      connection.decide(async ({ grants, decisive }) => {
        const found = await grants.findOne({ _id: toId(grant_id), ...redeemed }, decisive);
        return found && fromStoredGrantDocument(found as RedeemedDocument);
      }),
    presentOf: (kind, ids) =>
      run(async ({ applications, accounts, listing }) => {
        const options = { ...listing, projection: { _id: 1 } };
        const which = { _id: { $in: ids.map(toId) } };
        const found =
          kind === 'accounts'
            ? await accounts.find({ ...which, ...notErased }, options).toArray()
            : await applications.find({ ...which, ...notDeleted }, options).toArray();
        return new Set(found.map(({ _id }) => fromId(_id)));
      }),
    count: () =>
      run(async ({ scopes, applications, accounts, grants, listing: { readConcern } }) => ({
        scopes: await scopes.countDocuments(notDeleted, { readConcern }),
        applications: await applications.countDocuments(notDeleted, { readConcern }),
        accounts: await accounts.countDocuments(notErased, { readConcern }),
        grants: await grants.countDocuments(redeemed, { readConcern }),
      })),

    findEarlierCopy: () =>
      run(async (database) => {
        const found = await copies(database).findOne(MARK, database.listing);
        return found && { source: found.source, completed: found.completed };
      }),
    noteCopy: (copy) =>
      run(async (database) => {
        const options = { ...database.durable, upsert: true };
        await copies(database).replaceOne(MARK, copy, options);
      }),

    close: () => connection.close(),
  };
}

/** Ignores what is there already: another process, or an earlier attempt, inserted it. */
async function bulk<Document extends object>(
  collection: Collection<Document>,
  writes: AnyBulkWriteOperation<Document>[],
  durable: Database['durable'],
): Promise<void> {
  if (writes.length === 0) return;
  try {
    await collection.bulkWrite(writes, { ...durable, ordered: false });
  } catch (error) {
    const isRepeated =
      error instanceof MongoBulkWriteError &&
      [error.writeErrors].flat().every(({ code }) => code === DUPLICATE_KEY) &&
      error.result.getWriteConcernError() === undefined;
    if (!isRepeated) throw error;
  }
}
