import { z } from 'zod';
import { errorCodes } from './errors.ts';
import { scope, text, timestamp, uuid } from './fields.ts';

// Schemas of the objects on the wire, as they are on output. `types.ts` has the same objects as
// written-out types, with what each member means.

export const account = z
  .object({
    object: z.literal('service_account'),
    id: uuid,
    username: text.meta({ examples: ['ada'] }),
    display_name: text.meta({ examples: ['Ada Lovelace'] }),
    twitter: text
      .nullable()
      .meta({ description: 'A social handle of the account.', examples: ['ada'] }),
    verified: z.boolean(),
    supporter: z.boolean(),
  })
  .meta({ id: 'Account', description: 'The account that a grant is about.' });

const grantHead = {
  object: z.literal('oauth_grant'),
  grant_id: uuid,
  created_at: timestamp.meta({ description: 'When the code was exchanged.' }),
};

export const fullGrant = z
  .object({
    ...grantHead,
    scope,
    grant_secret: z.string().meta({
      description: 'Authorizes requests about the account. Store it; it is not shown again.',
      examples: ['lk_grant_…'],
    }),
    revoked: z.literal(false),
    account,
  })
  .meta({ id: 'FullGrant', description: 'A grant with its secret.' });

export const grantDescription = fullGrant
  .omit({ grant_secret: true })
  .meta({ id: 'GrantDescription', description: 'A grant without its secret.' });

export const revokedGrant = z
  .object({ ...grantHead, revoked: z.literal(true) })
  .meta({ id: 'RevokedGrant', description: 'What remains of a grant once it is revoked.' });

export const grantEntry = z
  .object({
    ...grantHead,
    application_id: uuid,
    scope,
    revoked: z.boolean(),
    revoked_at: timestamp.nullable(),
    account,
  })
  .meta({ id: 'GrantEntry', description: "A grant in an operator's list." });

export const applicationSecret = z
  .object({
    object: z.literal('application_secret'),
    id: uuid,
    hint: z.string().meta({ examples: ['lk_app_…9XyZ'] }),
    created_at: timestamp,
    expires_at: timestamp.nullable(),
    last_used_at: timestamp.nullable().meta({ description: 'To the minute.' }),
  })
  .meta({ id: 'ApplicationSecret', description: 'A secret of an application, by its hint.' });

const shownOnce = z
  .string()
  .meta({ description: 'The secret. It is shown this once.', examples: ['lk_app_…'] });

export const newApplicationSecret = applicationSecret
  .extend({ secret: shownOnce })
  .meta({ id: 'NewApplicationSecret', description: 'A new secret of an application.' });

export const application = z
  .object({
    object: z.literal('application'),
    id: uuid,
    name: text.meta({ examples: ['Acme'] }),
    disabled: z.boolean(),
    created_at: timestamp,
    secrets: z.array(applicationSecret),
  })
  .meta({ id: 'Application', description: 'A third-party application.' });

export const newApplication = application
  .extend({ secret: shownOnce })
  .meta({ id: 'NewApplication', description: 'A new application with its first secret.' });

const codeMembers = {
  grant_id: uuid,
  application_id: uuid,
  account_id: uuid,
  scope,
  expires_at: timestamp,
};

export const issuedCode = z
  .object({
    object: z.literal('grant_code'),
    code: z.string().meta({
      description: 'Good for one exchange within 300 seconds. It is shown this once.',
      examples: ['lk_code_…'],
    }),
    ...codeMembers,
  })
  .meta({ id: 'IssuedCode', description: 'A code for the application to exchange.' });

export const cancelledCode = z
  .object({ object: z.literal('grant_code'), ...codeMembers, cancelled: z.literal(true) })
  .meta({ id: 'CancelledCode', description: 'A code that can no longer be exchanged.' });

function list<Item extends z.ZodType>(item: Item, id: string) {
  return z
    .object({
      object: z.literal('list'),
      data: z.array(item),
      next_cursor: z.string().nullable().meta({ description: 'Null at the end of the list.' }),
    })
    .meta({ id, description: 'A page of a list, newest first.' });
}

export const applicationList = list(application, 'ApplicationList');
export const grantList = list(grantEntry, 'GrantList');

export const errorBody = z
  .object({
    error: z.string(),
    error_description: z.string(),
    error_code: z.enum(errorCodes),
    error_uri: z.string(),
    request_id: z.string(),
    grant_id: uuid.optional(),
    issues: z
      .array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }))
      .optional(),
  })
  .meta({ id: 'ErrorBody', description: 'The body of every error.' });
