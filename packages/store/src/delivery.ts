import type { Milliseconds } from '@latchkey/domain/clock';
import { FAILING_LASTS } from '@latchkey/domain/lifetimes';
import type { EventType, MessageType } from '@latchkey/schema';
import { deliveryId, type Event, TOLD_WHILE_DISABLED } from './event.ts';
import { type DueEndpoint, type EndedTry, type EndpointChanges, FAILING_TRIES } from './inputs.ts';
import type { DeliveryRecord, EndpointRecord } from './records.ts';

export function newDelivery(
  event: Omit<Event, 'body'> & { body: string | null },
  endpoint_id: string,
  due_at: Milliseconds,
): DeliveryRecord {
  const { id: event_id, type, grant_id, account_id, body, at } = event;
  return {
    id: deliveryId(event, endpoint_id),
    ...{ endpoint_id, event_id, type, grant_id, account_id, body, created_at: at, due_at },
    ...{ status: 'pending', claim: null, tries: 0, attempts: [], ended_at: null },
  };
}

/** Whether an endpoint of the application, or of the host for null, is told of what happens now. */
export function isToldOf(
  endpoint: Pick<EndpointRecord, 'disabled_reason' | 'types'>,
  type: EventType,
): boolean {
  if (endpoint.disabled_reason !== null) return false;
  return endpoint.types?.includes(type) ?? true;
}

/** Whether a claimed delivery is to be tried: what its application is not told any more is dropped. */
export function isStillTold(
  delivery: DeliveryRecord,
  { isDisabled }: { isDisabled: boolean },
): delivery is DeliveryRecord & { claim: string; body: string } {
  const told: readonly MessageType[] = TOLD_WHILE_DISABLED;
  return delivery.body !== null && (!isDisabled || told.includes(delivery.type));
}

/** What an operator changes of an endpoint. An earlier reason for which it is disabled stays. */
export function endpointChanges(
  { disabled_reason: before }: Pick<EndpointRecord, 'disabled_reason'>,
  changes: EndpointChanges,
): Partial<Omit<EndpointRecord, 'application_id'>> {
  const { disabled_reason, ...rest } = changes;
  if (disabled_reason === undefined) return rest;
  if (disabled_reason !== null) return { ...rest, disabled_reason: before ?? disabled_reason };
  return before === null ? rest : { ...rest, disabled_reason, failing_since: null, failures: 0 };
}

export function standingOf({
  failing_since,
  last_success_at,
}: Pick<EndpointRecord, 'failing_since' | 'last_success_at'>): DueEndpoint['standing'] {
  if (failing_since !== null) return 'failing';
  return last_success_at === null ? 'new' : 'working';
}

type TriesOf = Pick<
  EndpointRecord,
  'disabled_reason' | 'last_success_at' | 'failing_since' | 'failures'
>;

/** What the end of a try changes of its endpoint. */
export function endpointAfter(
  before: TriesOf & Pick<EndpointRecord, 'url'>,
  { attempt, url, isGone, now }: Pick<EndedTry, 'attempt' | 'url' | 'isGone' | 'now'>,
): TriesOf {
  const { disabled_reason, last_success_at } = before;
  if (attempt.result === 'delivered') {
    const latest = Math.max(last_success_at ?? 0, attempt.at);
    return { disabled_reason, last_success_at: latest, failing_since: null, failures: 0 };
  }
  const failing_since = before.failing_since ?? attempt.at;
  const failures = before.failures + 1;
  const status = { last_success_at, failing_since, failures };
  if (disabled_reason !== null) return { disabled_reason, ...status };
  if (isGone && before.url === url) return { disabled_reason: 'gone', ...status };
  const isFailing = failures >= FAILING_TRIES && now - failing_since >= FAILING_LASTS;
  return { disabled_reason: isFailing ? 'failing' : null, ...status };
}
