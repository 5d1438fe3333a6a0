import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isLive, leastIdSince, newId, textOfHash } from '@latchkey/domain/credentials/credentials';
import type { Initiator } from '@latchkey/domain/initiator';
import {
  CLAIM_LASTS,
  COUNTS_KEPT,
  DELIVERIES_KEPT,
  LINKS_KEPT,
  REOPENING,
  SESSIONS_OF_TICKET,
} from '@latchkey/domain/lifetimes';
import { type Choice, type EventType, uuidV7Time } from '@latchkey/schema';
import {
  endpointAfter,
  endpointChanges,
  isStillTold,
  isToldOf,
  newDelivery,
  standingOf,
} from '@latchkey/store/delivery';
import { endReason } from '@latchkey/store/end-reason';
import { deletionWork, ENDINGS_KEPT, type Work } from '@latchkey/store/endings';
import {
  accountUpdated,
  applicationChanged,
  type Event,
  grantCreated,
  grantRevoked,
  isForApplications,
  withChoice,
} from '@latchkey/store/event';
import { generationsAfter, resourceAfter } from '@latchkey/store/generations';
import {
  type AccountRecord,
  type ApplicationRecord,
  ATTEMPTS_KEPT,
  type CodeBinding,
  type CommandChange,
  type ConnectedGrant,
  type CountName,
  type CredentialHash,
  type CurrentAccount,
  type DeliveryRecord,
  type EndpointRecord,
  ERASED,
  type GrantHistory,
  type GrantRecord,
  type HourCounts,
  type KeptDocument,
  type KeyRecord,
  type LinkRecord,
  type LiveCount,
  type PageRecord,
  type PendingRecord,
  type RefusalRecord,
  type ResourceRecord,
  type RevokedRecord,
  type ScopeRecord,
  type SecretRecord,
  type StoredReason,
  type WindowCount,
} from '@latchkey/store/records';
import { withoutOutdated } from '@latchkey/store/secrets';
import {
  documentedChanges,
  isUnusedSince,
  type ListRange,
  liveChange,
  type Store,
  unusedBefore,
} from '@latchkey/store/store';
import type { UseMark } from '@latchkey/store/use-mark';

interface ModelAccount {
  place: string;
  account: CurrentAccount;
  /** How often its pages were ended. */
  sign_outs: number;
}

interface ModelLink extends LinkRecord {
  begin_initiator: Initiator;
  identify_initiator?: Initiator;
  switch_initiator?: Initiator;
  decide_initiator?: Initiator;
}

interface ModelPage extends PageRecord {
  /** How often the pages of its account were ended before. */
  sign_outs: number;
  create_initiator: Initiator;
  open_initiator?: Initiator;
}

/** A code or a grant: one record from issue to revocation. */
interface ModelGrant extends GrantHistory, CodeBinding {
  secret_hash: CredentialHash | null;
  last_used_at: number | null;
  scope: string | null;
  account: AccountRecord | null;
  choice: Choice | null;
  code_hash: CredentialHash | null;
  generation: number | null;
  application_revocations: number | null;
  code_expires_at: number | null;
}

type IssuedCode = PendingRecord & { account_id: string };
type RedeemedGrant = ModelGrant & { created_at: number };

/** Hidden: of a deleted application. */
type StoredEndpoint = EndpointRecord & { hidden: boolean };

/** What happened to a grant, an account or an application, and is no delivery yet. */
interface Recorded {
  type: EventType;
  about: string;
  at: number;
  /** Of the application. */
  name: string;
}

/** All that the handles to one database share. */
export const emptyState = () => ({
  mark: null as UseMark | null,
  applications: new Map<string, ApplicationRecord>(),
  deletions: new Map<string, { document_uri: string | null }>(),
  /** The latest one of each account. */
  erasures: new Map<string, Work>(),
  /** What its mark has ended is not counted yet. */
  unfinished: [] as { work: Work; revoked: RevokedRecord[]; codes_cancelled: number }[],
  /** Codes that a mark has ended, and no step has removed. */
  dead: [] as ModelGrant[],
  /** The secrets of grants whose end no step has written down, and the mark that has ended them. */
  unwritten: new Map<string, { secret_hash: CredentialHash; work: Work }>(),
  /** How often all grants of an application were revoked. */
  revocations: new Map<string, number>(),
  leases: new Map<string, { holder: string; until: number }>(),
  accounts: new Map<string, ModelAccount>(),
  scopes: new Map<string, { record: ScopeRecord; id: string }>(),
  resources: new Map<string, ResourceRecord>(),
  documents: new Map<string, KeptDocument>(),
  keys: new Map<string, KeyRecord>(),
  links: new Map<string, ModelLink>(),
  pages: new Map<string, ModelPage>(),
  grants: new Map<string, ModelGrant>(),
  endpoints: new Map<string, StoredEndpoint>(),
  recorded: [] as Recorded[],
  deliveries: new Map<string, DeliveryRecord>(),
  /** Of an `account.updated`, the application that is told. */
  namesFor: new Map<string, string>(),
  refusals: new Map<string, RefusalRecord>(),
  commandChanges: new Map<string, CommandChange>(),
  logNumber: 0,
  hours: new Map<number, HourCounts>(),
  live: null as LiveCount | null,
  windows: new Map<string, WindowCount>(),
});

export type ModelState = ReturnType<typeof emptyState>;

/** What is about the handle itself: see `openModel`. */
type OfHandle =
  | 'admitEventsKeys'
  | 'housekeeping'
  | 'connectionPool'
  | 'clockDifference'
  | 'ping'
  | 'close';
type Methods = Required<Omit<Store, OfHandle>>;
type Result<Name extends keyof Methods> = Awaited<ReturnType<Methods[Name]>>;

/** The port of the store, with synchronous methods. */
export type ModelMethods = {
  [Name in keyof Methods]: (...args: Parameters<Methods[Name]>) => Result<Name>;
};

/**
 * A model of the port in maps and loops, simple enough to compare with the port's documentation. It keeps
 * what it is given and returns what it has, so its caller makes the copies. It does not check its arguments.
 */
export function modelStore(state: ModelState, recordsEvents = false): ModelMethods {
  function undecided(link_id: string, now: number): ModelLink | null {
    const link = state.links.get(link_id);
    return link && !link.decision && now < link.expires_at ? link : null;
  }

  function redeemed(grant_id: string): RedeemedGrant | null {
    const grant = state.grants.get(grant_id);
    return grant && isRedeemed(grant) ? grant : null;
  }

  function grantsOf(parties: object): ModelGrant[] {
    return [...state.grants.values()].filter(isLike(parties));
  }

  /** @returns whether this has ended it: it was active */
  function end(
    grant: ModelGrant,
    at: number,
    revoked_by: Initiator | null,
    revoked_reason: StoredReason | null = null,
  ): boolean {
    if (!isActive(grant)) return false;
    Object.assign(grant, { revoked_at: at, revoked_by, revoked_reason, secret_hash: null });
    record('grant.revoked', grant.grant_id, at);
    return true;
  }

  /** Of a mark of an account and one of an application, the earlier counts; at the same time, that of the account. */
  function isBefore(work: Work, other: Work): boolean {
    if ((work.account_id === null) === (other.account_id === null)) return false;
    return work.account_id === null ? work.at < other.at : work.at <= other.at;
  }

  /** Ends all at once. Only the counts wait for the work to be done. */
  function mark(work: Work, parties: object, reason: StoredReason | null = null): Work {
    const before = state.revocations.get(work.application_id ?? '') ?? 0;
    const isMeant = (one: ModelGrant) =>
      isLike(parties)(one) &&
      (work.account_id !== null || (one.application_revocations ?? 0) < before);
    const codes = remove(state.grants, (one) => isMeant(one) && isPending(one));
    state.dead.push(...codes);
    const ended = grantsOf({}).filter((one) => isMeant(one) && isActive(one));
    for (const grant of grantsOf({}).filter(isMeant)) {
      const unwritten = state.unwritten.get(grant.grant_id);
      if (unwritten === undefined || !isBefore(work, unwritten.work)) continue;
      unwritten.work = work;
      Object.assign(grant, { revoked_at: work.at, revoked_by: work.by, revoked_reason: reason });
    }
    for (const grant of ended) {
      const { grant_id, secret_hash } = grant;
      if (secret_hash) state.unwritten.set(grant_id, { secret_hash, work });
      end(grant, work.at, work.by, reason);
    }
    const own = state.unfinished.filter(
      (one) => one.work.account_id === work.account_id && work.account_id !== null,
    );
    // There is no room for more, so the oldest one is finished. The log of an erasure may be held up.
    if (own.length === ENDINGS_KEPT) {
      const first = own.find((one) => one.work.kind !== 'erasure') ?? own[0];
      if (first !== undefined) writeDown(first.work);
      state.unfinished = state.unfinished.filter((one) => one !== first);
    }
    const codes_cancelled = codes.length;
    state.unfinished.push({ work, revoked: ended.map(revokedOf), codes_cancelled });
    return work;
  }

  /** What the steps of some work do, whichever mark it was that has ended something. */
  function writeDown({ account_id, application_id }: Work): void {
    const isOf = isLike({
      account_id: account_id ?? undefined,
      application_id: application_id ?? undefined,
    });
    state.dead = state.dead.filter((code) => !isOf(code));
    for (const grant of grantsOf({}).filter(isOf)) state.unwritten.delete(grant.grant_id);
  }

  const isUnfinished = (work: Work) =>
    state.unfinished.some((one) => isDeepStrictEqual(one.work, work));

  function record(type: EventType, about: string, at: number, name = ''): void {
    if (recordsEvents) state.recorded.push({ type, about, at, name });
  }

  /** With the applications that are told of it. Null if what it is about is gone. */
  function eventOf(
    { type, about, at, name }: Recorded,
    now: number,
  ): { event: Event; applications: string[] } | null {
    const id = randomUUID();
    if (type === 'account.updated') {
      const account = methods.findAccount(about);
      if (!account) return null;
      const grants = grantsOf({ account_id: about }).filter(isActive);
      const applications = grants
        .map(({ application_id }) => application_id)
        .filter((application_id) => mayKnow(application_id, about, now));
      return { event: accountUpdated({ id, at }, account), applications };
    }
    if (type === 'application.disabled' || type === 'application.enabled') {
      const disabled = type === 'application.disabled';
      const event = applicationChanged({ id, at }, { id: about, name, disabled });
      return { event, applications: [about] };
    }
    const grant = redeemed(about);
    if (!grant) return null;
    const { application_id } = grant;
    const application = methods.findApplication(application_id);
    const deletion = state.deletions.get(application_id);
    const document_uri = application?.document?.uri ?? deletion?.document_uri ?? null;
    const toldGrant = { ...grant, document_uri };
    if (type === 'grant.created') return { event: grantCreated(toldGrant), applications: [] };
    const event = grantRevoked({ ...toldGrant, revoked_at: at, reason: endReason(grant) });
    return { event, applications: [application_id] };
  }

  /** Whether the application has an active grant of the account that is not idle. */
  function mayKnow(
    application_id: string,
    account_id: string | null,
    now: number,
    by = Number.POSITIVE_INFINITY,
  ): boolean {
    const application = methods.findApplication(application_id);
    const before = application && unusedBefore(application, now);
    return grantsOf({ application_id, account_id })
      .filter(isActive)
      .filter(({ created_at }) => created_at <= by)
      .some((grant) => before === null || !isUnusedSince(grant, before));
  }

  /** Takes the names of the account back that the application was told, or is to be told, of what happened until then. */
  function forget(
    application_id: string,
    account_id: string | null,
    until: number,
    now: number,
  ): void {
    for (const [id, delivery] of state.deliveries) {
      if (state.namesFor.get(id) !== application_id) continue;
      if (delivery.account_id !== account_id || delivery.created_at > until) continue;
      delivery.body = null;
      if (delivery.status === 'pending') drop(delivery, now);
    }
  }

  /** After the end of a grant, if that was the last one. A later one brings nothing back. */
  function takeNamesBack(grant_id: string, ended_at: number, now: number): void {
    const grant = redeemed(grant_id);
    if (!grant) return;
    const { application_id, account_id } = grant;
    const others = grantsOf({ application_id, account_id }).filter(isActive);
    if (others.some(({ created_at }) => created_at <= ended_at)) return;
    forget(application_id, account_id, ended_at, now);
  }

  /** Otherwise `forgetOthers` says whether the names of the account in others are gone too, of before it. */
  function mayBeTold(delivery: DeliveryRecord, now: number, forgetOthers = true): boolean {
    const { id, account_id, created_at } = delivery;
    const application_id = state.namesFor.get(id);
    if (application_id === undefined) return true;
    if (mayKnow(application_id, account_id, now, created_at)) return true;
    if (mayKnow(application_id, account_id, now)) {
      // What has ended before takes the names back.
      methods.makeDeliveries(now);
      return delivery.body !== null;
    }
    if (forgetOthers) forget(application_id, account_id, created_at, now);
    return false;
  }

  /** Those of deleted applications are found by nobody. */
  function visible(endpoint_id: string): StoredEndpoint | null {
    const found = state.endpoints.get(endpoint_id);
    return found && !found.hidden ? found : null;
  }

  function pendingFor({ id }: EndpointRecord): DeliveryRecord[] {
    const deliveries = [...state.deliveries.values()];
    return deliveries.filter((one) => one.status === 'pending' && one.endpoint_id === id);
  }

  /** Those due for longest first. */
  function dueFor(endpoint: EndpointRecord, now: number): DeliveryRecord[] {
    const due = pendingFor(endpoint).filter(({ due_at }) => (due_at ?? Infinity) <= now);
    return due.sort((a, b) => (a.due_at ?? 0) - (b.due_at ?? 0));
  }

  function dropIfDisabled(endpoint: EndpointRecord, now: number): void {
    if (endpoint.disabled_reason === null) return;
    for (const delivery of pendingFor(endpoint)) drop(delivery, now);
  }

  /** As a try sends it: its grant says what the user chose, until the account is erased. */
  function withItsChoice<D extends DeliveryRecord & { body: string }>(delivery: D): D {
    const choice = state.grants.get(delivery.grant_id ?? '')?.choice ?? null;
    return choice === null ? delivery : { ...delivery, body: withChoice(delivery.body, choice) };
  }

  /** What has ended, or waits for a later try. */
  function canBegin({ endpoint_id, body, due_at, claim }: DeliveryRecord, now: number): boolean {
    const isIdle = due_at === null || (claim === null && due_at > now);
    return isIdle && body !== null && visible(endpoint_id)?.disabled_reason === null;
  }

  const methods: ModelMethods = {
    // Applications

    createApplication: (application) => insert(state.applications, application.id, application),
    findApplication: (application_id) => state.applications.get(application_id) ?? null,

    findDocumented(uri) {
      const all = [...state.applications.values()];
      return all.find(({ document }) => document?.uri === uri) ?? null;
    },

    putDocumented(application) {
      const found = methods.findDocumented(application.document.uri);
      if (found) return Object.assign(found, documentedChanges(found, application));
      methods.createApplication(application);
      return application;
    },

    authenticateApplication(application_id) {
      const application = methods.findApplication(application_id);
      if (application === null) return null;
      const { logo_uri: _, ...others } = application;
      return others;
    },

    listApplications(range, { documented } = {}) {
      const listed = [...state.applications.values()].filter(
        ({ document }) => documented === undefined || documented === (document !== null),
      );
      return newestFirst(listed, ({ id }) => id, range);
    },

    addSecret(application_id, secret, { most, now }) {
      const application = methods.findApplication(application_id);
      if (!application) return 'application_not_found';
      const { secrets } = application;
      if (secrets.filter((other) => isLive(other, now)).length >= most)
        return 'secret_limit_reached';
      application.secrets = [...withoutOutdated(secrets, now), secret];
      return 'added';
    },

    removeSecret(application_id, secret_id) {
      const application = methods.findApplication(application_id);
      if (!application) return 'application_not_found';
      const kept = application.secrets.filter(({ id }) => id !== secret_id);
      if (kept.length === application.secrets.length) return 'secret_not_found';
      application.secrets = kept;
      return application;
    },

    updateApplication(application_id, changes) {
      const application = methods.findApplication(application_id);
      if (!application) return null;
      const generations = generationsAfter(application, changes);
      return Object.assign(application, changes, { generations });
    },

    setApplicationDisabled(application_id, disabled, now, nameOf = ({ name }) => name as string) {
      const application = methods.findApplication(application_id);
      if (!application) return null;
      application.generations = generationsAfter(application, { disabled });
      if (application.disabled === disabled) return application;
      application.disabled = disabled;
      if (disabled) {
        // It is not told of its accounts any more.
        methods.makeDeliveries(now);
        const own = [...state.endpoints.values()].filter(isLike({ application_id }));
        for (const delivery of own.flatMap(pendingFor)) {
          if (delivery.type === 'account.updated') drop(delivery, now);
        }
      } else {
        application.enabled_at = now;
      }
      const type = disabled ? 'application.disabled' : 'application.enabled';
      record(type, application_id, now, nameOf(application));
      return application;
    },

    deleteApplication(deletion) {
      const { application_id } = deletion;
      const application = methods.findApplication(application_id);
      if (!application) return 'application_not_found';
      if (!application.disabled) return 'application_enabled';
      state.applications.delete(application_id);
      const document_uri = application.document?.uri ?? null;
      state.deletions.set(application_id, { document_uri });
      const work = deletionWork(deletion, application.revocations);
      state.revocations.set(application_id, work.before);
      mark(work, { application_id }, 'application_deleted');
      for (const endpoint of state.endpoints.values()) {
        if (endpoint.application_id === application_id) endpoint.hidden = true;
      }
      return application;
    },

    noteSecretUse(application_id, secret_id, at) {
      const { secrets = [] } = methods.findApplication(application_id) ?? {};
      for (const secret of secrets) if (secret.id === secret_id) noteUse(secret, at);
    },

    // Accounts

    putAccount(account) {
      const found = state.accounts.get(account.id);
      const { place = newId(Date.now()), sign_outs = 0 } = found ?? {};
      state.accounts.set(account.id, { place, account, sign_outs });
      if (found && told(found.account) !== told(account)) {
        record('account.updated', account.id, Date.now());
      }
    },

    findAccount: (account_id) => state.accounts.get(account_id)?.account ?? null,

    listAccounts(filter, range) {
      const listed = [...state.accounts.values()].filter(({ account }) => isLike(filter)(account));
      return newestFirst(listed, ({ place }) => place, range).map((one) =>
        pick(one, 'place', 'account'),
      );
    },

    // Marks

    markErasure({ account_id, now, initiator }) {
      const { accounts, erasures, links, pages, grants, deliveries } = state;
      const of = { kind: 'erasure', account_id, application_id: null } as const;
      const work = { ...of, before: 0, at: now, by: initiator };
      if (!accounts.delete(account_id)) {
        const former = erasures.get(account_id) ?? work;
        erasures.set(account_id, former);
        return isUnfinished(former) ? former : { ...former, is_done: true };
      }
      erasures.set(account_id, work);
      state.recorded = state.recorded.filter(
        ({ type, about }) => type !== 'account.updated' || about !== account_id,
      );
      const ownPages = remove(pages, isLike({ account_id }));
      // Also those that a mark has ended, and no step has removed.
      const codes = [...grants.values(), ...state.dead].filter(
        isLike({ account_id, created_at: null }),
      );
      const linkIds = [...ownPages, ...codes].map(({ link_id }) => link_id);
      remove(links, (link) => link.account_id === account_id || linkIds.includes(link.id));
      for (const grant of grantsOf({ account_id })) {
        Object.assign(grant.account ?? {}, ERASED);
        grant.choice = null;
      }
      const messages = [...deliveries.values()].filter(
        isLike({ type: 'account.updated', account_id }),
      );
      for (const message of messages) {
        message.body = null;
        if (message.status === 'pending') drop(message, now);
      }
      return mark(work, { account_id }, 'account_erased');
    },

    markRevocation({ account_id = null, application_id = null, now, initiator, ...numbers }) {
      const id = account_id ?? application_id ?? '';
      const application = account_id === null ? methods.findApplication(id) : null;
      if (!application && !methods.findAccount(id)) return null;
      const current = state.revocations.get(id) ?? 0;
      const { before = current + 1, ifKnown = false } = numbers;
      if (ifKnown && before > current) return null;
      const of = { kind: 'revocation', account_id, application_id, before } as const;
      // What had a lesser number than a former mark is ended already.
      if (before <= current) {
        const former = state.unfinished.find(({ work }) => isLike(of)(work));
        return former?.work ?? { ...of, at: now, by: initiator, is_done: true };
      }
      state.revocations.set(id, before);
      if (application) application.revocations = before;
      const work = { ...of, at: now, by: initiator };
      return mark(work, {
        account_id: account_id ?? undefined,
        application_id: application_id ?? undefined,
      });
    },

    listWork(limit) {
      const works = state.unfinished
        .map(({ work }) => work)
        .sort((one, other) => one.at - other.at);
      const lists = Map.groupBy(works, ({ account_id }) =>
        account_id === null ? 'application' : state.accounts.has(account_id),
      );
      return works.filter((work) =>
        [...lists.values()].some((of) => of.slice(0, limit).includes(work)),
      );
    },

    doStep(work, step) {
      const nothing = { isOver: true, changed: 0, revoked: [], codes_cancelled: 0 };
      const found = state.unfinished.find((one) => isDeepStrictEqual(one.work, work));
      if (!found) return nothing;
      const changed = found.revoked.length + found.codes_cancelled;
      if (step !== 'grants' || changed === 0) return nothing;
      const { codes_cancelled } = found;
      found.codes_cancelled = 0;
      return { isOver: false, changed, revoked: found.revoked.splice(0), codes_cancelled };
    },

    finishWork(work) {
      writeDown(work);
      // What is recorded has the address of its document.
      if (work.kind === 'deletion') {
        methods.makeDeliveries(Date.now());
        const { document_uri = null } = state.deletions.get(work.application_id ?? '') ?? {};
        if (document_uri !== null) methods.endKeptDocument(document_uri);
        state.deletions.delete(work.application_id ?? '');
      }
      state.unfinished = state.unfinished.filter((one) => !isDeepStrictEqual(one.work, work));
    },

    takeLease({ name, holder, now, lasts }) {
      const found = state.leases.get(name);
      const isHeld = found && now < found.until && found.until <= now + lasts + 60_000;
      if (isHeld && found.holder !== holder) return false;
      state.leases.set(name, { holder, until: now + lasts });
      return true;
    },

    releaseLease({ name, holder }) {
      if (state.leases.get(name)?.holder === holder) state.leases.delete(name);
    },

    // Scopes

    putScope(record, { most }) {
      const { scopes } = state;
      const found = scopes.get(record.scope);
      if (!found && scopes.size >= most) return 'scope_limit_reached';
      scopes.set(record.scope, { record, id: found?.id ?? randomUUID() });
      return 'put';
    },

    listScopes: () =>
      methods.listScopeNames().flatMap((scope) => state.scopes.get(scope)?.record ?? []),
    listScopeNames: () => [...state.scopes.keys()].sort(),
    findDescriptionIds: (scopes, { withSensitive = true } = {}) =>
      scopes.map((scope) => {
        const found = state.scopes.get(scope);
        return found && (withSensitive || !found.record.sensitive) ? found.id : null;
      }),
    deleteScope: (scope) => take(state.scopes, scope)?.record ?? null,

    // Resources

    createResource(resource, { most }) {
      const all = methods.listResources();
      if (all.some((other) => other.resource === resource.resource)) return 'resource_exists';
      if (all.length >= most) return 'resource_limit_reached';
      insert(state.resources, resource.id, resource);
      return 'created';
    },

    listResources: () =>
      [...state.resources.values()].sort((a, b) => (a.resource < b.resource ? -1 : 1)),

    updateResource(resource_id, changes) {
      const resource = state.resources.get(resource_id);
      if (!resource) return 'resource_not_found';
      const changed = resourceAfter(resource, changes);
      return changed ? Object.assign(resource, changed) : 'default_scopes_outside';
    },

    deleteResource: (resource_id) => take(state.resources, resource_id),

    // Client documents

    keepDocument(fetched) {
      const kept = state.documents.get(fetched.document_uri);
      if (kept?.kept_until === null) return;
      const wait = kept?.document === fetched.document ? 3_600_000 : 1;
      if (kept && fetched.kept_at < kept.kept_at + wait) return;
      state.documents.set(fetched.document_uri, fetched);
    },

    findKeptDocument: (document_uri) => state.documents.get(document_uri) ?? null,

    listKeptDocuments: ({ after, limit }, { now, pinned }) =>
      [...state.documents.values()]
        .filter(({ document_uri, kept_until }) => {
          const isMeant = pinned === undefined || pinned === (kept_until === null);
          return isMeant && (kept_until ?? now + 1) > now && document_uri > (after ?? '');
        })
        .sort((a, b) => (a.document_uri < b.document_uri ? -1 : 1))
        .slice(0, limit),

    listPinned: () =>
      [...state.documents.values()]
        .flatMap(({ document_uri, kept_until }) => (kept_until === null ? [document_uri] : []))
        .sort(),

    pinDocument({ document_uri, document, kept_at }, { most }) {
      const all = methods.listPinned();
      if (!all.includes(document_uri) && all.length >= most) return 'document_limit_reached';
      state.documents.set(document_uri, { document_uri, document, kept_at, kept_until: null });
      return 'pinned';
    },

    unpinDocument: (document_uri) =>
      state.documents.get(document_uri)?.kept_until === null
        ? take(state.documents, document_uri)
        : null,

    endKeptDocument(document_uri) {
      if (state.documents.get(document_uri)?.kept_until !== null)
        take(state.documents, document_uri);
    },

    // Keys

    createKey(key, { most, now }) {
      const all = methods.listKeys().reverse();
      if (all.filter((other) => isLive(other, now)).length >= most) return 'key_limit_reached';
      state.keys = new Map([...withoutOutdated(all, now), key].map((one) => [one.id, one]));
      return 'created';
    },

    findKey: (key_id) => state.keys.get(key_id) ?? null,
    listKeys: () => newestFirst(state.keys.values(), ({ id }) => id, EVERYTHING),
    deleteKey: (key_id) => take(state.keys, key_id),

    noteKeyUse(key_id, at) {
      const key = methods.findKey(key_id);
      if (key) noteUse(key, at);
    },

    // Link requests and pages

    createLink: ({ initiator, ...link }) =>
      insert(state.links, link.id, { ...link, begin_initiator: initiator }),

    findLink(link_id) {
      const found = state.links.get(link_id);
      return found ? linkOf(found) : null;
    },

    identifyLink(identification) {
      const { link_id, link_hash, page, own_page, now, initiator } = identification;
      const link = undecided(link_id, now);
      if (!link || !sameBytes(link.link_hash, link_hash)) return null;
      const { account_id, id: page_id } = page;
      if (!methods.findAccount(account_id)) return null;
      if (!own_page) methods.createPage({ ...page, initiator });
      const changes = { account_id, page_id, switched: false, identify_initiator: initiator };
      return linkOf(Object.assign(link, changes));
    },

    switchLink({ link_id, page_id, link_hash, now, initiator }) {
      const link = undecided(link_id, now);
      if (!link || link.page_id !== page_id) return null;
      return linkOf(
        Object.assign(link, { link_hash, switched: true, switch_initiator: initiator }),
      );
    },

    decideLink(asked) {
      const { link_id, holder, account_id, decision, now, initiator } = asked;
      const link = undecided(link_id, now);
      if (!link) return null;
      const isHeld =
        'link_hash' in holder
          ? sameBytes(link.link_hash, holder.link_hash) && !isOfAnother(link, account_id)
          : link.page_id === holder.page_id;
      if (!isHeld) return null;
      const decided = {
        account_id: account_id ?? link.account_id,
        decision: { ...decision, at: now },
      };
      return linkOf(Object.assign(link, decided, { decide_initiator: initiator }));
    },

    createPage({ initiator, ...page }) {
      const account = state.accounts.get(page.account_id);
      if (!account) return null;
      const { sign_outs } = account;
      insert(state.pages, page.id, { ...page, sign_outs, create_initiator: initiator });
      return page;
    },

    findPage(page_id) {
      const found = state.pages.get(page_id);
      return found ? pageOf(found) : null;
    },

    findPageAccount(page_id) {
      const page = state.pages.get(page_id);
      const found = page && state.accounts.get(page.account_id);
      if (!found) return null;
      return page.sign_outs < found.sign_outs ? 'signed_out' : snapshotOf(found.account);
    },

    endPages(account_id) {
      const found = state.accounts.get(account_id);
      if (found) found.sign_outs += 1;
    },

    openPage(opening) {
      const { page_id, ticket_hash, session_hash, expires_at, now, initiator } = opening;
      const page = state.pages.get(page_id);
      if (!page || page.session_hash || !sameBytes(page.ticket_hash, ticket_hash)) return null;
      const { opened_at, waiting } = page;
      if (opened_at === null) {
        if (now >= page.ticket_expires_at) return null;
        Object.assign(page, { opened_at: now, expires_at, open_initiator: initiator });
      } else if (now >= opened_at + REOPENING || waiting?.length === SESSIONS_OF_TICKET) {
        return null;
      }
      return pageOf(
        Object.assign(page, { waiting: [...(waiting ?? []), textOfHash(session_hash)] }),
      );
    },

    returnToPage(page_id, session_hash) {
      const page = state.pages.get(page_id);
      if (!page) return null;
      const isFirst =
        page.session_hash === null && page.waiting?.includes(textOfHash(session_hash));
      if (isFirst) Object.assign(page, { session_hash, waiting: null });
      const isOwn = page.session_hash !== null && sameBytes(page.session_hash, session_hash);
      return isOwn ? pageOf(page) : null;
    },

    // Codes

    issueCode({ initiator, account_id, ...code }) {
      const current = methods.findAccount(account_id);
      if (!current) return null;
      const account = snapshotOf(current);
      const issued = {
        ...{ ...reduced, ...code, account_id, account, issued_by: initiator },
        ...{ secret_hash: null, created_at: null, revoked_at: null },
      };
      const isEnded =
        code.application_revocations < (state.revocations.get(code.application_id) ?? 0);
      if (isEnded) state.dead.push(issued);
      else insert(state.grants, code.grant_id, issued);
      return pendingOf(issued);
    },

    listCodes(account_id) {
      const codes = grantsOf({ account_id }).filter(isPending);
      return newestFirst(codes, grantId, EVERYTHING).map(pendingOf);
    },

    cancelCode(grant_id) {
      const code = state.grants.get(grant_id);
      if (!code || !isPending(code)) return null;
      state.grants.delete(grant_id);
      return pendingOf(code);
    },

    redeemCode(redemption) {
      const { grant_id, redirect_uri, resources, secret_hash, now, initiator } = redemption;
      const grant = state.grants.get(grant_id);
      if (!grant || !isPending(grant)) return null;
      const code = pendingOf(grant);
      if (code.application_id !== redemption.application_id) return null;
      if (!sameBytes(code.code_hash, redemption.code_hash)) return null;
      if (now >= code.code_expires_at) return null;
      if (code.generation < redemption.disabled_generation) return null;
      if (redemption.code_challenge !== code.code_challenge) return null;
      const mayBeLeftOut = code.code_challenge !== null || !code.redirect_uri_given;
      const isBrought = redirect_uri === null ? mayBeLeftOut : redirect_uri === code.redirect_uri;
      if (code.redirect_uri !== null && !isBrought) return null;
      if (resources?.includes(code.resource) === false) return null;
      Object.assign(grant, { created_at: now, redeemed_by: initiator, secret_hash });
      record('grant.created', grant_id, now);
      return recordOf(grant);
    },

    findCode(grant_id) {
      const code = state.grants.get(grant_id);
      if (!code || !isWhole(code)) return null;
      const { application_id, account_id, generation, code_hash } = code as IssuedCode;
      const ids = { application_id, account_id, generation, code_hash };
      return { ...ids, redeemed: !isPending(code), ...bindingOf(code) };
    },

    countPendingCodes({ now, limit }) {
      const codes = grantsOf({ created_at: null }).filter(
        ({ code_expires_at }) => now < (code_expires_at ?? 0),
      );
      return Math.min(codes.length, limit);
    },

    measure() {
      const backed_up_at = state.mark?.backed_up_at ?? null;
      return { database_bytes: 0, free_bytes: null, backed_up_at };
    },

    // Grants

    revokeGrant(revocation) {
      const { application_id, onlyActive = false, unused_before = Infinity } = revocation;
      const grant = redeemed(revocation.grant_id);
      if (!grant) return null;
      if (application_id !== null && grant.application_id !== application_id) return null;
      if (onlyActive && grant.revoked_at !== null) return null;
      if (!isUnusedSince(grant, unused_before)) return null;
      const { now, initiator, reason } = revocation;
      end(grant, now, initiator, reason);
      return revokedOf(grant);
    },

    recoverGrant(recovery) {
      const { application_id, secret_hash, redeemed_after, now, initiator } = recovery;
      const grant = redeemed(recovery.grant_id);
      if (!grant || grant.application_id !== application_id) return null;
      if (grant.revoked_at !== null || grant.first_used_at !== null) return null;
      if (grant.created_at <= redeemed_after) return null;
      const recoveries = grant.recoveries + 1;
      Object.assign(grant, { secret_hash, recoveries, recovered_at: now, recovered_by: initiator });
      return recordOf(grant);
    },

    authenticateGrant(grant_id, options) {
      const grant = redeemed(grant_id);
      if (!grant) return null;
      const application = methods.findApplication(grant.application_id);
      const current = methods.findAccount(grant.account_id ?? '');
      return {
        grant: connectedOf(grant),
        secret_hash: grant.secret_hash,
        first_used_at: grant.first_used_at,
        application_disabled: application?.disabled ?? null,
        application_public: application?.public ?? null,
        document_uri: application?.document?.uri ?? null,
        idle_days: application?.idle_days ?? null,
        enabled_at: application?.enabled_at ?? null,
        account: options.currentAccount ? current && snapshotOf(current) : grant.account,
        external_id: current?.external_id ?? null,
      };
    },

    noteUse({ grant_id, secret_hash, now, initiator }) {
      const grant = redeemed(grant_id);
      // Who has authenticated before a mark may note the use until its end is written down.
      const secret = grant?.secret_hash ?? state.unwritten.get(grant_id)?.secret_hash;
      if (!grant || !secret || !sameBytes(secret, secret_hash)) return false;
      if (grant.first_used_at === null) {
        grant.first_used_at = now;
        grant.first_used_by = initiator;
      }
      noteUse(grant, now);
      return true;
    },

    listGrants(filter, range) {
      const grants = grantsOf(filter).filter(isRedeemed).filter(isWhole);
      return newestFirst(grants, grantId, range).map(recordOf);
    },

    listConnected(account_id, { limit, after }) {
      const some = grantsOf({ account_id })
        .filter(isActive)
        .map(({ application_id }) => application_id)
        .filter((application_id) => after === null || application_id > after)
        .toSorted()
        .slice(0, limit);
      const connected = [...new Set(some)].map((application_id) => {
        const found = methods.findApplication(application_id);
        if (found === null) return { application_id, application: null };
        const { name, document, redirect_uris } = found;
        return { application_id, application: { name, document, redirect_uris } };
      });
      return { connected, next: some.length < limit ? null : (some.at(-1) ?? null) };
    },

    listActiveGrants(filter, range) {
      const grants = grantsOf(filter).filter(isActive);
      return newestFirst(grants, grantId, range).map(connectedOf);
    },

    newestGrantTime() {
      const [newest] = newestFirst(grantsOf({}), grantId, EVERYTHING);
      return newest ? uuidV7Time(newest.grant_id) : null;
    },

    findGrantHistory(grant_id) {
      const grant = state.grants.get(grant_id);
      return grant ? historyOf(grant) : null;
    },

    listGrantHistories(account_id, range) {
      const grants = newestFirst(grantsOf({ account_id }).filter(isRedeemed), grantId, range);
      return grants.map((grant) => ({ ...historyOf(grant), link_id: grant.link_id }));
    },

    removeTrial({ grant_id, account_id, application_id }) {
      state.grants.delete(grant_id ?? '');
      state.accounts.delete(account_id);
      state.applications.delete(application_id);
    },

    // Endpoints

    createEndpoint(endpoint, { most }) {
      const { application_id } = endpoint;
      if (application_id !== null && !methods.findApplication(application_id)) {
        return 'application_not_found';
      }
      if (methods.listEndpoints({ application_id }, EVERYTHING).length >= most) {
        return 'endpoint_limit_reached';
      }
      methods.makeDeliveries(Date.now());
      insert(state.endpoints, endpoint.id, { ...endpoint, hidden: false });
      return 'created';
    },

    listEndpoints(filter, range) {
      const listed = [...state.endpoints.values()].filter(isLike({ ...filter, hidden: false }));
      return newestFirst(listed, ({ id }) => id, range).map(endpointOf);
    },

    findEndpoint(endpoint_id) {
      const found = visible(endpoint_id);
      return found ? endpointOf(found) : null;
    },

    updateEndpoint(endpoint_id, changes) {
      methods.makeDeliveries(Date.now());
      const found = visible(endpoint_id);
      if (!found) return null;
      Object.assign(found, endpointChanges(found, changes));
      dropIfDisabled(found, Date.now());
      return endpointOf(found);
    },

    rotateEndpoint(endpoint_id, { overlap_until }) {
      const found = visible(endpoint_id);
      if (!found) return null;
      const secret_version = found.secret_version + 1;
      return endpointOf(Object.assign(found, { secret_version, overlap_until }));
    },

    deleteEndpoint(endpoint_id, now) {
      const found = visible(endpoint_id);
      if (!found) return null;
      state.endpoints.delete(endpoint_id);
      for (const delivery of pendingFor(found)) drop(delivery, now);
      return endpointOf(found);
    },

    findEventsKeys: () => state.mark?.events_keys,

    // Events and deliveries

    makeDeliveries(now) {
      const recorded = state.recorded.splice(0);
      for (const [index, one] of recorded.entries()) {
        const { type, about } = one;
        // The message has the account as it is now, so one is enough.
        const isAgain = recorded.slice(index + 1).some((later) => later.about === about);
        if (type === 'account.updated' && isAgain) continue;
        const made = eventOf(one, now);
        if (made === null) continue;
        const owners = isForApplications(type) ? [null, ...made.applications] : [null];
        for (const endpoint of state.endpoints.values()) {
          if (!owners.includes(endpoint.application_id) || !isToldOf(endpoint, type)) continue;
          const delivery = newDelivery(made.event, endpoint.id, now);
          insert(state.deliveries, delivery.id, delivery);
          if (type === 'account.updated' && endpoint.application_id !== null) {
            state.namesFor.set(delivery.id, endpoint.application_id);
          }
        }
        if (type === 'grant.revoked') takeNamesBack(about, one.at, now);
      }
      return false;
    },

    createPing(delivery) {
      const endpoint = methods.findEndpoint(delivery.endpoint_id);
      if (endpoint?.disabled_reason !== null) return null;
      insert(state.deliveries, delivery.id, delivery);
      return endpoint;
    },

    listDueEndpoints({ now, except }) {
      return [...state.endpoints.values()]
        .filter(({ id, disabled_reason }) => disabled_reason === null && !except.includes(id))
        .filter((endpoint) => dueFor(endpoint, now).length > 0)
        .map((endpoint) => {
          const { id, application_id } = endpoint;
          return { id, application_id, standing: standingOf(endpoint) };
        });
    },

    claimDeliveries({ now, claim, endpoints }) {
      return endpoints.flatMap(({ id, most }) => {
        const endpoint = state.endpoints.get(id);
        if (endpoint?.disabled_reason !== null) return [];
        const { application_id } = endpoint;
        const isDisabled =
          application_id !== null && (methods.findApplication(application_id)?.disabled ?? true);
        return dueFor(endpoint, now)
          .slice(0, most)
          .flatMap((delivery) => {
            Object.assign(delivery, { claim, due_at: now + CLAIM_LASTS });
            if (!mayBeTold(delivery, now, false)) {
              delivery.body = null;
              drop(delivery, now);
              return [];
            }
            if (isStillTold(delivery, { isDisabled })) {
              return [{ delivery: withItsChoice(delivery), endpoint: endpointOf(endpoint) }];
            }
            drop(delivery, now);
            return [];
          });
      });
    },

    endTries(tries) {
      return tries.flatMap((ended) => {
        const { attempt, next_attempt_at, now } = ended;
        const delivery = methods.findDelivery(ended.delivery_id);
        if (delivery?.claim === ended.claim) {
          const isDelivered = attempt.result === 'delivered';
          const isOver = isDelivered || next_attempt_at === null;
          Object.assign(delivery, {
            status: isDelivered ? 'delivered' : isOver ? 'failed' : 'pending',
            claim: null,
            due_at: isOver ? null : next_attempt_at,
            ended_at: isOver ? now : null,
            tries: delivery.tries + 1,
            attempts: [...delivery.attempts, attempt].slice(-ATTEMPTS_KEPT),
          });
        }
        const endpoint = state.endpoints.get(ended.endpoint_id);
        if (!endpoint) return [];
        const wasEnabled = endpoint.disabled_reason === null;
        Object.assign(endpoint, endpointAfter(endpoint, ended));
        dropIfDisabled(endpoint, now);
        return wasEnabled && endpoint.disabled_reason !== null ? [endpointOf(endpoint)] : [];
      });
    },

    releaseDeliveries(claim, ids, now) {
      for (const id of ids) {
        const delivery = methods.findDelivery(id);
        if (delivery?.claim === claim) Object.assign(delivery, { claim: null, due_at: now });
      }
    },

    findDelivery: (delivery_id) => state.deliveries.get(delivery_id) ?? null,

    listDeliveries(filter, range) {
      const listed = [...state.deliveries.values()].filter(isLike(filter));
      return newestFirst(listed, ({ id }) => id, range);
    },

    retryDelivery(delivery_id, now) {
      const delivery = methods.findDelivery(delivery_id);
      if (!delivery || !canBegin(delivery, now) || !mayBeTold(delivery, now)) return null;
      return beginAnew(delivery, now);
    },

    replayDeliveries({ endpoint_id, since, now, limit }) {
      const undelivered = methods
        .listDeliveries({ endpoint_id }, EVERYTHING)
        .filter(
          (one) =>
            one.status !== 'delivered' &&
            (one.ended_at ?? since) >= since &&
            one.type !== 'ping' &&
            canBegin(one, now) &&
            mayBeTold(one, now),
        );
      return undelivered.slice(0, limit).map((one) => beginAnew(one, now)).length;
    },

    countEvents(limit) {
      const { recorded, deliveries, endpoints } = state;
      const pending = [...deliveries.values()].filter(({ status }) => status === 'pending');
      const times = [...recorded.map(({ at }) => at), ...pending.map((one) => one.created_at)];
      const failing = [...endpoints.values()].filter(
        (one) => one.failing_since !== null && one.disabled_reason === null && !one.hidden,
      );
      return {
        pending: Math.min(times.length, limit),
        oldest_at: times.length === 0 ? null : Math.min(...times),
        failing_endpoints: failing.length,
      };
    },

    // Refusals

    keepRefusals(refusals) {
      for (const refusal of refusals) state.refusals.set(refusal.id, refusal);
    },

    findRefusals(filter, range) {
      const least = leastIdSince(range.since ?? 0);
      const found = [...state.refusals.values()]
        .filter(isLike(filter))
        .filter(({ id }) => id >= least);
      return newestFirst(found, ({ id }) => id, range);
    },

    findFirstRefusal: (request_id, { since } = {}) =>
      methods.findRefusals({ request_id }, { ...EVERYTHING, since }).at(-1) ?? null,

    // Changes on the command line, and the numbers of the log

    keepCommandChanges(changes) {
      for (const change of changes) state.commandChanges.set(change.id, change);
    },

    listCommandChanges(limit) {
      const changes = newestFirst(state.commandChanges.values(), ({ id }) => id, EVERYTHING);
      return changes.reverse().slice(0, limit);
    },

    forgetCommandChanges(ids) {
      for (const id of ids) state.commandChanges.delete(id);
    },

    takeLogNumbers({ count, above = 0 }) {
      state.logNumber = Math.max(state.logNumber, above) + count;
      return state.logNumber;
    },

    // Counts

    addCounts({ hour, counts }) {
      const sums = { ...state.hours.get(hour)?.counts };
      for (const [name, count] of Object.entries(counts) as [CountName, number][]) {
        sums[name] = (sums[name] ?? 0) + count;
      }
      state.hours.set(hour, { hour, counts: sums });
      if (state.live) state.live.count += liveChange(counts);
    },

    listCounts({ since, until }) {
      return [...state.hours.values()]
        .filter(({ hour }) => since <= hour && hour < until)
        .sort((a, b) => a.hour - b.hour);
    },

    findLiveCount: () => state.live,

    countActiveGrants({ after, limit }) {
      const begin = after?.[0] ?? '';
      const ids = grantsOf({}).filter(isActive).map(grantId).sort();
      const part = ids.filter((id) => id > begin).slice(0, limit);
      const last = part.length === limit ? part.at(-1) : undefined;
      return { count: part.length, after: last === undefined ? null : [last] };
    },

    keepLiveCount(live) {
      state.live = live;
    },

    // Rate limits

    addToCount({ key, points, now, duration }) {
      const found = state.windows.get(key);
      const { count, ends_at } =
        found && now < found.ends_at ? found : { count: 0, ends_at: Infinity };
      const counted = { count: count + points, ends_at: Math.min(ends_at, now + duration) };
      state.windows.set(key, counted);
      return counted;
    },
  };
  return methods;
}

/** The housekeeping. */
export function sweepModel(state: ModelState, now: number, revokedGrantDays = Infinity): void {
  const { grants, links, pages, documents, refusals, windows, hours, deliveries, deletions } =
    state;
  remove(grants, (one) => isPending(one) && (one.code_expires_at ?? now) <= now);
  remove(links, ({ expires_at }) => expires_at + LINKS_KEPT <= now);
  remove(pages, ({ expires_at }) => expires_at + LINKS_KEPT <= now);
  remove(refusals, ({ expires_at }) => expires_at <= now);
  remove(documents, ({ kept_until }) => (kept_until ?? now + 1) <= now);
  remove(windows, ({ ends_at }) => ends_at <= now);
  remove(hours, ({ hour }) => hour + COUNTS_KEPT <= now);
  remove(deliveries, ({ ended_at }) => ended_at !== null && ended_at + DELIVERIES_KEPT <= now);
  // Of deleted applications, once all is told.
  const pending = [...deliveries.values()].filter(({ status }) => status === 'pending');
  remove(state.endpoints, ({ id, application_id, hidden }) => {
    const isEnding = state.recorded.length > 0 || deletions.has(application_id ?? '');
    return hidden && !isEnding && !pending.some(({ endpoint_id }) => endpoint_id === id);
  });
  for (const grant of grants.values()) {
    if ((grant.revoked_at ?? Infinity) <= now - revokedGrantDays * DAY)
      Object.assign(grant, reduced);
  }
}

const DAY = 86_400_000;
const EVERYTHING: ListRange = { limit: Infinity, before: null };

function insert<Item>(records: Map<string, Item>, id: string, record: Item): void {
  if (records.has(id)) throw new Error(`There is a record with the id ${id}.`);
  records.set(id, record);
}

function take<Item>(records: Map<string, Item>, id: string): Item | null {
  const found = records.get(id) ?? null;
  records.delete(id);
  return found;
}

/** @returns the removed records */
function remove<Key, Item>(records: Map<Key, Item>, is: (record: Item) => boolean): Item[] {
  const found = [...records].filter(([, record]) => is(record));
  for (const [key] of found) records.delete(key);
  return found.map(([, record]) => record);
}

/** A part of a list. */
function newestFirst<Item>(
  items: Iterable<Item>,
  id: (item: Item) => string,
  { limit, before }: ListRange,
): Item[] {
  const older = [...items].filter((item) => before === null || id(item) < before);
  return older.sort((a, b) => (id(a) < id(b) ? 1 : -1)).slice(0, limit);
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

/** Never moves the time back. */
function noteUse(record: Pick<SecretRecord, 'last_used_at'>, at: number): void {
  record.last_used_at = Math.max(record.last_used_at ?? at, at);
}

const snapshotOf = ({ external_id: _, ...account }: CurrentAccount): AccountRecord => account;

/** What messages have of an account. */
const told = (account: CurrentAccount) =>
  JSON.stringify(Object.entries(snapshotOf(account)).sort());

/** Approves for another account than the identified one. */
function isOfAnother(link: LinkRecord, account_id: string | null): boolean {
  if (account_id === null || link.account_id === null || link.switched) return false;
  return link.account_id !== account_id;
}

function linkOf(link: ModelLink): LinkRecord {
  const { begin_initiator: _, identify_initiator: __, ...rest } = link;
  const { switch_initiator: ___, decide_initiator: ____, ...record } = rest;
  return record;
}

function pageOf({ sign_outs: _, create_initiator: __, open_initiator: ___, ...page }: ModelPage) {
  return page;
}

const grantId = ({ grant_id }: ModelGrant) => grant_id;
const isPending = ({ created_at }: ModelGrant) => created_at === null;
const isRedeemed = (grant: ModelGrant): grant is RedeemedGrant => grant.created_at !== null;
const isActive = (grant: ModelGrant): grant is RedeemedGrant =>
  isRedeemed(grant) && grant.revoked_at === null;
/** Whether it has more than a {@link RevokedRecord}. */
const isWhole = ({ account_id }: ModelGrant) => account_id !== null;

/** Whether a record has the members of a filter. One that is undefined is any. */
const isLike = (filter: object) => (record: object) =>
  Object.entries(filter).every(
    ([name, value]) => value === undefined || record[name as keyof typeof record] === value,
  );

/** Beside the {@link RevokedRecord}. */
const reduced = {
  ...{ account_id: null, scope: null, account: null, choice: null, code_hash: null },
  ...{ generation: null, application_revocations: null },
  ...{ redirect_uri: null, redirect_uri_given: false, code_challenge: null, resource: null },
  ...{ link_id: null, code_expires_at: null, issued_by: null, redeemed_by: null },
  ...{ recoveries: 0, recovered_at: null, recovered_by: null },
  ...{ first_used_at: null, first_used_by: null, last_used_at: null },
  ...{ revoked_by: null, revoked_reason: null },
};

function pick<Item, Name extends keyof Item>(record: Item, ...names: Name[]): Pick<Item, Name> {
  return Object.fromEntries(names.map((name) => [name, record[name]])) as Pick<Item, Name>;
}

const bindingOf = (code: CodeBinding): CodeBinding =>
  pick(code, 'redirect_uri', 'redirect_uri_given', 'code_challenge', 'resource', 'link_id');

const pendingOf = (code: ModelGrant) =>
  ({
    ...pick(code, 'grant_id', 'application_id', 'scope', 'generation', 'account', 'choice'),
    application_revocations: code.application_revocations,
    ...{ code_hash: code.code_hash, code_expires_at: code.code_expires_at, ...bindingOf(code) },
  }) as PendingRecord;

const connectedOf = (grant: ModelGrant): ConnectedGrant => ({
  ...pick(grant, 'grant_id', 'application_id', 'resource', 'choice', 'last_used_at', 'revoked_at'),
  ...{ scope: grant.scope ?? '', created_at: grant.created_at as number },
});

const recordOf = (grant: ModelGrant): GrantRecord => ({
  ...{ ...connectedOf(grant), account: grant.account as AccountRecord },
});

const revokedOf = (grant: ModelGrant) =>
  pick(grant, 'grant_id', 'application_id', 'created_at', 'revoked_at') as RevokedRecord;

const historyOf = (grant: ModelGrant): GrantHistory => ({
  ...pick(grant, 'grant_id', 'application_id', 'account_id', 'issued_by'),
  ...pick(grant, 'created_at', 'redeemed_by', 'recoveries', 'recovered_at', 'recovered_by'),
  ...pick(grant, 'first_used_at', 'first_used_by', 'revoked_at', 'revoked_by', 'revoked_reason'),
});

const endpointOf = ({ hidden: _, ...endpoint }: StoredEndpoint): EndpointRecord => endpoint;

function drop(delivery: DeliveryRecord, now: number): void {
  Object.assign(delivery, { status: 'dropped', claim: null, due_at: null, ended_at: now });
}

function beginAnew(delivery: DeliveryRecord, now: number): DeliveryRecord {
  const anew = { status: 'pending', due_at: now, claim: null, tries: 0, ended_at: null };
  return Object.assign(delivery, anew) as DeliveryRecord;
}
