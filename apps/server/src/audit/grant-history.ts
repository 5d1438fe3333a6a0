import { type ErrorCode, formatTimestamp, uuidV7Time } from '@latchkey/schema';
import type { Milliseconds } from '../clock.ts';
import { DomainError } from '../domain-error.ts';
import type { ActionName, Actor, Initiator } from '../initiator.ts';
import type { Reason } from '../reasons.ts';
import { endReason } from '../store/end-reason.ts';
import type { EndReason, GrantHistory, RefusalRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';

export interface HistoryEntry {
  at: string;
  what: 'issued' | 'redeemed' | 'recovered' | 'first_used' | 'revoked' | ActionName;
  result: 'done' | ErrorCode;
  /** Of a refusal or of the end. */
  reason: Reason | EndReason | null;
  /** Null if the caller was not authenticated, or REVOKED_GRANT_DAYS have passed. */
  by: Actor | null;
  application_id: string | null;
  secret_id: string | null;
  key_id: string | null;
  request_id: string | null;
  address: string | null;
  os_user: string | null;
}

export interface GrantReport {
  object: 'grant_history';
  grant_id: string;
  application_id: string | null;
  account_id: string | null;
  recoveries: number;
  data: HistoryEntry[];
}

const MAX_REFUSALS = 200;

export async function reportGrant(store: Store, grant_id: string): Promise<GrantReport> {
  const [history, refusals] = await Promise.all([
    store.findGrantHistory(grant_id),
    store.findRefusals({ grant_id }, { limit: MAX_REFUSALS, before: null }),
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
    // The sort is stable: events of one millisecond stay in the order of a grant's life.
    data: events
      .toSorted((one, other) => one.at - other.at)
      .map(({ at, ...entry }) => ({ at: formatTimestamp(at), ...entry })),
  };
}

type Event = Omit<HistoryEntry, 'at'> & { at: Milliseconds };

function changesOf(history: GrantHistory): Event[] {
  const changes = [
    ['issued', uuidV7Time(history.grant_id), history.issued_by],
    ['redeemed', history.created_at, history.redeemed_by],
    ['recovered', history.recovered_at, history.recovered_by],
    ['first_used', history.first_used_at, history.first_used_by],
    ['revoked', history.revoked_at, history.revoked_by, endReason(history)],
  ] as const;
  return changes.flatMap(([what, at, initiator, reason = null]) =>
    at === null ? [] : [change(what, at, initiator, reason)],
  );
}

function change(
  what: HistoryEntry['what'],
  at: Milliseconds,
  initiator: Initiator | null,
  reason: EndReason | null,
): Event {
  return {
    at,
    what,
    result: 'done',
    reason,
    by: initiator?.by ?? null,
    application_id: null,
    secret_id: initiator?.secret_id ?? null,
    key_id: initiator?.key_id ?? null,
    request_id: initiator?.request_id ?? null,
    address: null,
    os_user: initiator?.os_user ?? null,
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
    key_id: refusal.key_id,
    request_id: refusal.request_id,
    address: refusal.address,
    os_user: null,
  };
}
