import type { Origin } from '../origin.ts';
import type {
  AccountRecord,
  ApplicationRecord,
  CodeState,
  CredentialHash,
  GrantAuthentication,
  GrantHistory,
  GrantRecord,
  PendingRecord,
} from './records.ts';
import type { Store } from './store.ts';

/** A code or a grant of the model: one record from issue to the end, as on paper. */
interface ModelGrant extends PendingRecord {
  exchanged_at: number | null;
  secret_hash: CredentialHash | null;
  first_used_at: number | null;
  revoked_at: number | null;
  recoveries: number;
  recovered_at: number | null;
  issued_by: Origin | null;
  exchanged_by: Origin | null;
  recovered_by: Origin | null;
  first_used_by: Origin | null;
  revoked_by: Origin | null;
}

/** All but what serves to explain refusals and to count, on which no promise about a grant rests. */
type Methods = Omit<
  Store,
  'keepRefusals' | 'findRefusals' | 'addToCount' | 'isLocal' | 'ping' | 'close'
>;
type Result<Name extends keyof Methods> = Awaited<ReturnType<Store[Name]>>;

/** The port of the store, without promises: in a model each call is over at once. */
export type ModelMethods = {
  [Name in keyof Methods]: (...args: Parameters<Store[Name]>) => Result<Name>;
};

/**
 * What the port says, in maps and loops, so plainly that it can be read against the port's words:
 * tests compare the adapters with it. It checks nothing that a caller promises.
 */
export class ModelStore implements ModelMethods {
  readonly #applications = new Map<string, ApplicationRecord>();
  readonly #accounts = new Map<string, AccountRecord>();
  readonly #grants = new Map<string, ModelGrant>();

  /** Another one in the same state. */
  copy(): ModelStore {
    const copy = new ModelStore();
    for (const [id, record] of this.#applications) copy.#applications.set(id, clone(record));
    for (const [id, record] of this.#accounts) copy.#accounts.set(id, clone(record));
    for (const [id, record] of this.#grants) copy.#grants.set(id, clone(record));
    return copy;
  }

  /** All that it holds, to tell two of them apart. */
  contents(): unknown {
    return [this.#applications, this.#accounts, this.#grants].map((map) =>
      [...map.entries()].sort(),
    );
  }

  createApplication(application: ApplicationRecord): void {
    this.#applications.set(application.id, clone(application));
  }

  findApplication(application_id: string): ApplicationRecord | null {
    return clone(this.#applications.get(application_id) ?? null);
  }

  listApplications(page: Parameters<Store['listApplications']>[0]): ApplicationRecord[] {
    return pageOf([...this.#applications.values()], ({ id }) => id, page);
  }

  addSecret(...[application_id, secret, { most, now }]: Parameters<Store['addSecret']>) {
    const application = this.#applications.get(application_id);
    if (!application) return 'application_not_found';
    const live = application.secrets.filter(
      ({ expires_at }) => expires_at === null || expires_at > now,
    );
    if (live.length >= most) return 'secret_limit_reached';
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

  setApplicationDisabled(application_id: string, disabled: boolean): ApplicationRecord | null {
    const application = this.#applications.get(application_id);
    if (!application) return null;
    application.disabled = disabled;
    return clone(application);
  }

  noteSecretUse(application_id: string, secret_id: string, at: number): void {
    const { secrets = [] } = this.#applications.get(application_id) ?? {};
    for (const secret of secrets) {
      if (secret.id !== secret_id) continue;
      if (secret.last_used_at === null || secret.last_used_at < at) secret.last_used_at = at;
    }
  }

  putAccount(account: AccountRecord): void {
    this.#accounts.set(account.id, clone(account));
  }

  findAccount(account_id: string): AccountRecord | null {
    return clone(this.#accounts.get(account_id) ?? null);
  }

  issueCode({ origin = null, ...code }: PendingRecord & { origin?: Origin | null }): void {
    this.#grants.set(code.grant_id, {
      ...clone(code),
      exchanged_at: null,
      secret_hash: null,
      first_used_at: null,
      revoked_at: null,
      recoveries: 0,
      recovered_at: null,
      issued_by: origin,
      exchanged_by: null,
      recovered_by: null,
      first_used_by: null,
      revoked_by: null,
    });
  }

  cancelCode(grant_id: string): PendingRecord | null {
    const code = this.#grants.get(grant_id);
    if (!code || code.exchanged_at !== null) return null;
    this.#grants.delete(grant_id);
    const { application_id, scope, account, code_hash, code_expires_at } = code;
    return clone({ grant_id, application_id, scope, account, code_hash, code_expires_at });
  }

  redeemCode(redemption: Parameters<Store['redeemCode']>[0]): GrantRecord | null {
    const code = this.#grants.get(redemption.grant_id);
    if (!code || code.exchanged_at !== null) return null;
    if (code.application_id !== redemption.application_id) return null;
    if (!sameBytes(code.code_hash, redemption.code_hash)) return null;
    if (redemption.now >= code.code_expires_at) return null;
    code.exchanged_at = redemption.now;
    code.secret_hash = redemption.secret_hash;
    code.exchanged_by = redemption.origin ?? null;
    return recordOf(code);
  }

  findCode(grant_id: string): CodeState | null {
    const code = this.#grants.get(grant_id);
    if (!code) return null;
    const { application_id, code_hash, exchanged_at } = code;
    return clone({ application_id, code_hash, exchanged: exchanged_at !== null });
  }

  revokeGrant(revocation: Parameters<Store['revokeGrant']>[0]): GrantRecord | null {
    const grant = this.#exchanged(revocation.grant_id);
    if (!grant) return null;
    const { application_id } = revocation;
    if (application_id !== null && grant.application_id !== application_id) return null;
    if (grant.revoked_at === null) {
      grant.revoked_at = revocation.now;
      grant.secret_hash = null;
      grant.revoked_by = revocation.origin ?? null;
    }
    return recordOf(grant);
  }

  recoverGrant(recovery: Parameters<Store['recoverGrant']>[0]): GrantRecord | null {
    const grant = this.#exchanged(recovery.grant_id);
    if (!grant || grant.application_id !== recovery.application_id) return null;
    if (grant.revoked_at !== null || grant.first_used_at !== null) return null;
    if ((grant.exchanged_at as number) <= recovery.exchanged_after) return null;
    grant.secret_hash = recovery.secret_hash;
    grant.recoveries += 1;
    grant.recovered_at = recovery.now;
    grant.recovered_by = recovery.origin ?? null;
    return recordOf(grant);
  }

  findGrant(grant_id: string): GrantRecord | null {
    const grant = this.#exchanged(grant_id);
    return grant && recordOf(grant);
  }

  findGrantHistory(grant_id: string): GrantHistory | null {
    const grant = this.#grants.get(grant_id);
    if (!grant) return null;
    const { application_id, account, exchanged_at, recoveries, recovered_at } = grant;
    const { first_used_at, revoked_at, issued_by, exchanged_by } = grant;
    const { recovered_by, first_used_by, revoked_by } = grant;
    return clone({
      ...{ grant_id, application_id, account_id: account.id, issued_by },
      ...{ created_at: exchanged_at, exchanged_by, recoveries, recovered_at, recovered_by },
      ...{ first_used_at, first_used_by, revoked_at, revoked_by },
    });
  }

  authenticateGrant(
    ...[grant_id, options]: Parameters<Store['authenticateGrant']>
  ): GrantAuthentication | null {
    const grant = this.#exchanged(grant_id);
    if (!grant) return null;
    const { account, ...record } = recordOf(grant);
    return {
      grant: record,
      secret_hash: grant.secret_hash,
      first_used_at: grant.first_used_at,
      application_disabled: this.#applications.get(grant.application_id)?.disabled ?? true,
      account: options.currentAccount ? this.findAccount(account.id) : account,
    };
  }

  noteFirstUse(use: Parameters<Store['noteFirstUse']>[0]): boolean {
    const grant = this.#exchanged(use.grant_id);
    if (!grant?.secret_hash || !sameBytes(grant.secret_hash, use.secret_hash)) return false;
    if (grant.first_used_at !== null) return true;
    grant.first_used_at = use.now;
    grant.first_used_by = use.origin ?? null;
    return true;
  }

  listGrants(...[filter, page]: Parameters<Store['listGrants']>): GrantRecord[] {
    const grants = [...this.#grants.values()].filter(
      ({ exchanged_at, account, application_id }) => {
        if (exchanged_at === null) return false;
        return 'account_id' in filter
          ? account.id === filter.account_id
          : application_id === filter.application_id;
      },
    );
    return pageOf(grants, ({ grant_id }) => grant_id, page).map(recordOf);
  }

  #exchanged(grant_id: string): ModelGrant | null {
    const grant = this.#grants.get(grant_id);
    return grant && grant.exchanged_at !== null ? grant : null;
  }
}

/** A grant as the port has it. */
function recordOf(grant: ModelGrant): GrantRecord {
  const { grant_id, application_id, scope, account, exchanged_at, revoked_at } = grant;
  const created_at = exchanged_at as number;
  return clone({ grant_id, application_id, scope, account, created_at, revoked_at });
}

/** Newest first, older than what was shown before, no more than asked for. */
function pageOf<Item>(
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
