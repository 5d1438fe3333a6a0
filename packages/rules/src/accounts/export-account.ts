import type { Milliseconds } from '@latchkey/domain/clock';
import { DomainError } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import { type OperationName, uuidV7Time } from '@latchkey/schema';
import { endReason } from '@latchkey/store/end-reason';
import { isOver } from '@latchkey/store/generations';
import type {
  CurrentAccount,
  EndReason,
  GrantRecord,
  ListedHistory,
  PendingRecord,
  RefusalRecord,
} from '@latchkey/store/records';
import type { ListRange, RefusalFilter, Store } from '@latchkey/store/store';
import type { Dependencies } from '../dependencies.ts';

interface ExportedChange {
  at: Milliseconds;
  operation: string;
  grant_id: string;
  application_id: string;
  /** Null once REVOKED_GRANT_DAYS have passed. */
  initiator: Initiator | null;
}

/** The account comes first, then the lists in this order. Each has a page, if only an empty one. */
export type ExportPart =
  | { list: null; account: CurrentAccount }
  | { list: 'grants'; entries: GrantRecord[] }
  | { list: 'codes'; entries: PendingRecord[] }
  | { list: 'history'; entries: ExportedChange[] }
  | { list: 'refusals'; entries: RefusalRecord[] };

export type ExportingService = Pick<Dependencies, 'exportTurns'> & {
  store: Pick<
    Store,
    | 'findAccount'
    | 'listCodes'
    | 'findApplication'
    | 'listGrants'
    | 'listGrantHistories'
    | 'findGrantHistory'
    | 'findRefusals'
  >;
  audit: Pick<Dependencies['audit'], 'flush'>;
};

/** An account with many grants takes longer than a request may: see {@link Dependencies.exportTurns}. */
export const exportAccount = (
  service: ExportingService,
  account_id: string,
): AsyncGenerator<ExportPart, void> =>
  service.exportTurns.take(account_id, () => readAccount(service, account_id));

const PAGE = 100;

// An entry takes about half a kilobyte.
const HELD = 5_000;

/** Holds a page, the pending codes and, of a list that it has to sort, up to twice {@link HELD}. */
async function* readAccount(
  { store, audit }: ExportingService,
  account_id: string,
): AsyncGenerator<ExportPart, void> {
  const account = await store.findAccount(account_id);
  if (account === null) throw new DomainError('account_not_found');
  yield { list: null, account };

  // Refusals are written in the background.
  await audit.flush();
  // Codes first: a code that is redeemed in between is then in both lists rather than in neither.
  const codes = await livingCodes(store, account_id);
  const listGrants = (range: ListRange) => store.listGrants({ account_id }, range);
  for await (const entries of pagesOf(listGrants, ({ grant_id }) => grant_id)) {
    for (const { grant_id } of entries) codes.delete(grant_id);
    yield { list: 'grants', entries };
  }
  yield { list: 'codes', entries: [...codes.values()] };

  const listHistories = (range: ListRange) => store.listGrantHistories(account_id, range);
  async function* histories(): AsyncGenerator<ListedHistory[], void> {
    for await (const page of pagesOf(listHistories, ({ grant_id }) => grant_id)) {
      yield page.filter(({ grant_id }) => !codes.has(grant_id));
    }
    for (const { grant_id, link_id } of codes.values()) {
      const history = await store.findGrantHistory(grant_id);
      if (history !== null) yield [{ ...history, link_id }];
    }
  }

  async function* changes(): AsyncGenerator<PlacedChange[], void> {
    for await (const page of histories()) yield page.flatMap(changesOf);
  }
  for await (const entries of oldestFirst(changes, byPlace)) yield { list: 'history', entries };

  const refusalsOf = (filter: RefusalFilter) =>
    pagesOf(
      (range) => store.findRefusals(filter, range),
      ({ id }) => id,
    );
  async function* refusals(): AsyncGenerator<RefusalRecord[], void> {
    yield* refusalsOf({ account_id });
    for await (const page of histories()) {
      for (const { grant_id } of page) {
        for await (const found of refusalsOf({ grant_id })) {
          yield found.filter((refusal) => refusal.account_id !== account_id);
        }
      }
    }
  }
  for await (const entries of oldestFirst(refusals, byTime)) yield { list: 'refusals', entries };
}

async function livingCodes(
  store: ExportingService['store'],
  account_id: string,
): Promise<Map<string, PendingRecord>> {
  const pending = await store.listCodes(account_id);
  const applications = new Map(
    await Promise.all(
      [...new Set(pending.map(({ application_id }) => application_id))].map(
        async (id) => [id, await store.findApplication(id)] as const,
      ),
    ),
  );
  const living = pending.filter((code) => {
    const application = applications.get(code.application_id) ?? null;
    return application === null || !isOver(code, application);
  });
  return new Map(living.map((code) => [code.grant_id, code]));
}

async function* pagesOf<T>(
  list: (range: ListRange) => Promise<T[]>,
  idOf: (record: T) => string,
): AsyncGenerator<T[], void> {
  let page: T[];
  let before: string | null = null;
  do {
    page = await list({ limit: PAGE, before });
    yield page;
    const last = page.at(-1);
    before = last === undefined ? null : idOf(last);
  } while (page.length === PAGE);
}

/**
 * No index has them in this order. So it reads all of them again for each {@link HELD} that it yields,
 * and yields an empty page for each that it reads: a reader that is gone can return.
 *
 * @param compare - 0 for no two of them
 */
async function* oldestFirst<T>(
  readAll: () => AsyncIterable<T[]>,
  compare: (one: T, other: T) => number,
): AsyncGenerator<T[], void> {
  let newest: T | undefined;
  let isCut: boolean;
  do {
    let oldest: T[] = [];
    isCut = false;
    for await (const page of readAll()) {
      for (const entry of page) {
        if (newest === undefined || compare(entry, newest) > 0) oldest.push(entry);
      }
      if (oldest.length > 2 * HELD) {
        oldest = oldest.sort(compare).slice(0, HELD);
        isCut = true;
      }
      yield [];
    }
    oldest.sort(compare);
    if (isCut) oldest.length = HELD;
    for (let at = 0; at === 0 || at < oldest.length; at += PAGE) yield oldest.slice(at, at + PAGE);
    newest = oldest.at(-1);
  } while (isCut);
}

interface PlacedChange extends ExportedChange {
  /** Among those of the grant. */
  place: number;
}

const descending = (one: string, other: string) => (one === other ? 0 : one < other ? 1 : -1);

const byPlace = (one: PlacedChange, other: PlacedChange) =>
  one.at - other.at || descending(one.grant_id, other.grant_id) || one.place - other.place;

const byTime = (one: RefusalRecord, other: RefusalRecord) =>
  one.at - other.at || descending(other.id, one.id);

const operationsOfEnds: { readonly [Reason in EndReason]: OperationName | 'idle' | 'replaced' } = {
  application: 'grants.revoke',
  user: 'admin.connections.revoke',
  host: 'admin.grants.revoke',
  account_erased: 'admin.accounts.erase',
  application_deleted: 'admin.applications.delete',
  idle: 'idle',
  replaced: 'replaced',
};

const operationOfEnd = (history: ListedHistory): string =>
  operationsOfEnds[endReason(history) ?? 'host'];

function changesOf(history: ListedHistory): PlacedChange[] {
  const { grant_id, application_id, link_id, revoked_by } = history;
  const issue = link_id === null ? 'admin.codes.issue' : 'admin.links.approve';
  const changes = [
    [issue, uuidV7Time(grant_id), history.issued_by],
    ['grants.convert', history.created_at, history.redeemed_by],
    ['grants.recover', history.recovered_at, history.recovered_by],
    ['first_use', history.first_used_at, history.first_used_by],
    [operationOfEnd(history), history.revoked_at, revoked_by],
  ] as const;
  return changes.flatMap(([operation, at, initiator], place) =>
    at === null ? [] : [{ at, operation, grant_id, application_id, initiator, place }],
  );
}
