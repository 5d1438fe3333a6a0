import { createHash } from 'node:crypto';
import type { Milliseconds } from '@latchkey/domain/clock';
import {
  type Account,
  type Choice,
  type EndReason,
  type EventType,
  formatTimestamp,
  type MessageType,
  uuidFromBytes,
  uuidToBytes,
} from '@latchkey/schema';
import { v7 } from 'uuid';

/** A fact that was recorded with the change that made it. */
export interface Event {
  id: string;
  type: MessageType;
  at: Milliseconds;
  /** The grant and the account that it is about; null for none. */
  grant_id: string | null;
  account_id: string | null;
  body: string;
  /** Whether a try adds the choice of its grant to the body. */
  has_choice?: boolean;
}

/** What is left of a grant when it is told. Null: reduced meanwhile, or there is none. */
export interface ToldGrant {
  grant_id: string;
  application_id: string;
  account_id: string | null;
  resource: string | null;
  document_uri: string | null;
  choice: Choice | null;
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
export function deliveryId(event: Pick<Event, 'id' | 'at'>, endpoint_id: string): string {
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
    choice: null,
    created_at: formatTimestamp(created_at),
    ...members,
  };
  const id = grantEventId(grant_id, type);
  const has_choice = grant.choice !== null;
  return { id, type, at, grant_id, account_id, body: bodyOf(type, at, data), has_choice };
}

/** The message of a try. Its members keep their order, so that each try sends the same bytes. */
export function withChoice(body: string, choice: Choice | null): string {
  const message = JSON.parse(body);
  return JSON.stringify({ ...message, data: { ...message.data, choice } });
}

/** Whether a message has what an erasure takes back from all who are still to be told. */
export const hasPersonalData = (type: MessageType, body: string): boolean =>
  type === 'account.updated' || (JSON.parse(body).data.choice ?? null) !== null;

export function accountUpdated(
  { id, at }: Pick<Event, 'id' | 'at'>,
  account: Omit<Account, 'object'>,
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
