import type { Initiator } from '@latchkey/domain/initiator';
import { generationsAfter } from '@latchkey/store/generations';
import {
  type AccountRecord,
  type ApplicationAuthentication,
  type ApplicationChanges,
  type ApplicationRecord,
  type CodeBinding,
  type CodeState,
  type ConnectedGrant,
  type CredentialHash,
  type CurrentAccount,
  ERASED,
  type GrantAuthentication,
  type GrantHistory,
  type GrantRecord,
  type LinkRecord,
  type PageRecord,
  type PendingRecord,
  type RevokedRecord,
  type StoredReason,
} from '@latchkey/store/records';
import {
  type DocumentedApplication,
  documentedChanges,
  outdatedSecrets,
  type Store,
} from '@latchkey/store/store';

/** A code or a grant: one record from issue to revocation. */
interface ModelGrant extends PendingRecord {
  redeemed_at: number | null;
  secret_hash: CredentialHash | null;
  first_used_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
  recoveries: number;
  recovered_at: number | null;
  issued_by: Initiator | null;
  redeemed_by: Initiator | null;
  recovered_by: Initiator | null;
  first_used_by: Initiator | null;
  revoked_by: Initiator | null;
  revoked_reason: StoredReason | null;
}

interface ModelPage extends PageRecord {
  /** How often the pages of its account were ended before. */
  sign_outs: number;
}

/**
 * The methods of the model. Not those for scopes, resources, keys, events, refusals, counts and monitoring, which grants do not
 * depend on, not those that depend on the clock of the adapter, do their work part by part or promise
 * no order, and not the sums of others.
 */
type Methods = Omit<
  Store,
  | 'countPendingCodes'
  | 'measure'
  | 'newestGrantTime'
  | 'listGrantHistories'
  | 'keepRefusals'
  | 'findRefusals'
  | 'findFirstRefusal'
  | 'keepCommandChanges'
  | 'listCommandChanges'
  | 'forgetCommandChanges'
  | 'takeLogNumbers'
  | 'addCounts'
  | 'listCounts'
  | 'findLiveCount'
  | 'claimLiveCount'
  | 'countActiveGrants'
  | 'keepLiveCount'
  | 'addToCount'
  | 'listAccounts'
  | 'putScope'
  | 'listScopes'
  | 'listScopeNames'
  | 'findDescriptionIds'
  | 'deleteScope'
  | 'createResource'
  | 'listResources'
  | 'updateResource'
  | 'deleteResource'
  | 'createKey'
  | 'findKey'
  | 'listKeys'
  | 'deleteKey'
  | 'noteKeyUse'
  | 'createEndpoint'
  | 'listEndpoints'
  | 'findEndpoint'
  | 'updateEndpoint'
  | 'rotateEndpoint'
  | 'deleteEndpoint'
  | 'admitEventsKeys'
  | 'findEventsKeys'
  | 'makeDeliveries'
  | 'createPing'
  | 'listDueEndpoints'
  | 'claimDeliveries'
  | 'endTries'
  | 'releaseDeliveries'
  | 'findDelivery'
  | 'listDeliveries'
  | 'retryDelivery'
  | 'replayDeliveries'
  | 'countEvents'
  | 'listDeletions'
  | 'endGrants'
  | 'listConnections'
  | 'revokeActive'
  | 'listPendingCodes'
  | 'forgetDeletion'
  | 'removeTrial'
  | 'connectionPool'
  | 'clockDifference'
  | 'ping'
  | 'close'
>;
type Result<Name extends keyof Methods> = Awaited<ReturnType<Store[Name]>>;

/** The port of the store, with synchronous methods. */
export type ModelMethods = {
  [Name in keyof Methods]: (...args: Parameters<Store[Name]>) => Result<Name>;
};

/**
 * A model of the port in maps and loops, simple enough to compare with the port's documentation.
 * Tests compare the adapters with it. It does not check its arguments.
 */
export class ModelStore implements ModelMethods {
  readonly #applications = new Map<string, ApplicationRecord>();
  readonly #accounts = new Map<string, CurrentAccount>();
  readonly #links = new Map<string, LinkRecord>();
  readonly #pages = new Map<string, ModelPage>();
  readonly #signOuts = new Map<string, number>();
  readonly #grants = new Map<string, ModelGrant>();

  /** A copy of the model with its state. */
  copy(): ModelStore {
    const copy = new ModelStore();
    for (const [id, record] of this.#applications) copy.#applications.set(id, clone(record));
    for (const [id, record] of this.#accounts) copy.#accounts.set(id, clone(record));
    for (const [id, record] of this.#links) copy.#links.set(id, clone(record));
    for (const [id, record] of this.#pages) copy.#pages.set(id, clone(record));
    for (const [id, count] of this.#signOuts) copy.#signOuts.set(id, count);
    for (const [id, record] of this.#grants) copy.#grants.set(id, clone(record));
    return copy;
  }

  /** The whole state, to compare two models. */
  contents(): unknown {
    const { size } = this.#signOuts;
    const maps = [this.#applications, this.#accounts, this.#links, this.#pages, this.#grants];
    return [...maps, ...(size > 0 ? [this.#signOuts] : [])].map((map) => [...map.entries()].sort());
  }

  createApplication(application: ApplicationRecord): void {
    this.#applications.set(application.id, clone(application));
  }

  findApplication(application_id: string): ApplicationRecord | null {
    return clone(this.#applications.get(application_id) ?? null);
  }

  findDocumented(uri: string): ApplicationRecord | null {
    const all = [...this.#applications.values()];
    return clone(all.find(({ document }) => document?.uri === uri) ?? null);
  }

  putDocumented(application: DocumentedApplication): ApplicationRecord {
    const found = this.findDocumented(application.document.uri);
    const record = found ? { ...found, ...documentedChanges(found, application) } : application;
    this.#applications.set(record.id, clone(record));
    return clone(record);
  }

  authenticateApplication(application_id: string): ApplicationAuthentication | null {
    const application = this.findApplication(application_id);
    if (application === null) return null;
    const { logo_uri: _, ...others } = application;
    return others;
  }

  listApplications(
    ...[range, { documented } = {}]: Parameters<Store['listApplications']>
  ): ApplicationRecord[] {
    const listed = [...this.#applications.values()].filter(
      ({ document }) => documented === undefined || documented === (document !== null),
    );
    return rangeOf(listed, ({ id }) => id, range);
  }

  addSecret(...[application_id, secret, { most, now }]: Parameters<Store['addSecret']>) {
    const application = this.#applications.get(application_id);
    if (!application) return 'application_not_found';
    const live = application.secrets.filter(
      ({ expires_at }) => expires_at === null || expires_at > now,
    );
    if (live.length >= most) return 'secret_limit_reached';
    const outdated = outdatedSecrets(application.secrets, now);
    application.secrets = application.secrets.filter(({ id }) => !outdated.includes(id));
    application.secrets.push(clone(secret));
    return 'added';
  }

  removeSecret(application_id: string, secret_id: string): Result<'removeSecret'> {
    const application = this.#applications.get(application_id);
    if (!application) return 'application_not_found';
    const kept = application.secrets.filter(({ id }) => id !== secret_id);
    if (kept.length === application.secrets.length) return 'secret_not_found';
    application.secrets = kept;
    return clone(application);
  }

  updateApplication(application_id: string, changes: ApplicationChanges): ApplicationRecord | null {
    const application = this.#applications.get(application_id);
    if (!application) return null;
    const generations = generationsAfter(application, changes);
    Object.assign(application, clone({ ...changes, generations }));
    return clone(application);
  }

  setApplicationDisabled(
    application_id: string,
    disabled: boolean,
    now: number,
  ): ApplicationRecord | null {
    const application = this.#applications.get(application_id);
    if (!application) return null;
    if (application.disabled && !disabled) application.enabled_at = now;
    application.generations = generationsAfter(application, { disabled });
    application.disabled = disabled;
    return clone(application);
  }

  deleteApplication({ application_id }: Parameters<Store['deleteApplication']>[0]) {
    const application = this.#applications.get(application_id);
    if (!application) return 'application_not_found';
    if (!application.disabled) return 'application_enabled';
    this.#applications.delete(application_id);
    return clone(application);
  }

  noteSecretUse(application_id: string, secret_id: string, at: number): void {
    const { secrets = [] } = this.#applications.get(application_id) ?? {};
    for (const secret of secrets) {
      if (secret.id !== secret_id) continue;
      if (secret.last_used_at === null || secret.last_used_at < at) secret.last_used_at = at;
    }
  }

  putAccount(account: CurrentAccount): void {
    this.#accounts.set(account.id, clone(account));
  }

  findAccount(account_id: string): CurrentAccount | null {
    return clone(this.#accounts.get(account_id) ?? null);
  }

  eraseAccount({ account_id, now, initiator }: Parameters<Store['eraseAccount']>[0]): number {
    let revoked = 0;
    this.#accounts.delete(account_id);
    this.#signOuts.delete(account_id);
    const ofAccount = [...this.#pages.values()].filter((page) => page.account_id === account_id);
    const codes = [...this.#grants.values()].filter(
      ({ account, redeemed_at }) => account.id === account_id && redeemed_at === null,
    );
    for (const { link_id } of [...ofAccount, ...codes]) this.#links.delete(link_id ?? '');
    for (const link of this.#links.values()) {
      if (link.account_id === account_id) this.#links.delete(link.id);
    }
    for (const { id } of ofAccount) this.#pages.delete(id);
    for (const grant of this.#grants.values()) {
      if (grant.account.id !== account_id) continue;
      Object.assign(grant.account, ERASED);
      if (grant.redeemed_at === null) {
        this.#grants.delete(grant.grant_id);
      } else if (grant.revoked_at === null) {
        Object.assign(grant, {
          revoked_at: now,
          secret_hash: null,
          revoked_by: initiator,
          revoked_reason: 'account_erased',
        });
        revoked += 1;
      }
    }
    return revoked;
  }

  createLink({ initiator: _, ...link }: Parameters<Store['createLink']>[0]): void {
    this.#links.set(link.id, clone(link));
  }

  findLink(link_id: string): LinkRecord | null {
    return clone(this.#links.get(link_id) ?? null);
  }

  identifyLink(identification: Parameters<Store['identifyLink']>[0]) {
    const { link_id, link_hash, page, own_page, now } = identification;
    const link = this.#undecided(link_id, now);
    if (!link || !sameBytes(link.link_hash, link_hash)) return null;
    if (!this.#accounts.has(page.account_id)) return null;
    if (!own_page) this.#keepPage(page);
    Object.assign(link, { account_id: page.account_id, page_id: page.id, switched: false });
    return clone(link);
  }

  switchLink({ link_id, page_id, link_hash, now }: Parameters<Store['switchLink']>[0]) {
    const link = this.#undecided(link_id, now);
    if (!link || link.page_id !== page_id) return null;
    Object.assign(link, { link_hash, switched: true });
    return clone(link);
  }

  decideLink({
    link_id,
    holder,
    account_id,
    decision,
    now,
  }: Parameters<Store['decideLink']>[0]): LinkRecord | null {
    const link = this.#undecided(link_id, now);
    if (!link) return null;
    const isHeld =
      'link_hash' in holder
        ? sameBytes(link.link_hash, holder.link_hash) && !isOfAnother(link, account_id)
        : link.page_id === holder.page_id;
    if (!isHeld) return null;
    Object.assign(link, { account_id: account_id ?? link.account_id, decision: clone(decision) });
    return clone(link);
  }

  createPage({ initiator: _, ...page }: Parameters<Store['createPage']>[0]): PageRecord | null {
    if (!this.#accounts.has(page.account_id)) return null;
    this.#keepPage(page);
    return clone(page);
  }

  findPage(page_id: string): PageRecord | null {
    const found = this.#pages.get(page_id);
    return found ? pageOf(found) : null;
  }

  findPageAccount(page_id: string): AccountRecord | 'signed_out' | null {
    const page = this.#pages.get(page_id);
    const account = page && this.#accounts.get(page.account_id);
    if (!account) return null;
    return page.sign_outs < this.#signOutsOf(account.id) ? 'signed_out' : clone(account);
  }

  endPages(account_id: string): void {
    if (!this.#accounts.has(account_id)) return;
    this.#signOuts.set(account_id, this.#signOutsOf(account_id) + 1);
  }

  openPage(opening: Parameters<Store['openPage']>[0]): PageRecord | null {
    const { page_id, ticket_hash, session_hash, expires_at, now } = opening;
    const page = this.#pages.get(page_id);
    if (!page || page.session_hash || !sameBytes(page.ticket_hash, ticket_hash)) return null;
    if (now >= page.ticket_expires_at) return null;
    Object.assign(page, { session_hash, expires_at });
    return pageOf(page);
  }

  issueCode({ initiator, ...code }: Parameters<Store['issueCode']>[0]): PendingRecord | null {
    const { grant_id, application_id, scope, generation, code_hash, code_expires_at } = code;
    const current = this.#accounts.get(code.account_id);
    if (!current) return null;
    const { external_id: _, ...account } = current;
    const issued = {
      ...{ grant_id, application_id, scope, generation, account, code_hash, code_expires_at },
      ...bindingOf(code),
    };
    this.#grants.set(grant_id, {
      ...clone(issued),
      redeemed_at: null,
      secret_hash: null,
      first_used_at: null,
      last_used_at: null,
      revoked_at: null,
      recoveries: 0,
      recovered_at: null,
      issued_by: initiator,
      redeemed_by: null,
      recovered_by: null,
      first_used_by: null,
      revoked_by: null,
      revoked_reason: null,
    });
    return clone(issued);
  }

  listCodes(account_id: string): PendingRecord[] {
    return [...this.#grants.values()]
      .filter(({ redeemed_at, account }) => redeemed_at === null && account.id === account_id)
      .sort((a, b) => (a.grant_id < b.grant_id ? 1 : -1))
      .map(pendingOf);
  }

  cancelCode(grant_id: string): PendingRecord | null {
    const code = this.#grants.get(grant_id);
    if (!code || code.redeemed_at !== null) return null;
    this.#grants.delete(grant_id);
    return pendingOf(code);
  }

  redeemCode(redemption: Parameters<Store['redeemCode']>[0]): GrantRecord | null {
    const code = this.#grants.get(redemption.grant_id);
    if (!code || code.redeemed_at !== null) return null;
    if (code.application_id !== redemption.application_id) return null;
    if (!sameBytes(code.code_hash, redemption.code_hash)) return null;
    if (redemption.now >= code.code_expires_at) return null;
    if (code.generation < redemption.disabled_generation) return null;
    if (redemption.code_challenge !== code.code_challenge) return null;
    const { redirect_uri } = redemption;
    const mayBeLeftOut = code.code_challenge !== null || !code.redirect_uri_given;
    const isBrought = redirect_uri === null ? mayBeLeftOut : redirect_uri === code.redirect_uri;
    if (code.redirect_uri !== null && !isBrought) return null;
    if (redemption.resources?.includes(code.resource) === false) return null;
    code.redeemed_at = redemption.now;
    code.secret_hash = redemption.secret_hash;
    code.redeemed_by = redemption.initiator;
    return recordOf(code);
  }

  findCode(grant_id: string): CodeState | null {
    const code = this.#grants.get(grant_id);
    if (!code) return null;
    const { application_id, account, generation, code_hash, redeemed_at } = code;
    const state = { application_id, account_id: account.id, generation, code_hash };
    return clone({ ...state, redeemed: redeemed_at !== null, ...bindingOf(code) });
  }

  revokeGrant(revocation: Parameters<Store['revokeGrant']>[0]): RevokedRecord | null {
    const grant = this.#redeemed(revocation.grant_id);
    if (!grant) return null;
    const { application_id } = revocation;
    if (application_id !== null && grant.application_id !== application_id) return null;
    if (revocation.onlyActive && grant.revoked_at !== null) return null;
    const { unused_before = Infinity } = revocation;
    if (Math.max(grant.redeemed_at as number, grant.last_used_at ?? 0) >= unused_before)
      return null;
    if (grant.revoked_at === null) {
      grant.revoked_at = revocation.now;
      grant.secret_hash = null;
      grant.revoked_by = revocation.initiator;
      grant.revoked_reason = revocation.reason ?? null;
    }
    const { grant_id, redeemed_at, revoked_at } = grant;
    return {
      grant_id,
      application_id: grant.application_id,
      created_at: redeemed_at as number,
      revoked_at: revoked_at as number,
    };
  }

  recoverGrant(recovery: Parameters<Store['recoverGrant']>[0]): GrantRecord | null {
    const grant = this.#redeemed(recovery.grant_id);
    if (!grant || grant.application_id !== recovery.application_id) return null;
    if (grant.revoked_at !== null || grant.first_used_at !== null) return null;
    if ((grant.redeemed_at as number) <= recovery.redeemed_after) return null;
    grant.secret_hash = recovery.secret_hash;
    grant.recoveries += 1;
    grant.recovered_at = recovery.now;
    grant.recovered_by = recovery.initiator;
    return recordOf(grant);
  }

  findGrantHistory(grant_id: string): GrantHistory | null {
    const grant = this.#grants.get(grant_id);
    if (!grant) return null;
    const { application_id, account, redeemed_at, recoveries, recovered_at } = grant;
    const { first_used_at, revoked_at, issued_by, redeemed_by } = grant;
    const { recovered_by, first_used_by, revoked_by, revoked_reason } = grant;
    return clone({
      ...{ grant_id, application_id, account_id: account.id, issued_by },
      ...{ created_at: redeemed_at, redeemed_by, recoveries, recovered_at, recovered_by },
      ...{ first_used_at, first_used_by, revoked_at, revoked_by, revoked_reason },
    });
  }

  authenticateGrant(
    ...[grant_id, options]: Parameters<Store['authenticateGrant']>
  ): GrantAuthentication | null {
    const grant = this.#redeemed(grant_id);
    if (!grant) return null;
    const { account, ...record } = recordOf(grant);
    const application = this.#applications.get(grant.application_id);
    return {
      grant: record,
      secret_hash: grant.secret_hash,
      first_used_at: grant.first_used_at,
      application_disabled: application?.disabled ?? null,
      application_public: application?.public ?? null,
      document_uri: application?.document?.uri ?? null,
      idle_days: application?.idle_days ?? null,
      enabled_at: application?.enabled_at ?? null,
      account: options.currentAccount ? this.findAccount(account.id) : account,
      external_id: this.findAccount(account.id)?.external_id ?? null,
    };
  }

  noteUse(use: Parameters<Store['noteUse']>[0]): boolean {
    const grant = this.#redeemed(use.grant_id);
    if (!grant?.secret_hash || !sameBytes(grant.secret_hash, use.secret_hash)) return false;
    if (grant.first_used_at === null) {
      grant.first_used_at = use.now;
      grant.first_used_by = use.initiator;
    }
    grant.last_used_at = Math.max(grant.last_used_at ?? use.now, use.now);
    return true;
  }

  listGrants(...[filter, range]: Parameters<Store['listGrants']>): GrantRecord[] {
    const grants = [...this.#grants.values()].filter(({ redeemed_at, account, application_id }) => {
      if (redeemed_at === null) return false;
      return 'account_id' in filter
        ? account.id === filter.account_id
        : application_id === filter.application_id;
    });
    return rangeOf(grants, ({ grant_id }) => grant_id, range).map(recordOf);
  }

  listActiveGrants(
    ...[{ account_id, application_id }, range]: Parameters<Store['listActiveGrants']>
  ): ConnectedGrant[] {
    const grants = [...this.#grants.values()].filter(
      (grant) =>
        grant.redeemed_at !== null &&
        grant.revoked_at === null &&
        (account_id === undefined || grant.account.id === account_id) &&
        grant.application_id === application_id,
    );
    return rangeOf(grants, ({ grant_id }) => grant_id, range).map((grant) => {
      const { account: _, ...connected } = recordOf(grant);
      return connected;
    });
  }

  #keepPage(page: PageRecord): void {
    this.#pages.set(page.id, clone({ ...page, sign_outs: this.#signOutsOf(page.account_id) }));
  }

  #signOutsOf(account_id: string): number {
    return this.#signOuts.get(account_id) ?? 0;
  }

  #undecided(link_id: string, now: number): LinkRecord | null {
    const link = this.#links.get(link_id);
    return link && !link.decision && now < link.expires_at ? link : null;
  }

  #redeemed(grant_id: string): ModelGrant | null {
    const grant = this.#grants.get(grant_id);
    return grant && grant.redeemed_at !== null ? grant : null;
  }
}

/** Approves for another account than the identified one. */
function isOfAnother(link: LinkRecord, account_id: string | null): boolean {
  if (account_id === null || link.account_id === null || link.switched) return false;
  return link.account_id !== account_id;
}

function pageOf({ sign_outs: _, ...page }: ModelPage): PageRecord {
  return clone(page);
}

/** The record of a pending code. */
function pendingOf(code: ModelGrant): PendingRecord {
  const { grant_id, application_id, scope, generation, account, code_hash, code_expires_at } = code;
  return clone({
    ...{ grant_id, application_id, scope, generation, account, code_hash, code_expires_at },
    ...bindingOf(code),
  });
}

function bindingOf(bound: CodeBinding): CodeBinding {
  const { redirect_uri, redirect_uri_given, code_challenge, resource, link_id } = bound;
  return { redirect_uri, redirect_uri_given, code_challenge, resource, link_id };
}

/** The record of a grant. */
function recordOf(grant: ModelGrant): GrantRecord {
  const { grant_id, application_id, resource, scope, account, redeemed_at, last_used_at } = grant;
  const [created_at, { revoked_at }] = [redeemed_at as number, grant];
  return clone({
    ...{ grant_id, application_id, resource, scope, account, created_at, last_used_at, revoked_at },
  });
}

/** Part of a list: newest first, older than `before`, at most `limit`. */
function rangeOf<Item>(
  items: Item[],
  id: (item: Item) => string,
  { limit, before }: { limit: number; before: string | null },
): Item[] {
  const sorted = items.sort((a, b) => (id(a) < id(b) ? 1 : -1));
  const older = sorted.filter((item) => before === null || id(item) < before);
  return clone(older.slice(0, limit));
}

const clone = structuredClone;

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.join() === other.join();
}
