import { isDeepStrictEqual } from 'node:util';
import type { AnyKind } from '@latchkey/store/kind';
import { events } from '@latchkey/store/operations/events';
import { refuseToCopy } from '@latchkey/store/schema-version';
import { defaultTimeouts } from '@latchkey/store/server-store';
import type { Transfer } from '@latchkey/store/transfer';
import type { UseMarks } from '@latchkey/store/use-mark';
import type { AnyBulkWriteOperation, BulkWriteOptions, Document, Filter } from 'mongodb';
import { mongoAdapter } from './adapter.ts';
import { createClient, databaseName } from './client.ts';
import { type Collections, Database, type DatabaseOptions } from './database.ts';
import { documentOf, keyCodec, recordOf } from './encoding.ts';
import type { FenceDocument } from './fence.ts';
import { versionOf } from './schema-version.ts';
import { touchMark, useMarks } from './use-mark.ts';

export async function openMongoSource(url: string): Promise<Transfer> {
  return openTransfer(url, { create: false });
}

export const openMongoTarget = (url: string): Promise<Transfer> => openTransfer(url, {});

async function openTransfer(url: string, options: DatabaseOptions): Promise<Transfer> {
  const { client, name } = createClient(url, defaultTimeouts);
  const database = new Database(client, name, defaultTimeouts, undefined, options);
  try {
    const { db, ...concerns } = await database.prepare();
    refuseToCopy(await versionOf(db, concerns), db.databaseName);
    return transfer(database, useMarks(db, concerns), databaseName(client, name));
  } catch (error) {
    await database.close();
    throw error;
  }
}

function transfer(database: Database, marks: UseMarks, name: string): Transfer {
  // A write that is repeated changes nothing more, so its outcome needs no finding out.
  const run = <T>(work: (collections: Collections) => Promise<T>) => database.writeOnce(work);
  return {
    ...marks,
    name,

    read(kind, { after, limit }) {
      const decode = recordOf(kind, Object.keys(kind.fields));
      const filter = {
        ...copiedOf(kind),
        ...(after !== null && { _id: { $gt: keyCodec(kind).encode(after) } }),
      };
      return run(async ({ db, listing }) => {
        const documents = await db
          .collection(kind.name)
          .find(filter as object as Filter<Document>, listing)
          .sort({ _id: 1 })
          .limit(limit)
          .toArray();
        return documents.map(decode);
      });
    },

    write(kind, { records, removed = [] }, mark) {
      const _id = { $in: removed.map(keyCodec(kind).encode) };
      const operations = [
        { deleteMany: { filter: { ...copiedOf(kind), _id } } },
        ...records.map(documentOf(kind)).map((document) => ({
          replaceOne: { filter: { _id: document._id }, replacement: document, upsert: true },
        })),
      ] as AnyBulkWriteOperation[];
      return run(async ({ db, durable, listing }) => {
        const make = (options: BulkWriteOptions) =>
          db.collection(kind.name).bulkWrite(operations, { ...options, ordered: false });
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
      });
    },

    async makeDeliveries(now) {
      const makeDeliveries = events(mongoAdapter(database));
      while (await makeDeliveries(now, { isDecisive: true })) {}
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

const copiedOf = ({ copied }: AnyKind) =>
  copied === 'all' || copied === undefined ? {} : { [copied.set]: { $exists: true } };
