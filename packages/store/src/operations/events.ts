import type { Milliseconds } from '@latchkey/domain/clock';
import { CLAIM_LASTS } from '@latchkey/domain/lifetimes';
import { type EventType, eventTypes } from '@latchkey/schema';
import type { Adapter, Mark } from '../adapter.ts';
import { type Givens, idOf, lessThan, oneOf } from '../condition.ts';
import { isToldOf, newDelivery } from '../delivery.ts';
import { endReason } from '../end-reason.ts';
import {
  accountUpdated,
  applicationChanged,
  type Event,
  grantCreated,
  grantRevoked,
  isForApplications,
  TOLD_WHILE_DISABLED,
} from '../event.ts';
import type { RecordOf } from '../kind.ts';
import { accounts, applications, deliveries, grants } from '../kinds.ts';
import { HOST_OWNER } from '../records.ts';
import { changeAll } from './change-all.ts';
import { type EndpointsInside, endpointsInside } from './endpoints.ts';
import { grants as grantOperations } from './grants.ts';
import { marksInside } from './marks.ts';
import { type NamesInside, namesInside } from './names.ts';
import { byId, type OfId } from './sites.ts';

// An event is at most 8 deliveries.
const ROUND = 100;
/** So many block SQLite for about 5 ms. */
const INSERTED_AT_ONCE = 250;

const GRANT = [
  ...['id', 'application_id', 'account_id', 'resource', 'choice', 'scope', 'created_at'],
  ...['revoked_at', 'revoked_by', 'revoked_reason'],
] as const;
const told: readonly string[] = TOLD_WHILE_DISABLED;
const PAUSED = eventTypes.filter((type) => !told.includes(type));

type Grant = RecordOf<typeof grants>;
type Delivery = RecordOf<typeof deliveries>;

/** So many messages with names are looked through for a round. */
const NAMED = 1_000;

/** So many grants of an account are read at once: SQLite does it in about 2 ms. */
const CONNECTED_AT_ONCE = 1_000;

interface OfAccounts {
  account_ids: readonly string[];
}

type Connected = Pick<ReturnType<typeof grantOperations>, 'connectedSome'>;

type Ended = Pick<Grant, 'account_id' | 'application_id'> & { mark: Mark };

const keyOf = (account_id: string | null, application_id: string | null) =>
  `${account_id} ${application_id}`;

/** An event with the applications that are told of it, if their kind is. */
interface Happened {
  event: Omit<Event, 'body'> & { body: string | null };
  application_ids: readonly string[];
  account_revision?: number;
}

/**
 * Each step is durable before the next one begins, and can be made again: a kill in between loses nothing, and a
 * delivery is made once.
 *
 * 1. The marks are read.
 * 2. The endpoints are read: what happened after an endpoint was created is told to it.
 * 3. The marks are read again, with their records. One that is gone was told already, perhaps before one of the
 *    endpoints was created.
 * 4. The deliveries are stored, and then the marks are removed.
 */
export function events(
  db: Adapter,
  {
    endpointsOf,
    withEndpoints,
  }: Pick<EndpointsInside, 'endpointsOf' | 'withEndpoints'> = endpointsInside(db),
  { mayKnow, forgetIfLast }: NamesInside = namesInside(db, marksInside(db)),
  { connectedSome }: Connected = grantOperations(db, marksInside(db)),
) {
  const asMarked = <R>(record: R, { mark }: { mark: Mark }) => ({ ...record, mark });
  const marksOf = {
    grants: marked(grants, GRANT),
    accounts: marked(accounts, ['id', 'account', 'revision', 'place']),
    applications: marked(applications, ['id']),
  };
  function marked<
    K extends typeof grants | typeof accounts | typeof applications,
    N extends keyof RecordOf<K> & string,
  >(kind: K, fields: readonly N[]) {
    return {
      list: db.listMarks(kind),
      find: db.findMarked(kind, fields, asMarked<Pick<RecordOf<K>, N>>),
      remove: db.removeMarks(kind),
    };
  }
  // Before an endpoint is disabled or deleted, which has to go on when the disk is full.
  const insert = db.insertNew(deliveries, { ends: true });
  const findDocument = db.find(
    applications,
    byId,
    ['document', 'document_uri'],
    ({ document, document_uri }) => document?.uri ?? document_uri,
  );
  const findAccount = db.find(accounts, byId, ['account'], ({ account }) => account);
  /** Those whose names are in messages. */
  const listNamed = db.list(
    deliveries,
    ({ account_ids }: Givens<OfAccounts>) => ({ names_of: oneOf(account_ids) }),
    ['names_of', 'names_for'],
    ({ names_of, names_for }) => keyOf(names_of, names_for),
    { index: 'deliveries_with_names', isDecisive: true },
  );
  const unwritten = ({ id }: Givens<OfId>) => ({
    ...{ id, claim: null, body: null, ended_at: null },
  });
  const write = db.changeEach(
    deliveries,
    (one: Givens<OfId & { body: string; now: number }>) => ({
      where: unwritten(one),
      set: { body: one.body, due_at: one.now },
    }),
    { ends: true },
  );
  const drop = db.changeEach(
    deliveries,
    (one: Givens<OfId & { now: number }>) => ({
      where: unwritten(one),
      set: { status: 'dropped' as const, due_at: null, ended_at: one.now },
    }),
    { ends: true },
  );
  /** What began anew is dropped at its claim if the application is disabled by then. */
  const dropPaused = db.changeSome(
    deliveries,
    (of: Givens<{ endpoint_id: string; after: number; now: number }>) => ({
      where: [
        { endpoint_id: of.endpoint_id, status: 'pending' as const, ended_at: null, round: null },
        { type: oneOf(PAUSED), created_at: lessThan(of.after) },
      ],
      set: { status: 'dropped' as const, due_at: null, claim: null, ended_at: of.now },
    }),
    ['id'],
    idOf,
    { index: 'deliveries_by_endpoint', ends: true },
  );

  type Endpoints = Awaited<ReturnType<typeof endpointsOf>>;

  async function store(
    happened: readonly Happened[],
    endpoints: Endpoints,
    due_at: Milliseconds,
  ): Promise<Delivery[]> {
    const made = happened.flatMap(({ event, application_ids, account_revision = 0 }) => {
      const type = event.type as EventType;
      return [HOST_OWNER, ...(isForApplications(type) ? application_ids : [])]
        .flatMap((owner) => endpoints.get(owner) ?? [])
        .filter(({ stored }) => isToldOf(stored, type))
        .map(({ stored: { id, generation, owner } }) => ({
          ...newDelivery(event, id, due_at),
          ...{ account_revision, generation, round: null, has_choice: event.has_choice ?? false },
          names_of: type === 'account.updated' ? event.account_id : null,
          names_for: type === 'account.updated' && owner !== HOST_OWNER ? owner : null,
        }));
    });
    for (let from = 0; from < made.length; from += INSERTED_AT_ONCE) {
      await insert(made.slice(from, from + INSERTED_AT_ONCE));
    }
    return made;
  }

  async function tellOfGrants(marks: readonly Mark[], now: Milliseconds): Promise<void> {
    const { find, remove } = marksOf.grants;
    const ids = new Set((await find({ marks })).map(({ application_id }) => application_id));
    const [endpoints, uris] = await Promise.all([
      endpointsOf([...ids]),
      Promise.all([...ids].map(async (id) => [id, await findDocument({ id })] as const)),
    ]);
    const documentOf = new Map(uris);
    const found = await find({ marks });
    const happened = found.map(({ mark, ...grant }) => ({
      application_ids: [grant.application_id],
      event: eventOf(mark, grant, documentOf.get(grant.application_id) ?? null),
    }));
    await store(happened, endpoints, now);
    await takeNamesBack(
      found.filter(({ mark }) => mark.type === 'grant.revoked'),
      now,
    );
    await remove({ marks });
  }

  /** Of accounts whose last grant of an application is among those that have ended. */
  async function takeNamesBack(ended: readonly Ended[], now: Milliseconds): Promise<void> {
    const account_ids = [...new Set(ended.flatMap(({ account_id }) => account_id ?? []))];
    if (account_ids.length === 0) return;
    const named = await listNamed({ account_ids, limit: NAMED });
    const isNamed = new Set(named);
    const pairs = Map.groupBy(ended, ({ account_id, application_id, mark: { at } }) =>
      [account_id, application_id, at].join(),
    );
    await inParts([...pairs.values()], async ([one]) => {
      if (!one?.account_id) return;
      const { account_id, application_id, mark } = one;
      if (named.length < NAMED && !isNamed.has(keyOf(account_id, application_id))) return;
      await forgetIfLast({ account_id, application_id }, mark.at, now);
    });
  }

  async function connectedWithEndpoints(account_id: string): Promise<string[]> {
    const found: string[] = [];
    let after: string | null = null;
    do {
      const some = await connectedSome(account_id, { after, limit: CONNECTED_AT_ONCE });
      found.push(...(await withEndpoints(some.application_ids)));
      after = some.next;
    } while (after !== null);
    return found;
  }

  /** The message has the account as it is now, so of several marks, the last one is enough. */
  async function tellOfAccounts(marks: readonly Mark[], now: Milliseconds): Promise<void> {
    const { find, remove } = marksOf.accounts;
    const account_ids = [...new Set(marks.map(({ key }) => key))];
    const connected = await inParts(
      account_ids,
      async (id) => [id, await connectedWithEndpoints(id)] as const,
    );
    const endpoints = await endpointsOf([...new Set(connected.flatMap(([, of]) => of))]);
    const isTold = (account_id: string, application_id: string) => {
      const { application = null } = endpoints.get(application_id)?.[0] ?? {};
      return application !== null && mayKnow({ account_id, application_id }, application, now);
    };
    const applicationsOf = new Map(
      await inParts(connected, async ([id, ids]) => {
        const told = await inParts(ids, async (application_id) => isTold(id, application_id));
        return [id, ids.filter((_, index) => told[index])] as const;
      }),
    );
    const happened = new Map<string, Happened>();
    const found = (await find({ marks })).toSorted((one, other) => one.mark.at - other.mark.at);
    for (const { mark, account, revision, place } of found) {
      // One that was erased and put again has another place. Nobody has changed that account.
      if (account === null || mark.name !== place) continue;
      const event = { ...accountUpdated({ id: mark.id, at: mark.at }, account), body: null };
      const application_ids = applicationsOf.get(mark.key) ?? [];
      happened.set(mark.key, { application_ids, event, account_revision: revision });
    }
    const made = await store([...happened.values()], endpoints, now + CLAIM_LASTS);
    await giveBodies(made, now);
    await remove({ marks });
  }

  /**
   * Writes the messages of `account.updated`, but for accounts that are erased. They are read after the deliveries were
   * stored: an erasure that this read misses drops those, and nothing is written any more.
   */
  async function giveBodies(made: readonly Delivery[], now: Milliseconds): Promise<void> {
    const accounts = await Promise.all(
      made.map(({ account_id }) => findAccount({ id: account_id ?? '' })),
    );
    const bodies = made.map(({ id, event_id, created_at }, index) => {
      const account = accounts[index];
      return {
        id,
        now,
        body: account && accountUpdated({ id: event_id, at: created_at }, account).body,
      };
    });
    await write(bodies.flatMap(({ body, ...one }) => (body ? [{ ...one, body }] : [])));
    await drop(bodies.filter(({ body }) => !body));
  }

  async function tellOfApplications(marks: readonly Mark[], now: Milliseconds): Promise<void> {
    const { find, remove } = marksOf.applications;
    const endpoints = await endpointsOf([...new Set(marks.map(({ key }) => key))]);
    const found = await find({ marks });
    const happened = found.map(({ id: application_id, mark: { id, at, type, name } }) => {
      const disabled = type === 'application.disabled';
      const application = { id: application_id, name: name ?? '', disabled };
      return {
        application_ids: [application_id],
        event: applicationChanged({ id, at }, application),
      };
    });
    await store(happened, endpoints, now);
    for (const { id, mark } of found) {
      if (mark.type !== 'application.disabled') continue;
      for (const { stored } of endpoints.get(id) ?? []) {
        await changeAll(dropPaused, { endpoint_id: stored.id, after: mark.at + 1, now });
      }
    }
    await remove({ marks });
  }

  let isNewest = false;

  return async function makeDeliveries(
    now: Milliseconds,
    {
      isDecisive = false,
      mayMake,
    }: { isDecisive?: boolean; mayMake?: (() => Promise<boolean>) | undefined } = {},
  ): Promise<boolean> {
    // In turn: the ends of one call, of which there may be many, hold up no later event.
    isNewest = !isNewest && !isDecisive;
    const asked = { limit: ROUND, isDecisive, isNewest };
    const [ofGrants, ofAccounts, ofApplications] = await Promise.all([
      marksOf.grants.list(asked),
      marksOf.accounts.list(asked),
      marksOf.applications.list(asked),
    ]);
    const isNone = ofGrants.length + ofAccounts.length + ofApplications.length === 0;
    if (isNone || (mayMake && !(await mayMake()))) return false;
    if (ofGrants.length > 0) await tellOfGrants(ofGrants, now);
    if (ofAccounts.length > 0) await tellOfAccounts(ofAccounts, now);
    // Last: what an application is told of its accounts is dropped if it was disabled since.
    if (ofApplications.length > 0) await tellOfApplications(ofApplications, now);
    return [ofGrants, ofAccounts, ofApplications].some(({ length }) => length >= ROUND);
  };
}

/** So many at once: requests need connections of the pool too. */
const AT_ONCE = 16;

async function inParts<T, R>(list: readonly T[], make: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < list.length; from += AT_ONCE) {
    results.push(...(await Promise.all(list.slice(from, from + AT_ONCE).map(make))));
  }
  return results;
}

function eventOf(
  { type, at }: Mark,
  grant: Pick<Grant, (typeof GRANT)[number]>,
  document_uri: string | null,
): Event {
  const { id, created_at, revoked_at, revoked_by, revoked_reason, ...rest } = grant;
  const about = { ...rest, grant_id: id, created_at: created_at as number, document_uri };
  if (type === 'grant.created') return grantCreated(about);
  const reason = endReason({ revoked_by, revoked_reason });
  return grantRevoked({ ...about, revoked_at: revoked_at ?? at, reason });
}
