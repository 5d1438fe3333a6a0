import { type OperationName, uuidV7Time } from '@latchkey/schema';
import type { Milliseconds } from '../clock.ts';
import { DomainError } from '../domain-error.ts';
import type { Actor, Initiator } from '../initiator.ts';
import type { Service } from '../service.ts';
import { isOver } from '../store/generations.ts';
import type {
  CodeState,
  CurrentAccount,
  GrantHistory,
  GrantRecord,
  PendingRecord,
  RefusalRecord,
} from '../store/records.ts';
import type { Store } from '../store/store.ts';

export interface ExportedChange {
  at: Milliseconds;
  operation: string;
  grant_id: string;
  application_id: string;
  /** Null once REVOKED_GRANT_DAYS have passed. */
  initiator: Initiator | null;
}

export interface AccountExport {
  account: CurrentAccount;
  grants: GrantRecord[];
  codes: PendingRecord[];
  history: ExportedChange[];
  refusals: RefusalRecord[];
}

const PAGE = 100;

/** An account with many grants takes longer than a request may: see {@link Service.exportTurns}. */
export const exportAccount = (service: Service, account_id: string): Promise<AccountExport> =>
  service.exportTurns.take(account_id, () => collect(service, account_id));

async function collect({ store, audit }: Service, account_id: string): Promise<AccountExport> {
  const account = await store.findAccount(account_id);
  if (account === null) throw new DomainError('account_not_found');

  // Refusals are written in the background.
  await audit.flush();
  // Codes first: a code that is redeemed in between is then in both lists rather than in neither.
  const pending = await store.listCodes(account_id);
  const grants = await allGrants(store, account_id);
  const redeemed = new Set(grants.map(({ grant_id }) => grant_id));
  const applications = new Map(
    await Promise.all(
      [...new Set(pending.map(({ application_id }) => application_id))].map(
        async (id) => [id, await store.findApplication(id)] as const,
      ),
    ),
  );
  const codes = pending.filter((code) => {
    const application = applications.get(code.application_id) ?? null;
    const isDead = application !== null && isOver(code, application);
    return !isDead && !redeemed.has(code.grant_id);
  });

  const history: ExportedChange[] = [];
  const refusals: RefusalRecord[] = [];
  for (const { grant_id } of [...grants, ...codes]) {
    const [found, code, refused] = await Promise.all([
      store.findGrantHistory(grant_id),
      store.findCode(grant_id),
      store.findRefusals({ grant_id }, Number.MAX_SAFE_INTEGER),
    ]);
    if (found !== null) history.push(...changesOf(found, code));
    refusals.push(...refused);
  }
  const byTime = (one: { at: Milliseconds }, other: { at: Milliseconds }) => one.at - other.at;
  return {
    account,
    grants,
    codes,
    history: history.sort(byTime),
    refusals: refusals.sort(byTime),
  };
}

async function allGrants(store: Store, account_id: string): Promise<GrantRecord[]> {
  const grants: GrantRecord[] = [];
  let page: GrantRecord[];
  do {
    const before = grants.at(-1)?.grant_id ?? null;
    page = await store.listGrants({ account_id }, { limit: PAGE, before });
    grants.push(...page);
  } while (page.length === PAGE);
  return grants;
}

function changesOf(history: GrantHistory, code: CodeState | null): ExportedChange[] {
  const { grant_id, application_id, revoked_by } = history;
  const issue = code?.link_id == null ? 'admin.codes.issue' : 'admin.links.approve';
  const changes = [
    [issue, uuidV7Time(grant_id), history.issued_by],
    ['grants.convert', history.created_at, history.redeemed_by],
    ['grants.recover', history.recovered_at, history.recovered_by],
    ['first_use', history.first_used_at, history.first_used_by],
    [history.revoked_reason ?? revocationBy(revoked_by?.by), history.revoked_at, revoked_by],
  ] as const;
  return changes.flatMap(([operation, at, initiator]) =>
    at === null ? [] : [{ at, operation, grant_id, application_id, initiator }],
  );
}

function revocationBy(actor: Actor | undefined): OperationName {
  if (actor === 'application') return 'grants.revoke';
  return actor === 'user' ? 'admin.connections.revoke' : 'admin.grants.revoke';
}
