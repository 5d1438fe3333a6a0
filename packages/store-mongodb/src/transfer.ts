import { isDeepStrictEqual } from 'node:util';
import { hashText } from '@latchkey/domain/credentials/credentials';
import type {
  ApplicationRecord,
  CommandChange,
  DeletionRecord,
  DeliveryRecord,
  ListedAccount,
  LogCounterRecord,
  ScopeRecord,
} from '@latchkey/store/records';
import { refuseToCopy } from '@latchkey/store/schema-version';
import {
  type CopiedKind,
  type CopiedRecords,
  erasedGrant,
  type StoredEndpoint,
  type StoredGrant,
  type Transfer,
} from '@latchkey/store/transfer';
import type { UseMarks } from '@latchkey/store/use-mark';
import type { AnyBulkWriteOperation, Binary, Collection, Filter } from 'mongodb';
import { createClient, databaseName, defaultTimeouts } from './client.ts';
import { type Collections, Database, type DatabaseOptions } from './database.ts';
import {
  type AccountDocument,
  type ErasedAccountDocument,
  fromAccountDocument,
  toAccountDocument,
} from './documents/accounts.ts';
import {
  type ApplicationDocument,
  fromApplicationDocument,
  toApplicationDocument,
  toDeletionRecord,
} from './documents/applications.ts';
import {
  type CommandChangeDocument,
  fromCommandChangeDocument,
  toCommandChangeDocument,
} from './documents/command-changes.ts';
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
import { keyFormat } from './documents/keys.ts';
import { ALL, type ListDocument, type ListFormat } from './documents/list-document.ts';
import {
  fromLogCounterDocument,
  type LogCounterDocument,
  toLogCounterDocument,
} from './documents/log-counter.ts';
import { resourceFormat } from './documents/resources.ts';
import { fromScopeDocument, type ScopeDocument, toScopeDocument } from './documents/scopes.ts';
import { fromId, fromInitiator, initiatorField, toDate, toHash, toId } from './documents/values.ts';
import type { FenceDocument } from './fence.ts';
import { joinApplication } from './find-owners.ts';
import { tellAll } from './make-deliveries.ts';
import { migrations, versionOf } from './migrations.ts';
import { touchMark, useMarks } from './use-mark.ts';

interface Copied<Record, Document> {
  collection:
    | 'scopes'
    | 'applications'
    | 'accounts'
    | 'grants'
    | 'deliveries'
    | 'commandChanges'
    | 'logCounter';
  which?: object;
  fromDocument(document: Document): Record;
  toDocument(record: Record): Partial<Document>;
}

const existing = { deleted_at: { $exists: false } };

const scopes: Copied<ScopeRecord, ScopeDocument> = {
  collection: 'scopes',
  which: existing,
  fromDocument: fromScopeDocument,
  toDocument: (scope) => toScopeDocument(scope),
};

const applications: Copied<ApplicationRecord, ApplicationDocument> = {
  collection: 'applications',
  which: { ...existing, created_at: { $exists: true } },
  fromDocument: fromApplicationDocument,
  toDocument: toApplicationDocument,
};

const deletions: Copied<DeletionRecord, ApplicationDocument> = {
  collection: 'applications',
  which: { deletion_pending: true },
  fromDocument: toDeletionRecord,
  toDocument: ({ application_id, deleted_at, deleted_by }) => ({
    _id: toId(application_id),
    deleted_at: toDate(deleted_at),
    ...initiatorField('deleted_by', deleted_by),
    deletion_pending: true,
  }),
};

const accounts: Copied<ListedAccount, AccountDocument> = {
  collection: 'accounts',
  // Erased accounts have no place.
  which: { place: { $exists: true } },
  fromDocument: (document) => ({
    place: fromId(document.place),
    account: fromAccountDocument(document),
  }),
  toDocument: ({ place, account }) => toAccountDocument(account, toId(place)),
};

const grants: Copied<StoredGrant, RedeemedDocument> = {
  collection: 'grants',
  which: { created_at: { $exists: true } },
  fromDocument: fromStoredGrantDocument,
  toDocument: toStoredGrantDocument as (grant: StoredGrant) => RedeemedDocument,
};

const deliveries: Copied<DeliveryRecord, DeliveryDocument> = {
  collection: 'deliveries',
  which: { due_at: { $exists: true } },
  fromDocument: fromDeliveryDocument,
  toDocument: toDeliveryDocument,
};

const command_changes: Copied<CommandChange, CommandChangeDocument> = {
  collection: 'commandChanges',
  fromDocument: fromCommandChangeDocument,
  toDocument: toCommandChangeDocument,
};

const log_counter: Copied<LogCounterRecord, LogCounterDocument> = {
  collection: 'logCounter',
  which: { log_number: { $exists: true } },
  fromDocument: fromLogCounterDocument,
  toDocument: toLogCounterDocument,
};
type AnyRecord = { id: string };
type AnyItem = { id: Binary };

/** One document has all of a kind. */
const lists = { resources: resourceFormat, keys: keyFormat };

const listOf = (kind: CopiedKind) =>
  kind in lists
    ? (lists[kind as keyof typeof lists] as unknown as ListFormat<AnyRecord, AnyItem>)
    : null;

async function readList(
  { collection, fromItem }: ListFormat<AnyRecord, AnyItem>,
  collections: Collections,
  { after, limit }: { after: string | null; limit: number },
): Promise<AnyRecord[]> {
  const documents = collections[collection] as unknown as Collection<ListDocument<AnyItem>>;
  const document = await documents.findOne(ALL, collections.listing);
  const records = document?.list.map(fromItem) ?? [];
  const following = records.filter(({ id }) => after === null || id > after);
  return following.sort((one, other) => (one.id < other.id ? -1 : 1)).slice(0, limit);
}

function putList(
  { toItem }: ListFormat<AnyRecord, AnyItem>,
  records: readonly AnyRecord[],
  removed: readonly string[],
) {
  const list = replacing('$list', records.map(toItem), removed.map(toId));
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
const replacing = (list: string, items: readonly AnyItem[], removed: readonly Binary[] = []) => ({
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

/** By which documented applications are found. */
function addressesOf(records: readonly ApplicationRecord[], removed: readonly string[]) {
  return [
    ...(removed.length > 0
      ? [{ deleteMany: { filter: { application_id: { $in: removed.map(toId) } } } }]
      : []),
    ...records.flatMap(({ id, document }) => {
      if (document === null) return [];
      const replacement = { application_id: toId(id), revision: 1 };
      const filter = { _id: toHash(hashText(document.uri)) };
      return [{ replaceOne: { filter, replacement, upsert: true } }];
    }),
  ];
}

const kinds = {
  ...{ scopes, applications, deletions, accounts, grants, deliveries, command_changes },
  log_counter,
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
  const collectionOf = (collections: Collections, kind: CopiedKind) => {
    if (kind === 'endpoints') return collections.endpoints as unknown as Collection<AnyDocument>;
    const name = listOf(kind)?.collection ?? kinds[kind as KindOfDocuments].collection;
    return collections[name] as unknown as Collection<AnyDocument>;
  };
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
      ...(kind === 'applications'
        ? addressesOf(records as readonly ApplicationRecord[], removed)
        : []),
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
        // A standalone server has no transactions.
        if (listing.readConcern.level === 'local') {
          if (!isDeepStrictEqual(await marks.find(), mark)) return false;
          await collection.bulkWrite(operations, { ...durable, ordered: false });
          return true;
        }
        return db.client.withSession((session) =>
          session.withTransaction(
            async () => {
              await collection.bulkWrite(operations, { session, ordered: false });
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
