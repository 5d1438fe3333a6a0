import { isDeepStrictEqual } from 'node:util';
import {
  type CopiedAs,
  clientDocumentsOf,
  copiedAs,
  copiedInOne,
  pageOf,
} from '@latchkey/store/copied';
import { clientDocuments } from '@latchkey/store/kinds';
import type { ApplicationRecord, DeliveryRecord, ListedAccount } from '@latchkey/store/records';
import { refuseToCopy } from '@latchkey/store/schema-version';
import {
  type CopiedKind,
  type CopiedRecords,
  erasedGrant,
  type Page,
  type StoredEndpoint,
  type StoredGrant,
  type Transfer,
} from '@latchkey/store/transfer';
import type { UseMarks } from '@latchkey/store/use-mark';
import type { AnyBulkWriteOperation, Binary, BulkWriteOptions, Filter } from 'mongodb';
import { createClient, databaseName, defaultTimeouts } from './client.ts';
import { type Collections, Database, type DatabaseOptions } from './database.ts';
import {
  type AccountDocument,
  type ErasedAccountDocument,
  fromAccountDocument,
  toAccountDocument,
} from './documents/accounts.ts';
import {
  type DeliveryDocument,
  fromDeliveryDocument,
  toDeliveryDocument,
} from './documents/deliveries.ts';
import {
  type EndpointItem,
  fromEndpointItem,
  fromOwner,
  toEndpointItem,
  toOwner,
} from './documents/endpoints.ts';
import {
  fromStoredGrantDocument,
  type RedeemedDocument,
  toStoredGrantDocument,
} from './documents/grants.ts';
import { fromId, fromInitiator, toId } from './documents/values.ts';
import { documentOf, recordOf } from './encoding.ts';
import type { FenceDocument } from './fence.ts';
import { joinApplication } from './find-owners.ts';
import { tellAll } from './make-deliveries.ts';
import { migrations, versionOf } from './migrations.ts';
import { touchMark, useMarks } from './use-mark.ts';

interface Copied<Record, Document> {
  which?: object;
  fromDocument(document: Document): Record;
  toDocument(record: Record): Partial<Document>;
}

const existing = { deleted_at: { $exists: false } };

const accounts: Copied<ListedAccount, AccountDocument> = {
  // Erased accounts have no place.
  which: { place: { $exists: true } },
  fromDocument: (document) => ({
    place: fromId(document.place),
    account: fromAccountDocument(document),
  }),
  toDocument: ({ place, account }) => toAccountDocument(account, toId(place)),
};

const grants: Copied<StoredGrant, RedeemedDocument> = {
  which: { created_at: { $exists: true } },
  fromDocument: fromStoredGrantDocument,
  toDocument: toStoredGrantDocument as (grant: StoredGrant) => RedeemedDocument,
};

const deliveries: Copied<DeliveryRecord, DeliveryDocument> = {
  which: { due_at: { $exists: true } },
  fromDocument: fromDeliveryDocument,
  toDocument: toDeliveryDocument,
};

function declared<Kind extends CopiedKind>(name: Kind): Copied<CopiedRecords[Kind], AnyDocument> {
  const { kind, where, toCopy, toStored } = copiedAs[name] as CopiedAs<CopiedRecords[Kind]>;
  const decode = recordOf(kind, Object.keys(kind.fields));
  const encode = documentOf(kind);
  return {
    ...(where && {
      which:
        'set' in where ? { [where.set]: { $exists: true } } : { [where.unset]: { $exists: false } },
    }),
    fromDocument: (document) => toCopy(decode(document) ?? {}),
    toDocument: (copy) => encode(toStored(copy)) as AnyDocument,
  };
}

type AnyRecord = { id: string };

const listOf = (kind: CopiedKind) =>
  kind in copiedInOne ? copiedInOne[kind as keyof typeof copiedInOne] : null;

type ListKind = NonNullable<ReturnType<typeof listOf>>;

const ALL = { _id: 'all' };

async function readList(
  { kind, toCopy }: ListKind,
  { db, listing }: Collections,
  page: Page,
): Promise<AnyRecord[]> {
  const documents = db.collection<{ _id: string; list: AnyRecord[] }>(kind.name);
  const { list } = (await documents.findOne(ALL, listing)) ?? { list: [] };
  return pageOf(list, page).map(toCopy);
}

function putList(
  { toStored }: ListKind,
  records: readonly AnyRecord[],
  removed: readonly string[],
) {
  const list = replacing('$list', records.map(toStored), removed);
  return { updateOne: { filter: ALL, update: [{ $set: { list } }], upsert: true } };
}

async function readEndpoints(
  { endpoints, listing }: Collections,
  { after, limit }: { after: string | null; limit: number },
): Promise<StoredEndpoint[]> {
  const documents = await endpoints
    .aggregate<{ _id: Binary; endpoints: EndpointItem; application: object[] }>(
      [
        { $unwind: '$endpoints' },
        ...(after === null ? [] : [{ $match: { 'endpoints.id': { $gt: toId(after) } } }]),
        { $sort: { 'endpoints.id': 1 } },
        { $limit: limit },
        joinApplication('application', existing),
      ],
      listing,
    )
    .toArray();
  return documents.map(({ _id, endpoints, application }) => ({
    ...fromEndpointItem(_id, endpoints),
    hidden: fromOwner(_id) !== null && application.length === 0,
  }));
}

/** One document has all of an owner. */
function putEndpoints(records: readonly StoredEndpoint[], removed: readonly string[]): object[] {
  const ids = removed.map(toId);
  const byOwner = Map.groupBy(records, ({ application_id }) => application_id);
  return [
    {
      updateMany: {
        filter: { 'endpoints.id': { $in: ids } },
        update: { $pull: { endpoints: { id: { $in: ids } } } },
      },
    },
    ...[...byOwner].map(([owner, of]) => ({
      updateOne: {
        filter: { _id: toOwner(owner) },
        update: [{ $set: { endpoints: replacing('$endpoints', of.map(toEndpointItem)) } }],
        upsert: true,
      },
    })),
  ];
}

/** The list with these items instead of those with their ids. */
const replacing = <Id extends Binary | string>(
  list: string,
  items: readonly { id: Id }[],
  removed: readonly Id[] = [],
) => ({
  $concatArrays: [
    {
      $filter: {
        input: { $ifNull: [list, []] },
        cond: { $not: [{ $in: ['$$this.id', [...items.map(({ id }) => id), ...removed]] }] },
      },
    },
    { $literal: items },
  ],
});

const toDocument = documentOf(clientDocuments);

/** By which documented applications are found. */
const addressesOf = (
  records: readonly ApplicationRecord[],
  removed: readonly string[],
): object[] => [
  { deleteMany: { filter: { application_id: { $in: removed.map(toId) } } } },
  ...clientDocumentsOf(records).map((document) => {
    const replacement = toDocument(document);
    return { replaceOne: { filter: { _id: replacement._id }, replacement, upsert: true } };
  }),
];

const kinds = {
  ...{ accounts, grants, deliveries },
  applications: declared('applications'),
  deletions: declared('deletions'),
  scopes: declared('scopes'),
  command_changes: declared('command_changes'),
  log_counter: declared('log_counter'),
};
const namedKinds: readonly CopiedKind[] = ['scopes', 'log_counter'];

type KindOfDocuments = keyof typeof kinds;

type AnyDocument = { _id: Binary | string };

export async function openMongoSource(url: string): Promise<Transfer> {
  return openTransfer(url, { create: false, migrate: false });
}

export const openMongoTarget = (url: string): Promise<Transfer> => openTransfer(url, {});

async function openTransfer(url: string, options: DatabaseOptions): Promise<Transfer> {
  const { client, name } = createClient(url, defaultTimeouts);
  const database = new Database(client, name, defaultTimeouts, undefined, options);
  try {
    const { db, ...concerns } = await database.prepare();
    refuseToCopy(await versionOf(db, concerns), migrations, db.databaseName);
    return transfer(database, useMarks(db, concerns), databaseName(client, name));
  } catch (error) {
    await database.close();
    throw error;
  }
}

function transfer(database: Database, marks: UseMarks, name: string): Transfer {
  // A write that is repeated changes nothing more, so its outcome needs no finding out.
  const run = <T>(work: (collections: Collections) => Promise<T>) => database.writeOnce(work);
  const copied = <Kind extends CopiedKind>(kind: Kind) =>
    kinds[kind as KindOfDocuments] as unknown as Copied<CopiedRecords[Kind], AnyDocument>;
  const collectionOf = ({ db }: Collections, kind: CopiedKind) =>
    db.collection<AnyDocument>(kind === 'deletions' ? 'applications' : kind);
  function operationsOn<Kind extends CopiedKind>(
    kind: Kind,
    records: readonly CopiedRecords[Kind][],
    removed: readonly string[],
  ): object[] {
    const format = listOf(kind);
    if (format !== null)
      return [putList(format, records as unknown as readonly AnyRecord[], removed)];
    if (kind === 'endpoints') {
      return putEndpoints(records as unknown as readonly StoredEndpoint[], removed);
    }
    const { which, toDocument } = copied(kind);
    const _id = { $in: removed.map((key) => toKey(kind, key)) };
    return [
      { deleteMany: { filter: { ...which, _id } } },
      ...records.map(toDocument).map((document) => ({
        replaceOne: { filter: { _id: document._id }, replacement: document, upsert: true },
      })),
    ];
  }
  const toKey = (kind: CopiedKind, key: string) => (namedKinds.includes(kind) ? key : toId(key));

  return {
    ...marks,
    name,

    read: (kind, { after, limit }) =>
      run(async (collections) => {
        const format = listOf(kind);
        if (format !== null) {
          const records = await readList(format, collections, { after, limit });
          return records as unknown as CopiedRecords[typeof kind][];
        }
        if (kind === 'endpoints') {
          const records = await readEndpoints(collections, { after, limit });
          return records as unknown as CopiedRecords[typeof kind][];
        }
        const { which, fromDocument } = copied(kind);
        const filter = { ...which, ...(after !== null && { _id: { $gt: toKey(kind, after) } }) };
        const documents = await collectionOf(collections, kind)
          .find(filter as Filter<AnyDocument>, collections.listing)
          .sort({ _id: 1 })
          .limit(limit)
          .toArray();
        const records = documents.map(fromDocument);
        if (kind !== 'grants') return records;
        return (await withErasures(records as StoredGrant[], collections)) as typeof records;
      }),

    write: (kind, { records, removed = [] }, mark) =>
      run(async (collections) => {
        const { db, durable, listing } = collections;
        const operations = operationsOn(
          kind,
          records,
          removed,
        ) as AnyBulkWriteOperation<AnyDocument>[];
        const collection = collectionOf(collections, kind);
        const make = async (options: BulkWriteOptions) => {
          await collection.bulkWrite(operations, { ...options, ordered: false });
          if (kind !== 'applications') return;
          const documents = addressesOf(records as readonly ApplicationRecord[], removed);
          await db
            .collection(clientDocuments.name)
            .bulkWrite(documents as AnyBulkWriteOperation[], options);
        };
        // A standalone server has no transactions.
        if (listing.readConcern.level === 'local') {
          if (!isDeepStrictEqual(await marks.find(), mark)) return false;
          await make(durable);
          return true;
        }
        return db.client.withSession((session) =>
          session.withTransaction(
            async () => {
              await make({ session });
              // Last, so that a process that is killed before leaves the mark free.
              const isOurs = await touchMark(db, mark, session);
              if (!isOurs) await session.abortTransaction();
              return isOurs;
            },
            { writeConcern: durable.writeConcern },
          ),
        );
      }),

    async makeDeliveries(now) {
      await tellAll(database, () => now);
    },

    // The requests of a service write a fence before they read.
    activity: () =>
      run(async ({ db, listing }) => {
        const [all] = await db
          .collection<FenceDocument>('fences')
          .aggregate<{ writes: number }>(
            [{ $group: { _id: null, writes: { $sum: '$writes' } } }],
            listing,
          )
          .toArray();
        return all?.writes ?? null;
      }),

    estimateGrants: () => run(({ grants }) => grants.estimatedDocumentCount()),

    close: () => database.close(),
  };
}

/** An erasure marks the account first. If it was interrupted, its grants are refused already. */
async function withErasures(
  grants: StoredGrant[],
  { accounts, listing }: Collections,
): Promise<StoredGrant[]> {
  const ids = new Set(grants.flatMap(({ account_id }) => account_id ?? []));
  const filter = { _id: { $in: [...ids].map(toId) }, erased_at: { $exists: true } };
  const erased = (await accounts.find(filter, listing).toArray()) as ErasedAccountDocument[];
  const erasures = new Map(
    erased.map(({ _id, erased_at, erased_by }) => [
      fromId(_id),
      { at: erased_at.getTime(), by: fromInitiator(erased_by) },
    ]),
  );
  return grants.map((grant) => {
    const erasure = erasures.get(grant.account_id ?? '');
    return erasure ? erasedGrant(grant, erasure) : grant;
  });
}
