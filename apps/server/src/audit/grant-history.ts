import { type ErrorCode, formatTimestamp, type OperationName, uuidV7Time } from '@latchkey/schema';
import type { Milliseconds } from '../clock.ts';
import { DomainError } from '../domain-error.ts';
import type { Actor, Origin } from '../origin.ts';
import type { Reason } from '../reasons.ts';
import type { GrantHistory, RefusalRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';

/** What happened to a grant, or was refused about it. */
export interface HistoryEntry {
  at: string;
  /** What was done to it; of what was refused, the operation. */
  what: 'issued' | 'exchanged' | 'recovered' | 'first_used' | 'revoked' | OperationName;
  result: 'done' | ErrorCode;
  reason: Reason | null;
  /** Null where nobody was authenticated, or the grant is from before this was kept. */
  by: Actor | null;
  /** Of what was refused: who asked, or claimed to. */
  application_id: string | null;
  secret_id: string | null;
  request_id: string | null;
  address: string | null;
}

/** All that is known of a grant, oldest first. */
export interface GrantReport {
  object: 'grant_history';
  grant_id: string;
  /** Null where there is no record of the grant, or none any more. */
  application_id: string | null;
  account_id: string | null;
  /** How often the grant was recovered; the history has the last time. */
  recoveries: number;
  data: HistoryEntry[];
}

// The newest are shown. A grant that somebody keeps trying has more, and the log has all.
const MOST_REFUSALS = 200;

/**
 * @throws DomainError `grant_not_found` where nothing is known under this id
 */
export async function reportGrant(store: Store, grant_id: string): Promise<GrantReport> {
  const [history, refusals] = await Promise.all([
    store.findGrantHistory(grant_id),
    store.findRefusals({ grant_id }, MOST_REFUSALS),
  ]);
  if (history === null && refusals.length === 0) throw DomainError.because('grant_unknown');
  const events = [
    ...(history === null ? [] : changesOf(history)),
    ...refusals.toReversed().map(refusalEvent),
  ];
  return {
    object: 'grant_history',
    grant_id,
    application_id: history?.application_id ?? null,
    account_id: history?.account_id ?? null,
    recoveries: history?.recoveries ?? 0,
    // The sort is stable: what is of the same millisecond stays in the order of a grant's life.
    data: events
      .toSorted((one, other) => one.at - other.at)
      .map(({ at, ...entry }) => ({ at: formatTimestamp(at), ...entry })),
  };
}

type Event = Omit<HistoryEntry, 'at'> & { at: Milliseconds };

function changesOf(history: GrantHistory): Event[] {
  const changes = [
    ['issued', uuidV7Time(history.grant_id), history.issued_by],
    ['exchanged', history.created_at, history.exchanged_by],
    ['recovered', history.recovered_at, history.recovered_by],
    ['first_used', history.first_used_at, history.first_used_by],
    ['revoked', history.revoked_at, history.revoked_by],
  ] as const;
  return changes.flatMap(([what, at, origin]) => (at === null ? [] : [change(what, at, origin)]));
}

function change(what: HistoryEntry['what'], at: Milliseconds, origin: Origin | null): Event {
  return {
    at,
    what,
    result: 'done',
    reason: null,
    by: origin?.by ?? null,
    application_id: null,
    secret_id: origin?.secret_id ?? null,
    request_id: origin?.request_id ?? null,
    address: null,
  };
}

function refusalEvent(refusal: RefusalRecord): Event {
  return {
    at: refusal.at,
    what: refusal.operation,
    result: refusal.error_code,
    reason: refusal.reason,
    by: refusal.by,
    application_id: refusal.application_id,
    secret_id: null,
    request_id: refusal.request_id,
    address: refusal.address,
  };
}
