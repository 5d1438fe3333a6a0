import { expect, test } from 'vitest';
import { type MessageType, messageTypes } from './event-types.ts';
import * as events from './events.ts';

const id = '0193aa00-0000-7000-8000-000000000001';
const timestamp = '2026-11-21T02:15:30.123+00:00';
const grant = {
  object: 'oauth_grant',
  grant_id: id,
  application_id: id,
  account_id: id,
  resource: 'https://mcp.example/mcp',
  document_uri: 'https://app.example/oauth-client.json',
  choice: { id: 'ws-7', label: 'Acme Inc.' },
  created_at: timestamp,
};
const application = { object: 'application', id, name: 'Acme' };

/** What is told, by type, with its members in the order of the documentation. */
const data: Record<MessageType, object> = {
  'grant.created': { ...grant, scope: 'profile.read', revoked: false },
  'grant.revoked': { ...grant, revoked: true, revoked_at: timestamp, reason: 'user' },
  'account.updated': {
    object: 'service_account',
    id,
    username: 'ada',
    display_name: 'Ada Lovelace',
    twitter: null,
    verified: true,
    supporter: false,
  },
  'application.disabled': { ...application, disabled: true },
  'application.enabled': { ...application, disabled: false },
  ping: { object: 'endpoint', id },
};

test.each(messageTypes)('a message of %s has these members, in this order', (type) => {
  const message = { type, timestamp, data: data[type] };
  expect(JSON.stringify(events.event.parse(message))).toBe(JSON.stringify(message));
});

test('what was deleted before the message was made is null', () => {
  const nothing = { account_id: null, resource: null, document_uri: null, choice: null };
  const created = { ...data['grant.created'], ...nothing, scope: null };
  const revoked = { ...data['grant.revoked'], ...nothing, reason: null };
  expect(events.event.parse({ type: 'grant.created', timestamp, data: created }).data).toEqual(
    created,
  );
  expect(events.event.parse({ type: 'grant.revoked', timestamp, data: revoked }).data).toEqual(
    revoked,
  );
});

test.each([
  [
    'a reason that there is not',
    { type: 'grant.revoked', data: { ...data['grant.revoked'], reason: 'bored' } },
  ],
  ['the data of another type', { type: 'grant.created', data: data['grant.revoked'] }],
  ['a type that there is not', { type: 'grant.renewed', data: data['grant.created'] }],
])('%s is no event', (_, wrong) => {
  expect(events.event.safeParse({ timestamp, ...wrong }).success).toBe(false);
});
