import { createHash } from 'node:crypto';
import {
  type Account,
  type EventType,
  formatTimestamp,
  type MessageType,
  uuidFromBytes,
  uuidToBytes,
} from '@latchkey/schema';
import { v7 } from 'uuid';
import type { Milliseconds } from '../clock.ts';
import type { AccountRecord, DeliveryRecord, EndpointRecord, EndReason } from './records.ts';
import { type EndedTry, type EndpointChanges, FAILING_LASTS, FAILING_TRIES } from './store.ts';

/** A fact that was recorded with the change that made it. */
export interface Event {
  id: string;
  type: MessageType;
  at: Milliseconds;
  /** The grant and the account that it is about; null for none. */
  grant_id: string | null;
  account_id: string | null;
  body: string;
}

/** What is left of a grant when it is told. Null: reduced meanwhile, or there is none. */
export interface ToldGrant {
  grant_id: string;
  application_id: string;
  account_id: string | null;
  resource: string | null;
  document_uri: string | null;
  scope: string | null;
  created_at: Milliseconds;
}

const sha256 = (...parts: Uint8Array[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** UUIDv8 (RFC 9562) of the grant and the type, so that a repetition is the same event. */
export function grantEventId(grant_id: string, type: EventType): string {
  const bytes = Uint8Array.from(sha256(uuidToBytes(grant_id), Buffer.from(type)).subarray(0, 16));
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return uuidFromBytes(bytes);
}

/** UUIDv7 of the event's time, made of the event and the endpoint, so that a repetition inserts nothing. */
function deliveryId(event: Pick<Event, 'id' | 'at'>, endpoint_id: string): string {
  const digest = sha256(uuidToBytes(event.id), uuidToBytes(endpoint_id));
  return v7({
    msecs: event.at,
    seq: digest.readUInt32BE(16) >>> 1,
    random: digest.subarray(0, 16),
  });
}

export function grantCreated(grant: ToldGrant): Event {
  return ofGrant('grant.created', grant, grant.created_at, { scope: grant.scope, revoked: false });
}

export function grantRevoked(
  grant: ToldGrant & { revoked_at: Milliseconds; reason: EndReason | null },
): Event {
  const { revoked_at, reason } = grant;
  return ofGrant('grant.revoked', grant, revoked_at, {
    ...{ revoked: true, revoked_at: formatTimestamp(revoked_at), reason },
  });
}

function ofGrant(type: EventType, grant: ToldGrant, at: Milliseconds, members: object): Event {
  const { grant_id, application_id, account_id, resource, document_uri, created_at } = grant;
  const data = {
    ...{ object: 'oauth_grant', grant_id, application_id, account_id, resource, document_uri },
    created_at: formatTimestamp(created_at),
    ...members,
  };
  const id = grantEventId(grant_id, type);
  return { id, type, at, grant_id, account_id, body: bodyOf(type, at, data) };
}

export function accountUpdated(
  { id, at }: Pick<Event, 'id' | 'at'>,
  account: AccountRecord,
): Event {
  const { id: account_id, username, display_name, twitter, verified, supporter } = account;
  const data = {
    ...{ object: 'service_account', id: account_id, username, display_name, twitter },
    ...{ verified, supporter },
  } satisfies Account;
  const type = 'account.updated';
  return { id, type, at, grant_id: null, account_id, body: bodyOf(type, at, data) };
}

export function applicationChanged(
  { id, at }: Pick<Event, 'id' | 'at'>,
  application: { id: string; name: string; disabled: boolean },
): Event {
  const { id: application_id, name, disabled } = application;
  const type = disabled ? 'application.disabled' : 'application.enabled';
  const body = bodyOf(type, at, { object: 'application', id: application_id, name, disabled });
  return { id, type, at, grant_id: null, account_id: null, body };
}

export function ping({ id, at }: Pick<Event, 'id' | 'at'>, endpoint_id: string): Event {
  const body = bodyOf('ping', at, { object: 'endpoint', id: endpoint_id });
  return { id, type: 'ping', at, grant_id: null, account_id: null, body };
}

const bodyOf = (type: MessageType, at: Milliseconds, data: object): string =>
  JSON.stringify({ type, timestamp: formatTimestamp(at), data });

export function newDelivery(
  event: Event,
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
export function isToldOf(endpoint: EndpointRecord, type: EventType): boolean {
  if (endpoint.disabled_reason !== null) return false;
  return endpoint.types?.includes(type) ?? true;
}

/** What an application is told: the host is told of everything. */
const toldToApplications: ReadonlySet<EventType> = new Set([
  'grant.revoked',
  'account.updated',
  'application.disabled',
  'application.enabled',
]);

export const isForApplications = (type: EventType) => toldToApplications.has(type);

/** A disabled application is told of nothing else. */
export const TOLD_WHILE_DISABLED = [
  'grant.revoked',
  'application.disabled',
  'application.enabled',
  'ping',
] as const satisfies readonly MessageType[];

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
  { disabled_reason: before }: EndpointRecord,
  changes: EndpointChanges,
): Partial<EndpointRecord> {
  const { disabled_reason, ...rest } = changes;
  if (disabled_reason === undefined) return rest;
  if (disabled_reason !== null) return { ...rest, disabled_reason: before ?? disabled_reason };
  return before === null ? rest : { ...rest, disabled_reason, failing_since: null, failures: 0 };
}

/** What the end of a try changes of its endpoint. */
export function endpointAfter(
  before: EndpointRecord,
  { attempt, url, isGone, now }: Pick<EndedTry, 'attempt' | 'url' | 'isGone' | 'now'>,
): Pick<EndpointRecord, 'disabled_reason' | 'last_success_at' | 'failing_since' | 'failures'> {
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
