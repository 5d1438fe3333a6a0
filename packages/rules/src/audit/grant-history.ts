import type { Milliseconds } from '@latchkey/domain/clock';
import { DomainError } from '@latchkey/domain/domain-error';
import type { ActionName, Initiator } from '@latchkey/domain/initiator';
import {
  formatTimestamp,
  type GrantHistoryEntry,
  type GrantHistory as GrantReport,
  uuidV7Time,
} from '@latchkey/schema';
import { endReason } from '@latchkey/store/end-reason';
import type { EndReason, GrantHistory, RefusalRecord } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';

const MAX_REFUSALS = 200;

/** A refused look-up is kept under the id that was asked for. It does not show that the grant exists. */
const LOOKS: ReadonlySet<ActionName> = new Set(['admin.grants.history', 'admin.refusals.list']);

export async function reportGrant(store: Store, grant_id: string): Promise<GrantReport> {
  const [history, found] = await Promise.all([
    store.findGrantHistory(grant_id),
    store.findRefusals({ grant_id }, { limit: MAX_REFUSALS, before: null }),
  ]);
  const refusals = found.filter(({ operation }) => !LOOKS.has(operation));
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

type Event = Omit<GrantHistoryEntry, 'at'> & { at: Milliseconds };

function changesOf(history: GrantHistory): Event[] {
  const changes = [
    ['issued', uuidV7Time(history.grant_id), history.issued_by],
    ['converted', history.created_at, history.redeemed_by],
    ['recovered', history.recovered_at, history.recovered_by],
    ['first_used', history.first_used_at, history.first_used_by],
    ['revoked', history.revoked_at, history.revoked_by, endReason(history)],
  ] as const;
  return changes.flatMap(([what, at, initiator, reason = null]) =>
    at === null ? [] : [change(what, at, initiator, reason)],
  );
}

function change(
  what: string,
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
