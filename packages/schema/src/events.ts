import { z } from 'zod';
import type { MessageType } from './event-types.ts';
import { scope, timestamp, uuid } from './fields.ts';
import { account, application, grantDescription } from './objects.ts';

// Schemas of the messages that endpoints are sent. `types.ts` is generated from them too.

export const endReason = z
  .enum([
    'application',
    'user',
    'host',
    'account_erased',
    'application_deleted',
    'idle',
    'replaced',
  ])
  .meta({
    id: 'EndReason',
    description:
      'Why a grant ended: `application`, `user` (on a page), `host` (an operator or a command), `account_erased`, `application_deleted`, `idle` or `replaced`.',
  });

const REDUCED = 'null if it was deleted before the message was made';

const { object, created_at, application_id, resource, document_uri, choice } =
  grantDescription.shape;
const grantOfEvent = {
  object,
  grant_id: uuid.meta({ description: 'Identifies the grant.' }),
  application_id,
  account_id: uuid
    .nullable()
    .meta({ description: `The account that the grant is about; ${REDUCED}.` }),
  resource,
  document_uri,
  choice: choice.meta({
    description:
      'What the user chose at the consent, such as a workspace; null for nothing, or if it was deleted before the message was sent.',
  }),
  created_at,
};

export const grantCreatedData = z
  .object({
    ...grantOfEvent,
    scope: scope
      .nullable()
      .meta({ description: `Space-separated scope tokens (RFC 6749 section 3.3); ${REDUCED}.` }),
    revoked: z.literal(false),
  })
  .meta({ id: 'GrantCreatedData', description: 'The grant that a code was converted into.' });

export const grantRevokedData = z
  .object({
    ...grantOfEvent,
    revoked: z.literal(true),
    revoked_at: timestamp.meta({ description: 'When it was revoked.' }),
    reason: endReason.nullable().meta({ description: `Why it ended; ${REDUCED}.` }),
  })
  .meta({ id: 'GrantRevokedData', description: 'A grant that has ended. It never works again.' });

const { id, name, disabled } = application.shape;

export const applicationData = z
  .object({
    object: application.shape.object,
    id,
    name,
    disabled: disabled.meta({ description: 'Whether it was disabled: the same as the type says.' }),
  })
  .meta({ id: 'ApplicationData', description: 'An application that was disabled or enabled.' });

export const pingData = z
  .object({
    object: z.literal('endpoint'),
    id: uuid.meta({ description: 'The endpoint that was asked for a try.' }),
  })
  .meta({ id: 'PingData', description: 'The endpoint that is tried.' });

/** @param when - what the timestamp is the time of */
const message = <Type extends MessageType, Data extends z.ZodType>(
  type: Type,
  data: Data,
  meta: { id: string; description: string; when: string; data: string },
) =>
  z
    .object({
      type: z.literal(type),
      timestamp: timestamp.meta({ description: meta.when }),
      data: data.meta({ description: meta.data }),
    })
    .meta({ id: meta.id, description: meta.description });

export const grantCreated = message('grant.created', grantCreatedData, {
  id: 'GrantCreatedEvent',
  description: 'A code was converted into a grant. Told to the endpoints of the host.',
  when: 'When the code was converted.',
  data: 'The grant.',
});

export const grantRevoked = message('grant.revoked', grantRevokedData, {
  id: 'GrantRevokedEvent',
  description:
    'A grant ended, whoever ended it. Told to the endpoints of its application and of the host.',
  when: 'When the grant was revoked.',
  data: 'The grant.',
});

export const accountUpdated = message('account.updated', account, {
  id: 'AccountUpdatedEvent',
  description:
    'An account changed. Told to the endpoints of every application with a live grant of it, and of the host.',
  when: 'When the account changed.',
  data: 'The account as it was when the message was made.',
});

export const applicationDisabled = message('application.disabled', applicationData, {
  id: 'ApplicationDisabledEvent',
  description:
    'The operator disabled an application. Told to its endpoints and to those of the host.',
  when: 'When it was disabled.',
  data: 'The application.',
});

export const applicationEnabled = message('application.enabled', applicationData, {
  id: 'ApplicationEnabledEvent',
  description:
    'The operator enabled an application again. Told to its endpoints and to those of the host.',
  when: 'When it was enabled.',
  data: 'The application.',
});

export const ping = message('ping', pingData, {
  id: 'PingEvent',
  description: 'The operator asked for a try of one endpoint.',
  when: 'When it was asked for.',
  data: 'The endpoint.',
});

export const event = z
  .union([
    grantCreated,
    grantRevoked,
    accountUpdated,
    applicationDisabled,
    applicationEnabled,
    ping,
  ])
  .meta({ id: 'LatchkeyEvent', description: 'The body of a message: one fact that has happened.' });
