import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { CLAIM_LASTS } from '@latchkey/domain/lifetimes';
import type { EventType } from '@latchkey/schema';
import { isToldOf, newDelivery } from '@latchkey/store/delivery';
import { endReason } from '@latchkey/store/end-reason';
import {
  accountUpdated,
  applicationChanged,
  type Event,
  grantCreated,
  grantRevoked,
  isForApplications,
  TOLD_WHILE_DISABLED,
} from '@latchkey/store/event';
import type { RecordOf } from '@latchkey/store/kind';
import {
  deliveries as deliveryKind,
  endpoints as endpointKind,
  endpointOwners,
} from '@latchkey/store/kinds';
import { HOST_OWNER } from '@latchkey/store/records';
import type { Binary, Collection } from 'mongodb';
import { allOf, type Database } from './database.ts';
import { type AccountDocument, fromAccountDocument, isErased } from './documents/accounts.ts';
import type { ApplicationDocument } from './documents/applications.ts';
import type { DeliveryDocument } from './documents/deliveries.ts';
import {
  fromStoredGrantDocument,
  type RedeemedDocument,
  unrevoked,
  withDetails,
} from './documents/grants.ts';
import { type MarkDocument, marked, type NumberedMarkDocument } from './documents/marks.ts';
import { fromId, toDate, toId } from './documents/values.ts';
import { documentOf, recordOf } from './encoding.ts';
import { hasOnlyDuplicates } from './errors.ts';
import { revisionOf } from './retry-on-conflict.ts';

type Endpoint = RecordOf<typeof endpointKind>;
type Owner = { _id: Binary; ids: string[] };

const absent = { $exists: false };
const host = toId(HOST_OWNER);
const toEndpoint = recordOf(endpointKind, Object.keys(endpointKind.fields));
const toDelivery = documentOf(deliveryKind);

const dropped = (now: Milliseconds) =>
  ({
    $set: { status: 'dropped', ended_at: toDate(now) },
    $unset: { due_at: '', claim: '' },
  }) as const;

// An event is at most 8 deliveries, so an insert is of at most 8,000, or about 6 MB.
const ROUND = 500;

type FoundMark = MarkDocument & Partial<NumberedMarkDocument>;

interface FoundMarks {
  _id: Binary;
  /** Of a grant. */
  application_id?: Binary;
  marks: FoundMark[];
}

type MarkedCollection = 'grants' | 'accounts' | 'applications';

/** @returns whether there may be more */
export async function makeDeliveries(
  database: Database,
  now: Milliseconds,
  options: { isDecisive?: boolean } = {},
): Promise<boolean> {
  const [grants = [], accounts = [], applications = []] = await allOf(
    (['grants', 'accounts', 'applications'] as const).map((from) =>
      findMarked(database, from, options),
    ),
  );
  if (grants.length > 0) await tellOfGrants(database, grants, now);
  if (accounts.length > 0) await tellOfAccounts(database, accounts, now);
  // Last: what an application is told of its accounts is dropped if it was disabled since.
  if (applications.length > 0) await tellOfApplications(database, applications, now);
  return [grants, accounts, applications].some((found) => found.length === ROUND);
}

/** Makes deliveries of every event that was acknowledged before the call. */
export async function tellAll(database: Database, clock: Clock): Promise<void> {
  while (await makeDeliveries(database, clock(), { isDecisive: true })) {}
}

/** The oldest first. */
function findMarked(
  database: Database,
  from: MarkedCollection,
  { isDecisive = false }: { isDecisive?: boolean },
): Promise<FoundMarks[]> {
  const read = (isDecisive ? database.decideByIndex : database.readByIndex).bind(database);
  return read(`${from}_to_tell`, (collections, options) =>
    (collections[from] as unknown as Collection<FoundMarks>)
      .find(marked, { ...options, projection: { application_id: 1, marks: 1 } })
      .sort({ 'marks.at': 1 })
      .limit(ROUND)
      .toArray(),
  );
}

/**
 * The endpoints of the host and of applications, deleted ones too. They are read after the marks: what
 * happened after an endpoint was created is told to it.
 */
async function endpointsOf(
  database: Database,
  application_ids: readonly Binary[],
): Promise<(type: EventType, application_ids: readonly Binary[]) => Endpoint[]> {
  const _id = { $in: [host, ...application_ids] };
  const owners = await database.decideByIndex('_id_', ({ db }, options) =>
    db.collection<Owner>(endpointOwners.name).find({ _id }, options).toArray(),
  );
  const ids = owners.flatMap(({ ids }) => ids.map(toId));
  const documents = await database.decideByIndex('_id_', ({ db }, options) =>
    db
      .collection<{ _id: Binary }>(endpointKind.name)
      .find({ _id: { $in: ids } }, options)
      .toArray(),
  );
  const endpoints = documents.map((document) => toEndpoint(document) as unknown as Endpoint);
  const records = Map.groupBy(endpoints, ({ owner }) => owner);
  return (type, of) =>
    [host, ...(isForApplications(type) ? of : [])]
      .flatMap((owner) => records.get(fromId(owner)) ?? [])
      .filter((endpoint) => isToldOf(endpoint, type));
}

/**
 * Reads the marked documents again, after the endpoints: a mark that is gone was told already, perhaps
 * before one of the endpoints was created. A new mark is told later.
 */
async function readAgain<Document extends { marks?: MarkDocument[] }>(
  database: Database,
  from: MarkedCollection,
  found: readonly FoundMarks[],
): Promise<(Document & Required<Pick<Document, 'marks'>>)[]> {
  const keyOf = ({ type, id }: FoundMark) => (id ? fromId(id) : type);
  const before = new Map(found.map(({ _id, marks }) => [fromId(_id), marks.map(keyOf)]));
  const _id = { $in: found.map((one) => one._id) };
  const documents = await database.decideByIndex('_id_', (collections, options) =>
    (collections[from] as unknown as Collection<FoundMarks>)
      .find({ _id }, { ...options, projection: { logo_uri: 0 } })
      .toArray(),
  );
  return documents.flatMap(({ marks = [], ...document }) => {
    const known = before.get(fromId(document._id)) ?? [];
    const left = marks.filter((mark) => known.includes(keyOf(mark)));
    return left.length === 0 ? [] : [{ ...document, marks: left } as never];
  });
}

async function tellOfGrants(
  database: Database,
  found: readonly FoundMarks[],
  now: Milliseconds,
): Promise<void> {
  const application_ids = found.flatMap(({ application_id }) => application_id ?? []);
  const [told, documentOf] = await Promise.all([
    endpointsOf(database, application_ids),
    readDocumentUris(database, application_ids),
  ]);
  const documents = await readAgain<RedeemedDocument>(database, 'grants', found);
  const events = documents.flatMap((document) => {
    const { application_id } = document;
    const { revoked_at, revoked_by, revoked_reason, ...grant } = fromStoredGrantDocument(document);
    const about = {
      ...grant,
      document_uri: documentOf.get(fromId(application_id)) ?? null,
    };
    return document.marks.map(({ type, at }) => ({
      application_ids: [application_id],
      event:
        type === 'grant.created'
          ? grantCreated(about)
          : grantRevoked({
              ...{ ...about, revoked_at: revoked_at ?? at.getTime() },
              reason: endReason({ revoked_by, revoked_reason }),
            }),
    }));
  });
  await insert(database, deliveriesOf(events, told, now));
  // Those with the same types together: a grant may end after it was read.
  const byTypes = Map.groupBy(documents, ({ marks }) =>
    JSON.stringify(marks.map(({ type }) => type).sort()),
  );
  for (const [types, of] of byTypes) {
    await takeOff(database, 'grants', of, { by: 'type', values: JSON.parse(types) });
  }
}

/** Of the applications that have one, deleted ones too until their grants are told. */
async function readDocumentUris(
  database: Database,
  ids: readonly Binary[],
): Promise<ReadonlyMap<string, string | undefined>> {
  const documents = await database.read(({ applications, listing }) =>
    applications
      .find(
        { _id: { $in: [...ids] } },
        { ...listing, projection: { 'document.uri': 1, document_uri: 1 } },
      )
      .toArray(),
  );
  return new Map(
    documents.map(({ _id, document, document_uri }) => [
      fromId(_id),
      document?.uri ?? document_uri,
    ]),
  );
}

async function tellOfAccounts(
  database: Database,
  found: readonly FoundMarks[],
  now: Milliseconds,
): Promise<void> {
  const account_ids = found.map(({ _id }) => _id);
  const connections = await database.readByIndex('unrevoked_by_account', ({ grants }, listing) =>
    grants
      .aggregate<{ _id: { account_id: Binary; application_id: Binary } }>(
        [
          { $match: { account_id: { $in: account_ids }, ...withDetails, ...unrevoked } },
          { $group: { _id: { account_id: '$account_id', application_id: '$application_id' } } },
        ],
        listing,
      )
      .toArray(),
  );
  const connected = Map.groupBy(
    connections.map(({ _id }) => _id),
    ({ account_id }) => fromId(account_id),
  );
  const applicationsOf = (account_id: Binary) =>
    connected.get(fromId(account_id))?.map(({ application_id }) => application_id) ?? [];
  const told = await endpointsOf(database, account_ids.flatMap(applicationsOf));
  const documents = await readAgain<AccountDocument>(database, 'accounts', found);
  const deliveries = documents.flatMap((document) => {
    const { _id, marks } = document;
    const account = fromAccountDocument(document);
    const events = marks.map(({ id, at }) => ({
      application_ids: applicationsOf(_id),
      event: accountUpdated({ id: fromId(id), at: at.getTime() }, account),
    }));
    return deliveriesOf(events, told, now + CLAIM_LASTS).map(({ body: _, ...delivery }) => ({
      ...delivery,
      account_revision: revisionOf(document),
    }));
  });
  await insert(database, deliveries);
  await giveBodies(database, deliveries, now);
  await takeOff(database, 'accounts', documents, {
    by: 'id',
    values: documents.flatMap(({ marks }) => marks.map(({ id }) => id)),
  });
}

/**
 * Writes the messages of an `account.updated`, unless the account is erased. The account is read after the
 * deliveries were stored: an erasure that this read misses drops them, and nothing is written any more.
 */
async function giveBodies(
  database: Database,
  deliveries: readonly DeliveryDocument[],
  now: Milliseconds,
): Promise<void> {
  if (deliveries.length === 0) return;
  const account_ids = deliveries.flatMap(({ account_id }) => account_id ?? []);
  const found = await database.decideByIndex('_id_', ({ accounts }, decisive) =>
    accounts.find({ _id: { $in: account_ids } }, decisive).toArray(),
  );
  const accounts = new Map(
    found.flatMap((account) =>
      isErased(account) ? [] : [[fromId(account._id), fromAccountDocument(account)] as const],
    ),
  );
  const updates = deliveries.map(({ _id, account_id, event_id, created_at }) => {
    const account = account_id && accounts.get(fromId(account_id));
    const event = { id: fromId(event_id), at: created_at.getTime() };
    const update = account
      ? { $set: { body: accountUpdated(event, account).body, due_at: toDate(now) } }
      : dropped(now);
    const filter = { _id, status: 'pending' as const, claim: absent, body: absent };
    return { updateOne: { filter, update } };
  });
  await database.write<void>(({ deliveries }) => ({
    isPart: true,
    async send(options) {
      await deliveries.bulkWrite(updates, { ...options, ordered: false });
    },
  }));
}

async function tellOfApplications(
  database: Database,
  found: readonly FoundMarks[],
  now: Milliseconds,
): Promise<void> {
  const told = await endpointsOf(
    database,
    found.map(({ _id }) => _id),
  );
  const documents = await readAgain<ApplicationDocument>(database, 'applications', found);
  const marks = documents.flatMap(({ _id, marks }) => marks.map((mark) => ({ ...mark, _id })));
  const events = marks.map(({ _id, id, type, at, name }) => ({
    application_ids: [_id],
    event: applicationChanged(
      { id: fromId(id), at: at.getTime() },
      { id: fromId(_id), name, disabled: type === 'application.disabled' },
    ),
  }));
  await insert(database, deliveriesOf(events, told, now));
  for (const { _id, type, at } of marks) {
    if (type !== 'application.disabled') continue;
    const own = await database.decide(({ db, decisive }) =>
      db.collection<Owner>(endpointOwners.name).findOne({ _id }, decisive),
    );
    if (own === null || own.ids.length === 0) continue;
    const endpoint_id = { $in: own.ids.map(toId) };
    const pausing = { type: { $nin: [...TOLD_WHILE_DISABLED] }, created_at: { $lte: at } };
    // What began anew is dropped at its claim if the application is disabled by then.
    const which = {
      endpoint_id,
      ...pausing,
      status: 'pending',
      round: { $exists: false },
    } as const;
    await database.write<void>(({ deliveries }) => ({
      isPart: true,
      async send(options) {
        await deliveries.updateMany(which, dropped(now), options);
      },
    }));
  }
  await takeOff(database, 'applications', documents, {
    by: 'id',
    values: marks.map(({ id }) => id),
  });
}

const deliveriesOf = (
  events: readonly { event: Event; application_ids: readonly Binary[] }[],
  told: (type: EventType, application_ids: readonly Binary[]) => Endpoint[],
  due_at: Milliseconds,
): DeliveryDocument[] =>
  events.flatMap(({ event, application_ids }) =>
    told(event.type as EventType, application_ids).map(
      ({ id, generation }) =>
        toDelivery({ ...newDelivery(event, id, due_at), generation }) as DeliveryDocument,
    ),
  );

/** What is there already was made of the same event. */
async function insert(database: Database, documents: readonly DeliveryDocument[]): Promise<void> {
  if (documents.length === 0) return;
  await database.write<void>(({ deliveries }) => ({
    isPart: true,
    async send(options) {
      try {
        await deliveries.insertMany(documents, { ...options, ordered: false });
      } catch (error) {
        if (!hasOnlyDuplicates(error)) throw error;
      }
    },
  }));
}

/** Takes off marks that were told. A later one of the same document stays. */
async function takeOff(
  database: Database,
  from: MarkedCollection,
  documents: readonly { _id: Binary }[],
  { by, values }: { by: 'type' | 'id'; values: readonly (string | Binary)[] },
): Promise<void> {
  if (documents.length === 0) return;
  // Not in the words of the index of marks, which finds those of others too.
  const which = { _id: { $in: documents.map(({ _id }) => _id) }, marks: { $exists: true } };
  const isLeft = { $not: [{ $in: [`$$this.${by}`, values] }] };
  // A put replaces the account with the marks that it has read. It reads them again.
  const revision = { $add: [{ $ifNull: ['$revision', 0] }, 1] };
  await database.write<void>((collections) => ({
    isPart: true,
    async send(options) {
      await (collections[from] as unknown as Collection<FoundMarks>).updateMany(
        which,
        [
          {
            $set: {
              marks: { $filter: { input: '$marks', cond: isLeft } },
              ...(from === 'accounts' && { revision }),
            },
          },
          { $set: { marks: { $cond: [{ $eq: ['$marks', []] }, '$$REMOVE', '$marks'] } } },
        ],
        options,
      );
    },
  }));
}
