import { z } from 'zod';
import { errorCodes } from './errors.ts';
import { languageTag, scope, scopeToken, text, timestamp, uuid } from './fields.ts';

// Schemas of the objects that operations return. `types.ts` has the same objects as TypeScript types
// and explains each member.

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
  created_at: timestamp.meta({ description: 'When the code was converted.' }),
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
  .extend({
    application_id: uuid.meta({ description: 'The application that the grant belongs to.' }),
  })
  .meta({ id: 'GrantDescription', description: 'A grant without its secret.' });

export const revokedGrant = z
  .object({ ...grantHead, revoked: z.literal(true) })
  .meta({ id: 'RevokedGrant', description: 'A revoked grant.' });

export const grantEntry = z
  .object({
    ...grantHead,
    application_id: uuid,
    scope,
    revoked: z.boolean(),
    revoked_at: timestamp.nullable(),
    account,
  })
  .meta({ id: 'GrantEntry', description: 'A grant in a list for the operator.' });

export const applicationSecret = z
  .object({
    object: z.literal('application_secret'),
    id: uuid,
    hint: z.string().meta({ examples: ['lk_app_…9XyZ'] }),
    created_at: timestamp,
    expires_at: timestamp.nullable(),
    last_used_at: timestamp.nullable().meta({ description: 'Accurate to the minute.' }),
  })
  .meta({
    id: 'ApplicationSecret',
    description: 'A secret of an application, without the secret itself.',
  });

const shownOnce = z
  .string()
  .meta({ description: 'The secret. It is shown only once.', examples: ['lk_app_…'] });

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
    redirect_uris: z.array(z.string().meta({ examples: ['https://app.example/callback'] })),
    scopes: z
      .array(scopeToken)
      .nullable()
      .meta({ description: 'The scopes it may ask for; null for every described one.' }),
    logo_uri: z.string().nullable(),
    homepage_uri: z.string().nullable(),
    public: z.boolean().meta({ description: 'Whether it has no secret.' }),
    resource_server: z
      .boolean()
      .meta({ description: 'Whether it may introspect the grants of every application.' }),
  })
  .meta({ id: 'Application', description: 'A third-party application.' });

export const newApplication = application.extend({ secret: shownOnce.optional() }).meta({
  id: 'NewApplication',
  description: 'A new application with its first secret, if it is not public.',
});

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
      description: 'Can be converted once, within 300 seconds. It is shown only once.',
      examples: ['lk_code_…'],
    }),
    ...codeMembers,
  })
  .meta({ id: 'IssuedCode', description: 'A code that the application can convert.' });

export const cancelledCode = z
  .object({ object: z.literal('grant_code'), ...codeMembers, cancelled: z.literal(true) })
  .meta({ id: 'CancelledCode', description: 'A cancelled code.' });

function list<Item extends z.ZodType>(item: Item, id: string) {
  return z
    .object({
      object: z.literal('list'),
      data: z.array(item),
      next_cursor: z.string().nullable().meta({ description: 'Null at the end of the list.' }),
    })
    .meta({ id, description: 'A page of a list, newest first.' });
}

const completeList = <Item extends z.ZodType>(item: Item, id: string, description: string) =>
  z
    .object({ object: z.literal('list'), data: z.array(item), next_cursor: z.null() })
    .meta({ id, description });

const scopeTexts = { title: z.string(), description: z.string() };

export const scopeDescription = z
  .object({
    object: z.literal('scope'),
    scope: scopeToken,
    title: scopeTexts.title,
    description: scopeTexts.description.nullable(),
    texts: z.record(
      languageTag,
      z.object({ title: scopeTexts.title, description: scopeTexts.description.optional() }),
    ),
  })
  .meta({ id: 'Scope', description: 'A scope in words. Only such a scope can be asked for.' });

export const scopeList = completeList(scopeDescription, 'ScopeList', 'All scopes, by name.');

export const applicationProfile = z
  .object({
    object: z.literal('application_profile'),
    id: uuid,
    name: text.meta({ examples: ['Acme'] }),
    logo_uri: z.string().nullable(),
    homepage_uri: z.string().nullable(),
  })
  .meta({ id: 'ApplicationProfile', description: 'What users see of an application.' });

export const connection = z
  .object({
    object: z.literal('connection'),
    application: applicationProfile,
    scopes: z.array(scopeDescription),
    connected_at: timestamp.meta({ description: 'When its oldest active grant was made.' }),
    grants: z.array(z.object({ grant_id: uuid, created_at: timestamp, scope })),
  })
  .meta({ id: 'Connection', description: 'An application with active grants of an account.' });

export const connectionList = completeList(
  connection,
  'ConnectionList',
  'All connections of an account, by the name of the application.',
);
export const revokedGrantList = completeList(
  revokedGrant,
  'RevokedGrantList',
  'The grants that the call revoked.',
);

export const page = z
  .object({
    object: z.literal('page'),
    id: uuid,
    page: z.literal('connections'),
    account_id: uuid,
    url: z.string().meta({
      description: 'Opens the page once. Send the browser there.',
      examples: ['https://link.example/connections?ticket=lk_ticket_…'],
    }),
    expires_at: timestamp.meta({ description: 'Until when the url can be opened.' }),
  })
  .meta({ id: 'Page', description: 'A page for one account.' });

const linkStatuses = ['open', 'identified', 'approved', 'denied'] as const;

export const linkRequest = z
  .object({
    object: z.literal('link_request'),
    id: uuid,
    status: z.enum(linkStatuses),
    application: applicationProfile,
    scope,
    scopes: z.array(scopeDescription),
    redirect_host: z.string().meta({
      description: 'The host of the redirect URI, or its scheme if it is a private one.',
      examples: ['app.example'],
    }),
    account_id: uuid.nullable(),
    login_hint: z.string().nullable(),
    ui_locales: z.string().nullable(),
    created_at: timestamp,
    expires_at: timestamp,
    grant_id: uuid.nullable(),
  })
  .meta({ id: 'LinkRequest', description: 'A request of an application to link an account.' });

export const linkRedirect = linkRequest
  .extend({
    redirect_to: z.string().meta({
      description: 'Where the host sends the browser.',
      examples: ['https://app.example/callback?code=lk_code_…&state=…'],
    }),
  })
  .meta({ id: 'LinkRedirect', description: 'A link request, and where the browser goes next.' });

export const emptyObject = z.object({}).meta({ id: 'Empty', description: 'Nothing.' });

export const tokenResponse = z
  .object({
    access_token: z.string().meta({
      description: 'The secret of the grant. It lives until it is revoked.',
      examples: ['lk_grant_…'],
    }),
    token_type: z.literal('Bearer'),
    scope,
    grant: fullGrant,
  })
  .meta({ id: 'TokenResponse', description: 'A grant in the words of OAuth.' });

export const introspection = z
  .union([
    z.object({
      active: z.literal(true),
      scope,
      client_id: uuid.meta({ description: 'The application that the grant belongs to.' }),
      token_type: z.literal('Bearer'),
      sub: uuid.meta({ description: 'The id of the account.' }),
      username: text,
      iss: z.string().meta({ examples: ['https://link.example'] }),
      iat: z.int().meta({ description: 'When the code was converted, in seconds since 1970.' }),
      grant_id: uuid,
    }),
    z.object({ active: z.literal(false) }),
  ])
  .meta({ id: 'Introspection', description: 'What a token is good for (RFC 7662).' });

export const applicationList = list(application, 'ApplicationList');
export const grantList = list(grantEntry, 'GrantList');
export const accountList = list(account, 'AccountList');

export const accountErasure = z
  .object({
    object: z.literal('account_erasure'),
    id: uuid,
    grants_revoked: z.int().meta({ description: 'How many grants this call revoked.' }),
  })
  .meta({ id: 'AccountErasure', description: 'An erased account.' });

export const codeEntry = grantEntry
  .omit({ created_at: true })
  .extend({ expires_at: timestamp })
  .meta({ id: 'CodeEntry', description: 'A code that was not converted, in an export.' });

export const exportedChange = z
  .object({
    at: timestamp,
    operation: z.string().meta({
      description: 'The operation; `first_use` for the first request with a grant.',
      examples: ['grants.convert'],
    }),
    by: z.enum(['application', 'grant', 'operator', 'command_line', 'user']).nullable(),
    grant_id: uuid,
    application_id: uuid.nullable(),
    request_id: z.string().nullable(),
  })
  .meta({ id: 'ExportedChange', description: 'A change of a grant, in an export.' });

export const exportedRefusal = exportedChange
  .extend({ error_code: z.enum(errorCodes) })
  .meta({ id: 'ExportedRefusal', description: 'A refused call about a grant, in an export.' });

export const accountExport = z
  .object({
    object: z.literal('account_export'),
    account,
    grants: z.array(grantEntry),
    codes: z.array(codeEntry),
    history: z.array(exportedChange),
    refusals: z.array(exportedRefusal),
  })
  .meta({ id: 'AccountExport', description: 'Everything that is stored about an account.' });

export const errorBody = z
  .object({
    error: z.string(),
    error_description: z.string(),
    error_code: z.enum(errorCodes),
    error_uri: z.string(),
    request_id: z.string(),
    grant_id: uuid.optional(),
    status: z.enum(linkStatuses).optional(),
    redirect_to: z.string().optional(),
    issues: z
      .array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }))
      .optional(),
  })
  .meta({ id: 'ErrorBody', description: 'The body of every error.' });
