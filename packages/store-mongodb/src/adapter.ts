import { randomUUID } from 'node:crypto';
import { afterChange } from '@latchkey/domain/domain-error';
import type { Adapter, DecidedEvent } from '@latchkey/store/adapter';
import {
  type AnyCall,
  type AnyHolder,
  adapterOf,
  changeOf,
  type Options,
  type Primitives,
} from '@latchkey/store/call-sites';
import {
  givens,
  type Input,
  keyOf,
  mayBeLate,
  meets,
  type Setting,
  type Source,
  type Term,
  termsOf,
} from '@latchkey/store/condition';
import type { AnyKind } from '@latchkey/store/kind';
import { retryOnConflict } from '@latchkey/store/retry-on-conflict';
import {
  changeOutcome,
  modifying,
  removalOutcome,
  type Versioned,
} from '@latchkey/store/versioned';
import type { Binary, Collection, Document, UpdateOptions } from 'mongodb';
import type { Collections, Database } from './database.ts';
import {
  ABSENT,
  documentOf,
  filterOf,
  keyCodec,
  projectionOf,
  REVISION,
  recordOf,
  replacementOf,
  storedOf,
  updateOf,
} from './encoding.ts';
import { againIfDuplicate, hasOnlyDuplicates, isDuplicateKey } from './errors.ts';
import type { DecisiveOptions } from './fence.ts';
import { marksIn } from './marks.ts';
import { toDate, toId } from './values.ts';

/** Small enough that no write delays others. */
const MOST_AT_ONCE = 1_000;

// Of events that the latest stands for. Whoever tells of them still finds the mark that was read if 15 have followed.
const LATEST_MARKS = 16;

/** A key is a UUID, but for that of a named record. */
type Found = Document & { _id: Binary; revision?: number };

const revisionOf = (document: Document | null): number => document?.revision ?? 0;
const atRevision = (revision: number) => ({
  revision: revision === 0 ? { $exists: false } : revision,
});

/** A document with its revision. */
function versionedOf(kind: AnyKind): (document: Document | null) => Versioned | null {
  const decode = recordOf(kind, Object.keys(kind.fields));
  return (document) => document && { record: decode(document), version: revisionOf(document) };
}

/** For a read-back. */
function readOneOf(kind: AnyKind) {
  const collection = collectionOf(kind);
  const versioned = versionedOf(kind);
  return async (
    collections: Pick<Collections, 'db' | 'decisive'>,
    _id: Binary,
  ): Promise<Versioned | null> =>
    versioned(await collection(collections).findOne({ _id }, collections.decisive));
}

const equal = (name: string, value: Source): Term => ({ is: 'equal', name, value, isUnset: false });

/** @param recordsEvents - whether a change leaves marks of the events that it is */
export function mongoAdapter(
  database: Database,
  { recordsEvents = false }: { recordsEvents?: boolean } = {},
): Adapter {
  const marks = marksIn(database);
  const lookUps = new Map<AnyKind, (key: string) => Promise<Found | null>>();
  /** Gathered: the records of many holders wait for one read. */
  function lookUpOf(kind: AnyKind): (key: string) => Promise<Found | null> {
    const collection = collectionOf(kind);
    let lookUp = lookUps.get(kind);
    if (lookUp === undefined) {
      lookUp = database.gatherReads(
        (collections, byId) => collection(collections).find(byId, collections.decisive).toArray(),
        keyCodec(kind),
      );
      lookUps.set(kind, lookUp);
    }
    return lookUp;
  }

  const joined: Primitives['joined'] = (kind, where, fields, joins, result) => {
    const collection = collectionOf(kind);
    const terms = termsOf(where(givens));
    const key = keyOf(kind, terms) as (input: Input) => string;
    const codec = keyCodec(kind);
    // The same for all who ask, since they share a read.
    const isOther = (term: Term) => term.is !== 'equal' || term.name !== kind.key;
    const rest = filterOf(kind, terms.filter(isOther), ABSENT)({});
    const decode = recordOf(kind, fields);
    const others = Object.entries(joins).map(([name, { kind, by, fields }]) => ({
      ...{ name, as: `joined_${name}`, decode: recordOf(kind, fields) },
      lookUp: { from: kind.name, localField: by, foreignField: '_id', as: `joined_${name}` },
      projection: projectionOf(kind, fields),
    }));
    const projection = projectionOf(kind, fields);
    const $project = { ...projection };
    for (const { as, projection } of others) $project[as] = projection;
    const stages = [...others.map(({ lookUp }) => ({ $lookup: lookUp })), { $project }];
    const read = (collections: Collections, byId: object, options: DecisiveOptions) => {
      const filter = { ...byId, ...rest };
      return others.length === 0
        ? collection(collections)
            .find(filter, { ...options, projection })
            .toArray()
        : collection(collections)
            .aggregate<Found>([{ $match: filter }, ...stages], options)
            .toArray();
    };
    const gathered = database.gatherReads(
      (collections, byId) => read(collections, byId, collections.decisive),
      codec,
    );
    async function plainly(key: string) {
      const [found] = await database.read((collections) =>
        read(collections, { _id: codec.encode(key) }, collections.plain),
      );
      return found;
    }
    return async (input) => {
      const found = await (input.mayBeStale ? plainly : gathered)(key(input));
      if (!found) return null;
      const record = { ...decode(found) };
      for (const { name, as, decode } of others) {
        const [other] = found[as];
        record[name] = other === undefined ? null : decode(other);
      }
      return result(record, input);
    };
  };

  const list: Primitives['list'] = (
    kind,
    where,
    fields,
    result,
    { index = '_id_', order, isDecisive = false } = {},
  ) => {
    const collection = collectionOf(kind);
    const filter = filterOf(kind, termsOf(where(givens)), null);
    const projection = projectionOf(kind, fields);
    const decode = recordOf(kind, fields);
    const direction = order?.descending ? -1 : 1;
    const sort = order?.by.map((name): [string, 1 | -1] => [
      name === kind.key ? '_id' : name,
      direction,
    ]);
    const read: Database['readByIndex'] = isDecisive
      ? (...read) => database.decideByIndex(...read)
      : (...read) => database.readByIndex(...read);
    return async (input) => {
      const documents = await read(index, (collections, options) => {
        const cursor = collection(collections).find(filter(input), {
          ...options,
          projection,
          ...(sort && { sort: new Map(sort) }),
        });
        return (input.limit === undefined ? cursor : cursor.limit(Number(input.limit))).toArray();
      });
      return documents.map((document) => result(decode(document) as Input, input));
    };
  };

  const count: Primitives['count'] = (kind, where) => {
    const collection = collectionOf(kind);
    const filter = filterOf(kind, termsOf(where(givens)), null);
    return (input) =>
      database.read((collections) =>
        collection(collections).countDocuments(filter(input), {
          ...collections.listing,
          limit: Number(input.limit),
        }),
      );
  };

  /** Never sent again: a late first command could restore a document that was deleted. */
  const insertOnce: Primitives['insertOnce'] = (kind, { grant_id } = {}) => {
    const collection = collectionOf(kind);
    const encode = documentOf(kind);
    const readOne = readOneOf(kind);
    return async (input) => {
      const document = encode(input) as Found;
      await database.write<true>((collections) => ({
        ...(grant_id && { grant_id: grant_id(input) }),
        async send(options) {
          await collection(collections).insertOne(document, options);
          return true;
        },
        readBack: async () =>
          (await readOne(collections, document._id)) ? { result: true } : 'unknown',
      }));
    };
  };

  const insertNew: Primitives['insertNew'] = (kind) => {
    const collection = collectionOf(kind);
    const encode = documentOf(kind);
    return async (records) => {
      if (records.length === 0) return;
      const documents = records.map(encode) as Found[];
      await database.write<void>((collections) => ({
        isPart: true,
        async send(options) {
          try {
            await collection(collections).insertMany(documents, { ...options, ordered: false });
          } catch (error) {
            if (!hasOnlyDuplicates(error)) throw error;
          }
        },
      }));
    };
  };

  const change: Primitives['change'] = (kind, to, fields, result, options = {}) => {
    const { terms, settings } = changeOf(to);
    const make = makeOf(kind, terms, settings, fields, options);
    return async (input) => {
      const record = await make(input);
      return record && result(record, input);
    };
  };

  /**
   * A change of one record, in one command. One that could be made twice is made at the revision that was found:
   * a command that arrives late finds another one, and does nothing.
   */
  function makeOf(
    kind: AnyKind,
    terms: readonly Term[],
    settings: readonly Setting[],
    fields: readonly string[],
    { grant_id, isExact = false }: Options,
    isOnce = !isExact && mayBeLate(kind, terms, settings),
  ): AnyCall<Input | null> {
    const collection = collectionOf(kind);
    const filter = filterOf(kind, terms, ABSENT);
    const update = updateOf(kind, isOnce ? settings : [...settings, REVISION], recordsEvents);
    const projection = projectionOf(kind, fields);
    const decode = recordOf(kind, fields);
    const readOne = readOneOf(kind);
    const outcomeOf = changeOutcome(kind, terms, settings, fields, isExact);

    const makeAt = (input: Input, revision: number | null) => {
      const which = filter(input);
      if (revision !== null) Object.assign(which, atRevision(revision));
      const changes = update(input);
      return database.write<Input | null>((collections) => ({
        ...(grant_id && { grant_id: grant_id(input) }),
        async send(options) {
          if (fields.length === 0) {
            // Without a document to return, MongoDB keeps none, with the names in it, for its retries.
            const updated = await collection(collections).updateOne(which, changes, options);
            return updated.matchedCount === 1 ? {} : null;
          }
          const found = await collection(collections).findOneAndUpdate(which, changes, {
            ...options,
            returnDocument: 'after',
            projection,
          });
          return found && decode(found);
        },
        readBack: async () => outcomeOf(await readOne(collections, which._id), input, revision),
      }));
    };
    if (isOnce) return (input) => makeAt(input, null);
    return (input) =>
      retryOnConflict(
        () =>
          database.decide((collections) =>
            collection(collections).findOne(filter(input), {
              ...collections.decisive,
              projection: { revision: 1 },
            }),
          ),
        (found) => makeAt(input, revisionOf(found)),
      );
  }

  const changeSome: Primitives['changeSome'] = (kind, to, fields, result, options) => {
    const collection = collectionOf(kind);
    const { terms, settings } = changeOf(to);
    // When it finds none, every earlier change is durable.
    const decisively = { isDecisive: true, ...options };
    const { among = 1 } = options;
    const found = list(
      kind,
      () => to(givens as never).where,
      [kind.key],
      (record) => record[kind.key],
      decisively,
    );
    const toKey = storedOf(kind, kind.key);
    const filter = filterOf(kind, terms, ABSENT);
    const update = updateOf(kind, settings, recordsEvents);
    const ours = filterOf(
      kind,
      // Whoever has merged the same has made the same.
      settings.filter(({ is }) => is !== 'merged').map(({ name, value }) => equal(name, value)),
      ABSENT,
    );
    const projection = projectionOf(kind, fields);
    const decode = recordOf(kind, fields);
    return async (input) => {
      const limit = Math.min(Number(input.limit ?? MOST_AT_ONCE), MOST_AT_ONCE);
      const keys = someOf(await found({ ...input, limit: limit * among }), limit);
      if (keys.length === 0) return null;
      const _id = { $in: keys.map(toKey) as Binary[] };
      await database.write<true | undefined>((collections) => ({
        async send(options) {
          const which = { ...filter(input), _id };
          const { modifiedCount } = await collection(collections).updateMany(which, update(input), {
            ...options,
            hint: '_id_',
          });
          return modifiedCount > 0 || undefined;
        },
      }));
      // Another call may have changed some in between.
      const changed = await afterChange(() =>
        database.decideByIndex('_id_', (collections, options) =>
          collection(collections)
            .find({ ...ours(input), _id }, { ...options, projection })
            .toArray(),
        ),
      );
      return changed.map((document) => result(decode(document) as Input, input));
    };
  };

  const changeEach: Primitives['changeEach'] = (kind, to) => {
    const collection = collectionOf(kind);
    const { terms, settings } = changeOf(to);
    const filter = filterOf(kind, terms, ABSENT);
    const update = updateOf(kind, settings, recordsEvents);
    return async (inputs) => {
      if (inputs.length === 0) return;
      const changes = inputs.map((input) => ({
        updateOne: { filter: filter(input), update: update(input) },
      }));
      await database.write<true>((collections) => ({
        isPart: true,
        async send(options) {
          await collection(collections).bulkWrite(changes, { ...options, ordered: false });
          return true;
        },
      }));
    };
  };

  const remove: Primitives['remove'] = (
    kind,
    where,
    fields,
    result,
    { grant_id, isReused = false } = {},
  ) => {
    const collection = collectionOf(kind);
    const terms = termsOf(where(givens));
    const filter = filterOf(kind, terms, ABSENT);
    const projection = projectionOf(kind, fields);
    const decode = recordOf(kind, fields);
    const readOne = readOneOf(kind);
    const outcomeOf = removalOutcome(terms, isReused);
    return async (input) => {
      const which = filter(input);
      const found = await database.write<Document | null>((collections) => ({
        ...(grant_id && { grant_id: grant_id(input) }),
        async send(options) {
          const records = collection(collections);
          if (fields.length > 0) return records.findOneAndDelete(which, { ...options, projection });
          // See `makeOf`.
          return (await records.deleteOne(which, options)).deletedCount === 1 ? {} : null;
        },
        readBack: async () => outcomeOf(await readOne(collections, which._id), input),
      }));
      const record = found && decode(found);
      return record && result(record, input);
    };
  };

  const removeSome: Primitives['removeSome'] = (kind, where) => {
    const collection = collectionOf(kind);
    const filter = filterOf(kind, termsOf(where(givens)), null);
    // Of many, some may be removed, so a failure can't mean that nothing was.
    return async (input) => {
      const removed = await database.write<number | undefined>((collections) => ({
        async send(options) {
          const { deletedCount } = await collection(collections).deleteMany(filter(input), options);
          return deletedCount || undefined;
        },
      }));
      return removed ?? 0;
    };
  };

  const next: Primitives['next'] = (kind, key, field) => {
    const collection = collectionOf(kind);
    const _id = storedOf(kind, kind.key)(key) as Binary;
    return ({ above, by }) =>
      database.writeOnce(async (collections) => {
        const taken = await againIfDuplicate(() =>
          collection(collections).findOneAndUpdate(
            { _id },
            // A missing number is less than any.
            [{ $set: { [field]: { $add: [{ $max: [`$${field}`, above] }, by] } } }],
            { ...collections.durable, upsert: true, returnDocument: 'after' },
          ),
        );
        if (taken === null) throw new TypeError('An upsert returned no document.');
        return taken[field];
      });
  };

  /** At the revision that was found: a command that arrives late finds another one, and does nothing. */
  const modify: Primitives['modify'] = (
    kind,
    key,
    decide,
    { grant_id, isBestEffort = false, isReused = false } = {},
  ) => {
    const collection = collectionOf(kind);
    const lookUp = lookUpOf(kind);
    const encode = documentOf(kind);
    const replace = replacementOf(kind);
    const versioned = versionedOf(kind);
    const readOne = readOneOf(kind);

    return modifying({
      ...{ key, decide, isReused },
      lookUp: async (id) => versioned(await lookUp(id)),

      write(found, put, event, input, readBack) {
        const revision = Number(found?.version ?? 0);
        // A mark may raise that of an account further.
        const next = Math.max(revision + 1, Number(put.revision ?? 0));
        const document = { ...encode(put), revision: next } as Found;
        const { _id } = document;
        async function send(
          collections: Pick<Collections, 'db'>,
          options: UpdateOptions,
        ): Promise<true | null> {
          const records = collection(collections);
          if (found !== null) {
            const which = { _id, ...atRevision(revision) };
            const update: Document = { ...replace(put), $inc: { revision: next - revision } };
            if (event && recordsEvents) leaveMark(update, event);
            return (await records.updateOne(which, update, options)).matchedCount === 1 || null;
          }
          try {
            await records.insertOne(document, options);
            return true;
          } catch (error) {
            if (isDuplicateKey(error)) return null;
            throw error;
          }
        }
        if (isBestEffort) {
          return database.writeOnce((collections) => send(collections, collections.bestEffort));
        }
        return database.write<true | null>((collections) => ({
          ...(grant_id && { grant_id: grant_id(input) }),
          send: (options) => send(collections, options),
          readBack: async () => readBack(await readOne(collections, _id)),
        }));
      },
    });
  };

  function leaveMark(update: Document, { replaces = false, ...told }: DecidedEvent): void {
    const mark = { ...told, id: toId(randomUUID()), at: toDate(told.at) };
    update.$push = { marks: replaces ? { $each: [mark], $slice: -LATEST_MARKS } : mark };
  }

  /**
   * The holder is read after the record is stored: a change of the holder that this read misses finds the record.
   * What the record copies is in it only then, unless the holder was read before, too.
   */
  function insertHeld(
    kind: AnyKind,
    { kind: holderKind, by, fields, withheld = [], copiesFirst = false, copy }: AnyHolder,
    options: Options = {},
  ): AnyCall<Input | null> {
    const lookUp = lookUpOf(holderKind);
    const decode = recordOf(holderKind, fields);
    const insert = insertOnce(kind, options);
    const removeOne = removeSome(kind, () => ({ [kind.key]: givens[kind.key as never] }));
    const names = Object.keys(kind.fields);
    const completed = (record: Input, but: readonly string[] = []) =>
      Object.fromEntries(
        names.map((name) => {
          const value = but.includes(name) ? null : record[name];
          return [name, value ?? kind.fields[name].initial ?? null];
        }),
      );
    async function copyOf(input: Input): Promise<Input | null> {
      const found = await lookUp(input[by] as string);
      const holder = found && decode(found);
      return holder && copy(holder, input);
    }
    let fill: AnyCall<Input | null> | undefined;
    const fillOf = (copied: readonly string[]) =>
      makeOf(
        kind,
        [kind.key, ...copied].map((name) => equal(name, ({ before }) => (before as Input)[name])),
        copied.map((name): Setting => {
          return { is: 'set', name, value: ({ after }) => (after as Input)[name], isValue: true };
        }),
        [],
        options,
        // Nobody else changes a record that nobody knows yet.
        true,
      );
    return async (input) => {
      const first = copiesFirst ? await copyOf(input) : {};
      if (first === null) return null;
      const before = completed({ ...input, ...first }, withheld);
      await insert(before);
      const copied = await copyOf(input);
      if (copied === null) {
        await removeOne(before);
        return null;
      }
      const after = completed({ ...before, ...copied });
      if (names.every((name) => meets('equal', before[name], after[name]))) return after;
      fill ??= fillOf(Object.keys(copied));
      return (await fill({ before, after })) && after;
    };
  }

  return adapterOf(
    {
      ...{ joined, list, count, next, insertOnce, insertNew, insertHeld },
      ...{ change, changeSome, changeEach, modify, remove, removeSome, ...marks },
    },
    (steps) => database.inSequence(steps),
  );
}

/** At random. */
function someOf<T>(list: readonly T[], limit: number): readonly T[] {
  if (list.length <= limit) return list;
  const left = [...list];
  return Array.from({ length: limit }, () => {
    const [one] = left.splice(Math.floor(Math.random() * left.length), 1);
    return one as T;
  });
}

function collectionOf(kind: AnyKind): (collections: Pick<Collections, 'db'>) => Collection<Found> {
  let collection: Collection<Found> | undefined;
  return ({ db }) => {
    collection ??= db.collection<Found>(kind.name);
    return collection;
  };
}
