import { z } from 'zod';
import { errorCodes } from './errors.ts';
import {
  attemptResults,
  deliveryStatuses,
  endpointDisabledReasons,
  eventTypes,
  messageTypes,
} from './event-types.ts';
import {
  externalId,
  hostId,
  languageTag,
  role,
  scope,
  scopeToken,
  text,
  textOf,
  timestamp,
  uuid,
} from './fields.ts';

// Schemas of the objects that operations return. `types.ts` is generated from them, with the
// descriptions as docstrings. OpenAPI has the same descriptions.

export const account = z
  .object({
    object: z.literal('service_account'),
    id: uuid.meta({ description: 'Identifies the account and never changes.' }),
    username: text.meta({
      description: '1 to 200 characters. It may change: identify an account by its `id`.',
      examples: ['ada'],
    }),
    display_name: text.meta({
      description: "The name of the account's owner, 1 to 200 characters.",
      examples: ['Ada Lovelace'],
    }),
    twitter: text.nullable().meta({
      description: 'A social handle of the account; null if it has none.',
      examples: ['ada'],
    }),
    verified: z
      .boolean()
      .meta({ description: 'Whether the service marks the account as verified.' }),
    supporter: z
      .boolean()
      .meta({ description: 'Whether the service marks the account as a supporter.' }),
  })
  .meta({ id: 'Account', description: 'The account that a grant is about.' });

// Each application that is linked to the account sees it.
const externalIdOfNow = externalId.nullable().meta({
  description: "The service's own id of the account, as it is now; null if it has none.",
});

export const accountEntry = account
  .extend({ external_id: externalIdOfNow })
  .meta({ id: 'AccountEntry', description: 'An account, as its operator put it.' });

const accountAtIssue = account.meta({
  description: 'The account as it was when the code was issued.',
});
const applicationOfGrant = uuid.meta({ description: 'The application that the grant belongs to.' });
const resourceOfGrant = z
  .string()
  .nullable()
  .meta({
    description: 'The resource that the grant is for, and the only one; null for none.',
    examples: ['https://mcp.example/mcp'],
  });

export const choice = z
  .object({
    id: hostId.meta({ description: "The host's own id of it.", examples: ['ws-7'] }),
    label: textOf(128).meta({
      description: 'What the user saw of it at the decision: 1 to 100 characters, or the id.',
      examples: ['Acme Inc.'],
    }),
  })
  .meta({ id: 'Choice', description: 'What the user chose, such as a workspace.' });

const choiceOfGrant = choice.nullable().meta({
  description: 'What the user chose at the consent, such as a workspace; null for nothing.',
});
const grantHead = {
  object: z.literal('oauth_grant'),
  grant_id: uuid.meta({ description: 'Identifies the grant.' }),
  created_at: timestamp.meta({ description: 'When the code was converted.' }),
};

export const fullGrant = z
  .object({
    ...grantHead,
    grant_id: uuid.meta({
      description: 'Identifies the grant, for example to revoke it. Store it.',
    }),
    scope,
    grant_secret: z.string().meta({
      description:
        'Authorizes requests about the account. Store it encrypted; it is not shown again.',
      examples: ['lk_grant_…'],
    }),
    revoked: z.literal(false),
    account: accountAtIssue,
  })
  .meta({
    id: 'FullGrant',
    description:
      'A grant with its secret, as `convert` and `recover` return it. The secret is shown only once.',
  });

const documentUri = z
  .string()
  .nullable()
  .meta({
    description:
      'The address at which the application describes itself, which is its client_id; null if an operator registered it.',
    examples: ['https://app.example/oauth-client.json'],
  });

export const grantDescription = z
  .object({
    ...grantHead,
    application_id: applicationOfGrant,
    document_uri: documentUri,
    resource: resourceOfGrant,
    choice: choiceOfGrant,
    scope,
    revoked: z.literal(false),
    account: accountAtIssue,
    external_id: externalIdOfNow,
  })
  .meta({ id: 'GrantDescription', description: 'A grant without its secret.' });

export const revokedGrant = z
  .object({ ...grantHead, revoked: z.literal(true) })
  .meta({ id: 'RevokedGrant', description: 'A revoked grant.' });

export const grantEntry = z
  .object({
    ...grantHead,
    application_id: applicationOfGrant,
    resource: resourceOfGrant,
    choice: choiceOfGrant,
    scope,
    revoked: z.boolean().meta({ description: 'Whether it was revoked.' }),
    revoked_at: timestamp
      .nullable()
      .meta({ description: 'When it was revoked; null if it was not.' }),
    last_used_at: timestamp.nullable().meta({
      description:
        'When its secret last authorized a request, at most 24 hours too early; null if it never did.',
    }),
    account: accountAtIssue,
  })
  .meta({ id: 'GrantEntry', description: 'A grant in a list for the operator.' });

export const applicationSecret = z
  .object({
    object: z.literal('application_secret'),
    id: uuid.meta({ description: 'Identifies the secret, for example to remove it.' }),
    hint: z.string().meta({
      description: '`lk_app_…` and the last four characters, to tell secrets apart.',
      examples: ['lk_app_…9XyZ'],
    }),
    created_at: timestamp.meta({ description: 'When the secret was created.' }),
    expires_at: timestamp
      .nullable()
      .meta({ description: 'When the secret expires; null if it never does.' }),
    last_used_at: timestamp.nullable().meta({
      description:
        'When the secret last authenticated a request, accurate to the minute; null if it never did.',
    }),
  })
  .meta({
    id: 'ApplicationSecret',
    description: 'A secret of an application, without the secret itself.',
  });

const shownOnce = z.string().meta({
  description: 'The secret, `lk_app_…`. It is not shown again.',
  examples: ['lk_app_…'],
});

export const newApplicationSecret = applicationSecret.extend({ secret: shownOnce }).meta({
  id: 'NewApplicationSecret',
  description: 'A new secret of an application, which is shown only once.',
});

export const application = z
  .object({
    object: z.literal('application'),
    id: uuid.meta({
      description:
        'Identifies the application. OAuth calls it the client_id, unless it has a document.',
    }),
    document_uri: documentUri,
    name: text.meta({
      description: 'The name that users see, 1 to 200 characters.',
      examples: ['Acme'],
    }),
    disabled: z.boolean().meta({
      description: 'While true, its secrets and grants are refused with `application_disabled`.',
    }),
    created_at: timestamp.meta({ description: 'When the application was created.' }),
    secrets: z
      .array(applicationSecret)
      .meta({ description: 'Its secrets, including expired ones.' }),
    redirect_uris: z.array(z.string().meta({ examples: ['https://app.example/callback'] })).meta({
      description:
        'The redirect URIs. One must be sent unchanged; only the port of a loopback address may differ.',
    }),
    scopes: z
      .array(scopeToken)
      .nullable()
      .meta({ description: 'The scopes it may ask for; null for every described one.' }),
    default_scopes: z
      .array(scopeToken)
      .nullable()
      .meta({ description: 'The scopes of a request that names none; null for none.' }),
    logo_uri: z.string().nullable().meta({ description: 'Shown on the consent page.' }),
    homepage_uri: z.string().nullable().meta({ description: 'Linked on the consent page.' }),
    policy_uri: z
      .string()
      .nullable()
      .meta({ description: 'Its privacy policy, linked on the consent page.' }),
    tos_uri: z
      .string()
      .nullable()
      .meta({ description: 'Its terms of service, linked on the consent page.' }),
    public: z.boolean().meta({
      description: 'Whether it has no secret, such as a native application or a command line.',
    }),
    resource_server: z
      .boolean()
      .meta({ description: 'Whether it may introspect the grants of every application.' }),
    challenge_required: z.boolean().meta({
      description: 'Whether each of its authorization requests needs a code_challenge.',
    }),
    idle_days: z.int().nullable().meta({
      description: 'Days after which a grant that is not used ends; null for never.',
    }),
    grants_per_account: z.int().nullable().meta({
      description:
        'How many grants of one account stay after a conversion, the newest ones; null for all.',
    }),
  })
  .meta({ id: 'Application', description: 'A third-party application.' });

export const deletedApplication = application
  .extend({
    state: z.enum(['deleting', 'deleted']).meta({
      description:
        'None of its secrets, codes and grants works, in both states. `deleting`: not all of its grants are written down as revoked yet, which the service does in the background. `deleted`: they are.',
    }),
  })
  .meta({ id: 'DeletedApplication', description: 'A deleted application, as it was.' });

export const newApplication = application
  .extend({
    secret: shownOnce.optional().meta({
      description:
        'The secret, `lk_app_…`. It is not shown again. Absent if the application is public.',
    }),
  })
  .meta({
    id: 'NewApplication',
    description: 'A new application with its first secret, which is shown only once.',
  });

export const issuedCode = z
  .object({
    object: z.literal('grant_code'),
    code: z.string().meta({
      description:
        "`lk_code_…`. Travels to the application through the user's browser, and works once.",
      examples: ['lk_code_…'],
    }),
    grant_id: uuid.meta({ description: 'The id of the grant that the code is converted into.' }),
    application_id: uuid.meta({ description: 'The application that can convert it.' }),
    account_id: uuid.meta({ description: 'The account that the grant is about.' }),
    resource: resourceOfGrant,
    choice: choiceOfGrant,
    scope,
    expires_at: timestamp.meta({ description: '300 seconds after the code was issued.' }),
  })
  .meta({ id: 'IssuedCode', description: 'A new code, which is shown only once.' });

export const cancelledCode = z
  .object({
    object: z.literal('grant_code'),
    grant_id: uuid.meta({ description: 'The id of the grant that the code would have become.' }),
    application_id: uuid.meta({ description: 'The application that could have converted it.' }),
    account_id: uuid.meta({ description: 'The account that it was about.' }),
    resource: resourceOfGrant,
    choice: choiceOfGrant,
    scope,
    expires_at: timestamp.meta({ description: 'When it would have expired.' }),
    cancelled: z.literal(true),
  })
  .meta({
    id: 'CancelledCode',
    description: 'A code that was cancelled before it was converted.',
  });

const list = <Item extends z.ZodType>(item: Item, id: string, order = 'newest first') =>
  z
    .object({
      object: z.literal('list'),
      data: z.array(item).meta({ description: 'The entries of the page.' }),
      next_cursor: z.string().nullable().meta({
        description: 'Send it as `cursor` to get the next page; null at the end.',
      }),
    })
    .meta({ id, description: `A page of a list, ${order}.` });

const completeList = <Item extends z.ZodType>(item: Item, id: string, description: string) =>
  z
    .object({
      object: z.literal('list'),
      data: z.array(item).meta({ description: 'All entries of the list.' }),
      next_cursor: z.null(),
    })
    .meta({ id, description });

const scopeTitle = z
  .string()
  .meta({ description: 'What the scope allows, in a few words, 1 to 100 characters.' });
const scopeSentence = z.string().nullable().meta({
  description: 'What the scope allows, in a sentence, 1 to 300 characters; null for none.',
});

export const scopeDescription = z
  .object({
    object: z.literal('scope'),
    scope: scopeToken.meta({ description: 'The scope token (RFC 6749 section 3.3).' }),
    title: scopeTitle,
    description: scopeSentence,
    texts: z
      .record(languageTag, z.object({ title: scopeTitle, description: scopeSentence.optional() }))
      .meta({ description: 'The same in other languages, by language tag (BCP 47).' }),
    sensitive: z.boolean().meta({
      description:
        'Whether it lets an application act, or costs something: shown apart on the consent page.',
    }),
  })
  .meta({
    id: 'Scope',
    description: 'A scope and its description. Applications can ask only for described scopes.',
  });

export const scopeList = completeList(scopeDescription, 'ScopeList', 'All scopes, by name.');

const resourceHead = {
  object: z.literal('resource'),
  resource: z.string().meta({
    description: 'The address of the server that the grants are for. It never changes.',
    examples: ['https://mcp.example/mcp'],
  }),
  name: textOf(60).meta({ description: 'The name that users see.', examples: ['Notes'] }),
};

export const resource = z
  .object({
    ...resourceHead,
    id: uuid.meta({ description: 'Identifies the resource.' }),
    scopes: z.array(scopeToken).nullable().meta({
      description: 'The scopes that can be asked for with it; null for every described one.',
    }),
    default_scopes: z.array(scopeToken).nullable().meta({
      description: 'The scopes of a request that names none; null for those of the application.',
    }),
    created_at: timestamp.meta({ description: 'When the resource was created.' }),
  })
  .meta({ id: 'Resource', description: 'A server that grants can be for.' });

export const resourceList = completeList(
  resource,
  'ResourceList',
  'All resources, by their address.',
);

export const clientDocument = z
  .object({
    object: z.literal('client_document'),
    document_uri: z.string().meta({
      description: 'The address of the document, which is the client_id of its application.',
      examples: ['https://app.example/oauth-client.json'],
    }),
    application_id: uuid
      .nullable()
      .meta({ description: 'Identifies its application; null before the first approval.' }),
    name: text.meta({
      description: 'The name of its application, 1 to 200 characters.',
      examples: ['Acme'],
    }),
    redirect_uris: z
      .array(z.string())
      .meta({ description: 'The redirect URIs of the document that are taken here.' }),
    method: z.enum(['private_key_jwt', 'none']).meta({
      description: 'How its application authenticates; none if anybody can call as it.',
    }),
    pinned: z.boolean().meta({
      description: 'Whether it is used until it is unpinned, without a fetch.',
    }),
    kept_at: timestamp.meta({ description: 'When it was pinned, or fetched.' }),
    kept_until: timestamp
      .nullable()
      .meta({ description: 'Until when it is used while its server fails; null if it is pinned.' }),
  })
  .meta({ id: 'ClientDocument', description: 'What an application says of itself.' });

export const clientDocumentList = list(clientDocument, 'ClientDocumentList', 'by document_uri');

const keyId = uuid.meta({ description: 'Identifies the key, for example to delete it.' });
const keyName = text.meta({
  description: 'Who or what uses the key, 1 to 200 characters.',
  examples: ['Sign-in page'],
});

export const key = z
  .object({
    object: z.literal('key'),
    id: keyId,
    name: keyName,
    role: role.meta({ description: 'What the key may do. It never changes.' }),
    hint: z.string().meta({
      description: '`lk_key_…` and the last four characters, to tell keys apart.',
      examples: ['lk_key_…9XyZ'],
    }),
    created_at: timestamp.meta({ description: 'When the key was created.' }),
    expires_at: timestamp
      .nullable()
      .meta({ description: 'When the key expires; null if it never does.' }),
    last_used_at: timestamp.nullable().meta({
      description:
        'When the key last authenticated a request, accurate to the minute; null if it never did.',
    }),
  })
  .meta({ id: 'Key', description: 'A credential of the operator, with a role.' });

export const newKey = key
  .extend({
    secret: z.string().meta({
      description: 'The key, `lk_key_…`. It is not shown again.',
      examples: ['lk_key_…'],
    }),
  })
  .meta({ id: 'NewKey', description: 'A new key, which is shown only once.' });

export const keyList = completeList(
  key,
  'KeyList',
  'All keys, newest first; of the expired ones the last 20.',
);

const endpointId = uuid.meta({ description: 'Identifies the endpoint.' });

export const endpoint = z
  .object({
    object: z.literal('endpoint'),
    id: endpointId,
    application_id: uuid
      .nullable()
      .meta({ description: 'The application that is told; null for the host.' }),
    url: z.string().meta({
      description:
        'The address that is told. For keys with the roles `read` and `support`, it is the origin, with `/…` in place of a path and a query.',
      examples: ['https://app.example/latchkey-events'],
    }),
    types: z
      .array(z.enum(eventTypes))
      .nullable()
      .meta({ description: 'What it is told; null for everything. Pings are always sent.' }),
    disabled: z.boolean().meta({ description: 'Whether it is told of nothing.' }),
    disabled_reason: z.enum(endpointDisabledReasons).nullable().meta({
      description:
        '`operator` disabled it, its receiver responded with 410 (`gone`), or each try failed for 5 days (`failing`); null if it is enabled.',
    }),
    created_at: timestamp.meta({ description: 'When the endpoint was created.' }),
    last_success_at: timestamp
      .nullable()
      .meta({ description: 'When a message was last delivered; null for never.' }),
    failing_since: timestamp.nullable().meta({
      description: 'Since when each try has failed; null if the last one did not.',
    }),
  })
  .meta({ id: 'Endpoint', description: 'An address that is told of events.' });

export const newEndpoint = endpoint
  .extend({
    secret: z.string().meta({
      description:
        'Verifies the signatures of messages, `whsec_…` (Standard Webhooks). It is not shown again.',
      examples: ['whsec_…'],
    }),
  })
  .meta({
    id: 'NewEndpoint',
    description: 'An endpoint with a new secret, which is shown only once.',
  });

export const endpointList = list(endpoint, 'EndpointList');

export const attempt = z
  .object({
    at: timestamp.meta({ description: 'When it began.' }),
    duration_ms: z.int().nonnegative().meta({
      description:
        'How many milliseconds it took until the headers of the response, or until it failed.',
    }),
    result: z.enum(attemptResults).meta({
      description:
        '`delivered`; `refused` by a status that is neither 2xx nor 3xx; `redirected` by a 3xx, which is not followed; `timeout`; `connection_failed` without a name, a connection or HTTP; `tls_failed`; `address_refused` if the service may not connect to the address.',
    }),
    status_code: z
      .int()
      .nullable()
      .meta({ description: 'The status of the response; null for none.', examples: [204] }),
  })
  .meta({ id: 'Attempt', description: 'A try of a `Delivery`.' });

export const delivery = z
  .object({
    object: z.literal('delivery'),
    id: uuid.meta({ description: 'Identifies the delivery, for example to retry it.' }),
    endpoint_id: endpointId.meta({ description: 'The endpoint that is told.' }),
    event_id: uuid.meta({
      description: 'The event. Its `webhook-id` is `evt_` and this id, for every endpoint.',
    }),
    type: z.enum(messageTypes).meta({ description: 'What happened.' }),
    grant_id: uuid.nullable().meta({ description: 'The grant that it is about; null for none.' }),
    account_id: uuid
      .nullable()
      .meta({ description: 'The account that it is about; null for none.' }),
    status: z.enum(deliveryStatuses).meta({
      description:
        '`pending`, `delivered`, `failed` if it was given up, or `dropped` if there is nobody to tell any more.',
    }),
    created_at: timestamp.meta({ description: 'When the event happened.' }),
    next_attempt_at: timestamp.nullable().meta({
      description: 'When it is tried next; null during a try, and if it has ended.',
    }),
    attempts: z.array(attempt).meta({ description: 'The last 10 tries, oldest first.' }),
  })
  .meta({ id: 'Delivery', description: 'One event for one endpoint.' });

export const deliveryList = list(delivery, 'DeliveryList');

export const replay = z
  .object({
    object: z.literal('replay'),
    endpoint_id: endpointId,
    count: z.int().nonnegative().meta({ description: 'How many deliveries are due again.' }),
  })
  .meta({ id: 'Replay', description: 'Deliveries that are tried again.' });

export const self = z
  .object({
    object: z.literal('operator'),
    key_id: keyId.nullable().meta({ description: 'The key; null for the ADMIN_SECRET.' }),
    name: keyName.nullable().meta({ description: 'Its name; null for the ADMIN_SECRET.' }),
    role: z
      .enum(['root', ...role.options])
      .meta({ description: 'Its role; `root` for the ADMIN_SECRET, which may do everything.' }),
    may: z
      .array(z.string().meta({ examples: ['admin.grants.list'] }))
      .meta({ description: 'The operations that the caller may call.' }),
  })
  .meta({ id: 'Self', description: 'What the caller is and may do.' });

export const setting = z
  .object({
    name: z.string().meta({
      description: 'The name of the setting, as in `docs/operations/install.md`.',
      examples: ['LOG_LEVEL'],
    }),
    value: z
      .string()
      .nullable()
      .meta({
        description:
          'The value in force, as text. Null if there is none, and always for a secret. DATABASE_URL is without user, password and query.',
        examples: ['info'],
      }),
    source: z.enum(['default', 'environment', 'file']).meta({
      description:
        'Where the value comes from: `default` if it is not set, `environment` for a variable, `file` for a file that NAME_FILE names.',
    }),
  })
  .meta({ id: 'Setting', description: 'A setting in force.' });

export const settings = z
  .object({
    object: z.literal('settings'),
    data: z.array(setting).meta({ description: 'Every setting, in the order of the docs.' }),
  })
  .meta({ id: 'Settings', description: 'The settings in force, without secrets.' });

export const applicationProfile = z
  .object({
    object: z.literal('application_profile'),
    id: uuid.meta({ description: 'Identifies the application.' }),
    document_uri: documentUri,
    name: text.meta({ description: 'The name of the application.', examples: ['Acme'] }),
    logo_uri: z
      .string()
      .nullable()
      .meta({ description: 'The address of its logo; null if it has none.' }),
    homepage_uri: z
      .string()
      .nullable()
      .meta({ description: 'The address of its homepage; null if it has none.' }),
    policy_uri: z
      .string()
      .nullable()
      .meta({ description: 'The address of its privacy policy; null if it has none.' }),
    tos_uri: z
      .string()
      .nullable()
      .meta({ description: 'The address of its terms of service; null if it has none.' }),
    vouched: z.boolean().meta({
      description:
        'Whether the operator vouches for it: it is registered, or its host is listed. Otherwise a stranger says who it is.',
    }),
  })
  .meta({ id: 'ApplicationProfile', description: 'What users see of an application.' });

const count = z.int().nonnegative();

export const connection = z
  .object({
    object: z.literal('connection'),
    application: applicationProfile.meta({ description: 'The application that is connected.' }),
    scopes: z.array(scopeDescription).meta({
      description:
        'What its active grants allow. A scope without a description has its name as title.',
    }),
    choices: z.array(choice).meta({
      description: 'What the user chose for its active grants, each once, by label.',
    }),
    connected_at: timestamp.meta({ description: 'When its oldest active grant was created.' }),
    last_used_at: timestamp.nullable().meta({
      description:
        'When one of its active grants was last used, at most 24 hours too early; null if none was.',
    }),
    grants: z
      .array(
        z.object({
          grant_id: grantHead.grant_id,
          created_at: grantHead.created_at,
          scope,
          choice: choiceOfGrant,
        }),
      )
      .meta({ description: 'Its active grants, newest first; of more than 100 the newest 100.' }),
    grants_total: count.meta({ description: 'How many active grants it has.' }),
  })
  .meta({ id: 'Connection', description: 'An application with active grants of an account.' });

export const connectionList = list(connection, 'ConnectionList', 'by the name of the application');

/** Of what has ended for every reader: whether it is written down too. */
const revocationState = z.enum(['revoking', 'revoked']).meta({
  description:
    'Every grant that was active before the call has ended, and every code, in both states. `revoking`: not all of it is written down yet, which the service does in the background. `revoked`: it is.',
});

export const revokedGrantList = z
  .object({
    object: z.literal('list'),
    data: z.array(revokedGrant).meta({
      description:
        'The grants that were written down as revoked in this call, newest first, at most 1,000. Empty does not mean that there were none.',
    }),
    next_cursor: z.null(),
    state: revocationState,
  })
  .meta({ id: 'RevokedGrantList', description: 'What a disconnect has ended.' });

export const page = z
  .object({
    object: z.literal('page'),
    id: uuid.meta({ description: 'Identifies the page.' }),
    page: z.literal('connections'),
    account_id: uuid.meta({ description: 'The account that the page is about.' }),
    url: z.string().meta({
      description: 'Opens the page once: send the browser there.',
      examples: ['https://link.example/connections?ticket=lk_ticket_…'],
    }),
    expires_at: timestamp.meta({ description: 'Until when the url can be opened.' }),
  })
  .meta({ id: 'Page', description: 'A page for one account.' });

export const pagesEnded = z
  .object({
    object: z.literal('pages_ended'),
    account_id: uuid.meta({ description: 'The account whose pages have ended.' }),
  })
  .meta({ id: 'PagesEnded', description: 'The pages of an account have ended.' });

export const linkStatus = z
  .enum(['open', 'identified', 'approved', 'denied'])
  .meta({ id: 'LinkStatus', description: 'The state of a link request.' });

export const redirectKind = z.enum(['web', 'loopback', 'app']).meta({
  id: 'RedirectKind',
  description:
    'Where an application takes its responses: on the web, or on the device of the user.',
});

export const linkApplication = applicationProfile
  .extend({
    id: uuid.nullable().meta({
      description:
        'Identifies the application. Null if it has a document, and no link of it was approved yet.',
    }),
    public: z.boolean().meta({
      description: 'Whether it has no secret: any program can say that it is this application.',
    }),
  })
  .meta({ id: 'LinkApplication', description: 'The application of a link request.' });

export const linkedResource = z
  .object(resourceHead)
  .meta({ id: 'LinkedResource', description: 'The resource of a link request.' });

export const linkRequest = z
  .object({
    object: z.literal('link_request'),
    id: uuid.meta({ description: 'Identifies the link request.' }),
    status: linkStatus.meta({ description: '`approved` and `denied` are final.' }),
    application: linkApplication.meta({ description: 'The application that asks.' }),
    resource: linkedResource
      .nullable()
      .meta({ description: 'The resource that the grant will be for; null for none.' }),
    scope,
    scopes: z.array(scopeDescription).meta({ description: 'The same scopes with descriptions.' }),
    optional_scope: scope.nullable().meta({
      description: 'What the user can allow besides; null for nothing.',
      examples: ['posts.write'],
    }),
    optional_scopes: z
      .array(scopeDescription)
      .meta({ description: 'The optional scopes with descriptions.' }),
    choice: choice.nullable().meta({
      description:
        'What the user chose, such as a workspace, if it is approved; null otherwise, and for nothing.',
    }),
    redirect_host: z.string().meta({
      description: 'The host of the redirect URI, or its scheme if it is a private one.',
      examples: ['app.example'],
    }),
    redirect_kind: redirectKind.meta({
      description:
        '`web`; `loopback` for a program that listens on the device of the user; `app` for a private scheme.',
    }),
    redirect_vouched: z.boolean().meta({
      description:
        'Whether the operator vouches for the redirect URI. If not, the browser is led there only once the user has allowed it.',
    }),
    account_id: uuid.nullable().meta({
      description: 'The account that the host has identified; null before.',
    }),
    login_hint: z.string().nullable().meta({
      description: 'What the application knows of the user, as it was sent; null for nothing.',
    }),
    ui_locales: z.string().nullable().meta({
      description: 'The languages that the application asks for, as they were sent; null for none.',
    }),
    created_at: timestamp.meta({ description: 'When the application asked.' }),
    expires_at: timestamp.meta({ description: '3600 seconds after it was created.' }),
    grant_id: uuid.nullable().meta({
      description: 'The id of the grant, if it is approved; null otherwise.',
    }),
  })
  .meta({ id: 'LinkRequest', description: 'A request of an application to link an account.' });

export const linkRedirect = linkRequest
  .extend({
    redirect_to: z.string().meta({
      description: 'Redirect the browser there. It contains a credential: do not log it.',
      examples: ['https://app.example/callback?code=lk_code_…&state=…'],
    }),
  })
  .meta({
    id: 'LinkRedirect',
    description: 'A link request, and where the host sends the browser next.',
  });

export const linkIdentification = linkRequest
  .extend({
    redirect_to: linkRedirect.shape.redirect_to.nullable().meta({
      description:
        'The consent page: redirect the browser there. It contains a credential: do not log it. Null with own_page.',
      examples: ['https://link.example/link/0193…?ticket=lk_ticket_…'],
    }),
  })
  .meta({
    id: 'LinkIdentification',
    description:
      'A link request whose account is identified, and where the host sends the browser.',
  });

export const emptyObject = z.object({}).meta({ id: 'Empty', description: 'Nothing.' });

export const tokenResponse = z
  .object({
    access_token: z.string().meta({
      description: 'The secret of the grant. It works until the grant is revoked.',
      examples: ['lk_grant_…'],
    }),
    token_type: z.literal('Bearer'),
    scope,
    grant: fullGrant.meta({ description: 'The same grant as `convert` returns it.' }),
  })
  .meta({
    id: 'TokenResponse',
    description:
      'The response of `/oauth/token` (RFC 6749, section 5.1). There is no `expires_in`.',
  });

export const registeredClient = z
  .object({
    client_id: z.string().meta({
      description: 'An address of the service, which has all that the client says.',
      examples: ['https://link.example/oauth/clients/eyJyZWRpcmVjdF91cmlzIjpbXX0'],
    }),
    client_name: z.string().optional().meta({ description: 'What it calls itself.' }),
    redirect_uris: z.array(z.string()).meta({ description: 'Those that are taken here.' }),
    grant_types: z
      .array(z.literal('authorization_code'))
      .meta({ description: 'Always this one, whatever was asked for.' }),
    response_types: z
      .array(z.literal('code'))
      .meta({ description: 'Always this one, whatever was asked for.' }),
    token_endpoint_auth_method: z
      .literal('none')
      .meta({ description: 'Always this one, whatever was asked for.' }),
  })
  .meta({
    id: 'RegisteredClient',
    description: 'A client that registered itself (RFC 7591). It has no secret.',
  });

export const introspection = z
  .union([
    z.object({
      active: z.literal(true),
      scope,
      client_id: applicationOfGrant,
      token_type: z.literal('Bearer'),
      sub: uuid.meta({ description: 'The id of the account.' }),
      username: text.meta({ description: "The account's username as it is now." }),
      external_id: externalIdOfNow,
      choice: choiceOfGrant,
      iss: z
        .string()
        .meta({ description: 'The address of the service.', examples: ['https://link.example'] }),
      aud: z.string().meta({
        description:
          'What the grant is for: its resource, or the address of the service with `/v1`.',
        examples: ['https://link.example/v1'],
      }),
      iat: z.int().meta({ description: 'When the code was converted, in seconds since 1970.' }),
      grant_id: grantHead.grant_id,
    }),
    z.object({ active: z.literal(false) }),
  ])
  .meta({
    id: 'Introspection',
    description: 'Whether a token is active, and for what (RFC 7662).',
  });

export const applicationList = list(application, 'ApplicationList');
export const grantList = list(grantEntry, 'GrantList');
export const accountList = list(accountEntry, 'AccountList');

const grantsRevoked = z.int().meta({
  description:
    'How many grants were written down as revoked in this call. 0 does not mean that there were none.',
});

export const accountErasure = z
  .object({
    object: z.literal('account_erasure'),
    id: uuid.meta({ description: 'The id of the account.' }),
    state: z.enum(['erasing', 'erased']).meta({
      description:
        'Nothing of the account works, and no reader gets its data, in both states. `erasing`: some of it is still stored, and the service removes it in the background. `erased`: nothing is, also of an account that was never known.',
    }),
    grants_revoked: grantsRevoked,
  })
  .meta({ id: 'AccountErasure', description: 'An erased account.' });

export const grantRevocations = z
  .object({
    object: z.literal('grant_revocations'),
    state: revocationState,
    grants_revoked: grantsRevoked,
    codes_cancelled: z.int().meta({
      description:
        'How many codes, which were not converted, were written down as cancelled in this call.',
    }),
  })
  .meta({ id: 'GrantRevocations', description: 'What a call has ended.' });

export const summaryStep = z
  .object({
    at: timestamp.meta({ description: 'Its beginning.' }),
    created: count.meta({ description: 'How many grants were created.' }),
    revoked: count.meta({ description: 'How many grants were revoked.' }),
    refused: count.meta({ description: 'How many calls were refused.' }),
  })
  .meta({ id: 'SummaryStep', description: 'A part of the time of a `Summary`.' });

export const linkCounts = z
  .object({
    begun: count.meta({ description: 'How many began.' }),
    approved: count.meta({ description: 'How many of them were approved.' }),
    denied: count.meta({ description: 'How many of them were denied.' }),
    expired: count.meta({
      description:
        'How many of them were not decided, and began in an hour that ended at least an hour ago.',
    }),
  })
  .meta({ id: 'LinkCounts', description: 'Link requests, in a `Summary`.' });

export const grantCounts = z
  .object({
    created: count.meta({ description: 'How many codes were converted.' }),
    revoked: z.record(z.string(), count).meta({
      description:
        'How many were revoked, for each reason: `application`, `user` (on a page), `host` (an operator or a command), `account_erased`, `application_deleted`, `idle` or `replaced`. A reason without any is missing.',
    }),
    live: count.nullable().meta({
      description:
        'How many are active now; null before the first count. Counted once a day in the background, and kept up to date in between.',
    }),
  })
  .meta({ id: 'GrantCounts', description: 'Grants, in a `Summary`.' });

export const eventCounts = z
  .object({
    pending: count.meta({
      description:
        'How many deliveries are not ended, and events no deliveries yet; at most 10,000.',
    }),
    oldest_seconds: count.meta({
      description: 'How many seconds ago the oldest of them happened; 0 for none.',
    }),
    failing_endpoints: count.meta({
      description: 'How many enabled endpoints there are whose last try failed.',
    }),
  })
  .meta({
    id: 'EventCounts',
    description: 'Events and endpoints as they are now, in a `Summary`.',
  });

export const summary = z
  .object({
    object: z.literal('summary'),
    since: timestamp.meta({ description: 'The beginning of the first step.' }),
    until: timestamp.meta({ description: 'Now.' }),
    links: linkCounts.meta({ description: 'The link requests that began in the time.' }),
    grants: grantCounts.meta({ description: 'What happened to grants in the time.' }),
    refused: z.record(z.string(), z.record(z.string(), count)).meta({
      description:
        'The refused calls that named an application that exists: how many for each error code, and of these for each reason, as `latchkey explain` has it; `-` without one.',
    }),
    events: eventCounts
      .nullable()
      .meta({ description: 'What is still to be told; null if events are off.' }),
    series: z.array(summaryStep).meta({
      description:
        'Equal steps of whole hours, oldest first, at most 96. The last one is not over.',
    }),
    approximate: z.literal(true),
  })
  .meta({
    id: 'Summary',
    description:
      'What happened in the last hours. Each process adds what it counted once a minute, so a killed one loses its last minute.',
  });

export const codeEntry = z
  .object({
    object: z.literal('oauth_grant'),
    grant_id: uuid.meta({ description: 'The id of the grant that the code would become.' }),
    application_id: uuid.meta({ description: 'The application that can convert it.' }),
    expires_at: timestamp.meta({ description: 'When it expires.' }),
    resource: resourceOfGrant,
    choice: choiceOfGrant,
    scope,
    revoked: z.boolean().meta({ description: 'Whether it was cancelled.' }),
    revoked_at: timestamp
      .nullable()
      .meta({ description: 'When it was cancelled; null if it was not.' }),
    account: accountAtIssue,
  })
  .meta({
    id: 'CodeEntry',
    description: 'A code that was not converted, in an `AccountExport`.',
  });

const errorCode = z.enum(errorCodes).meta({ id: 'ErrorCode' });

const actor = z.enum(['application', 'grant', 'operator', 'command_line', 'user']);
const operationName = z.string().meta({ examples: ['grants.convert'] });
const loggedRequest = z.string().meta({ examples: ['0193aa00-0000-7000-8000-000000000001'] });
const callerAddress = z
  .string()
  .nullable()
  .meta({
    description: 'The address of the caller; null if it is not known.',
    examples: ['203.0.113.7'],
  });
const callerKey = uuid
  .nullable()
  .meta({ description: 'The key of the operator; null if it had none.' });

export const refusal = z
  .object({
    object: z.literal('refusal'),
    at: timestamp.meta({ description: 'When the call was refused.' }),
    request_id: loggedRequest.meta({
      description:
        'Identifies the request. A caller may send the same one with several. `[redacted]` stands for a credential.',
    }),
    operation: operationName.meta({
      description:
        'The operation, such as `grants.convert`; on pages also `links.begin`, `links.switch`, `pages.open` and `pages.done`; of clients that register themselves `clients.register` and `clients.get`.',
    }),
    error_code: errorCode.meta({ description: 'The code that the caller got.' }),
    reason: z
      .string()
      .nullable()
      .meta({
        description:
          'The check that failed, if several have this error code; otherwise null. It is for people: later versions may have others.',
        examples: ['code_replayed'],
      }),
    found: z.string().meta({ description: 'What the check has found, for a person.' }),
    advice: z.string().meta({ description: 'What to do about it, for a person.' }),
    by: actor.nullable().meta({
      description: 'Who called; null if the caller was not authenticated, and its ids are claims.',
    }),
    application_id: uuid.nullable().meta({
      description: 'The application that called or that the call was about; null if unknown.',
    }),
    account_id: uuid.nullable().meta({
      description: 'The account that the call was about; null if unknown.',
    }),
    grant_id: uuid.nullable().meta({
      description: 'The grant, or the grant that the code would become; null if unknown.',
    }),
    key_id: callerKey,
    address: callerAddress,
  })
  .meta({ id: 'Refusal', description: 'A call that was refused, and what to do about it.' });

export const refusalList = list(refusal, 'RefusalList');

export const grantHistoryEntry = z
  .object({
    at: timestamp.meta({ description: 'When it happened.' }),
    what: z.string().meta({
      description:
        '`issued`, `converted`, `recovered`, `first_used` or `revoked`; otherwise the operation that was refused.',
      examples: ['converted'],
    }),
    result: z.string().meta({
      description: '`done`, or the error code of a refusal.',
      examples: ['done'],
    }),
    reason: z
      .string()
      .nullable()
      .meta({
        description:
          'Of `revoked` why it ended: `application`, `user`, `host`, `account_erased`, `application_deleted`, `idle` or `replaced`. Of a refusal the check that failed. Null if there is none.',
        examples: ['user'],
      }),
    by: actor.nullable().meta({
      description: 'Who did it; null if nobody asked for it, or the caller is not known.',
    }),
    application_id: uuid
      .nullable()
      .meta({ description: 'Of a refusal, the application that called; otherwise null.' }),
    secret_id: uuid
      .nullable()
      .meta({ description: 'The secret that the application used; null if it had none.' }),
    key_id: callerKey,
    request_id: loggedRequest
      .nullable()
      .meta({ description: 'Identifies the request in the log; null if there was none.' }),
    address: callerAddress.meta({
      description: 'Of a refusal, the address of the caller, if it is known; otherwise null.',
    }),
    os_user: z
      .string()
      .nullable()
      .meta({
        description: 'The user who ran a command on the database; null if it was none.',
        examples: ['ada'],
      }),
  })
  .meta({
    id: 'GrantHistoryEntry',
    description: 'A change or a refused call, in a `GrantHistory`.',
  });

export const grantHistory = z
  .object({
    object: z.literal('grant_history'),
    grant_id: uuid.meta({ description: 'The grant, or the grant that the code would become.' }),
    application_id: uuid.nullable().meta({
      description: 'The application of the grant; null if only refused calls are known.',
    }),
    account_id: uuid.nullable().meta({
      description: 'The account of the grant; null if it is not known, or no longer.',
    }),
    recoveries: z.int().meta({
      description: 'How many times it was recovered; `data` has the last recovery.',
    }),
    data: z
      .array(grantHistoryEntry)
      .meta({ description: 'What happened to it and what was refused about it, oldest first.' }),
  })
  .meta({ id: 'GrantHistory', description: 'What happened to a grant since its code was issued.' });

export const exportedChange = z
  .object({
    at: timestamp.meta({ description: 'When it happened.' }),
    operation: operationName.meta({
      description:
        'The operation, such as `grants.convert`; `first_use` for the first request with a grant.',
    }),
    by: actor.nullable().meta({ description: 'Who made it; null if that is not known.' }),
    key_id: callerKey,
    grant_id: uuid.meta({ description: 'The grant that it happened to.' }),
    application_id: uuid.nullable().meta({
      description:
        "Of a change, the application of the grant; of a refusal, the caller's, if it is known.",
    }),
    request_id: z.string().nullable().meta({
      description: 'Identifies the request in the log; null if there was none.',
    }),
  })
  .meta({ id: 'ExportedChange', description: 'A change of a grant, in an `AccountExport`.' });

export const exportedRefusal = exportedChange
  .extend({
    grant_id: uuid.nullable().meta({
      description: 'The grant that it was about; null if it was about the account alone.',
    }),
    error_code: errorCode.meta({ description: 'Why it was refused.' }),
  })
  .meta({
    id: 'ExportedRefusal',
    description: 'A refused call about the account or a grant of it, in an `AccountExport`.',
  });

export const accountExport = z
  .object({
    object: z.literal('account_export'),
    account: accountEntry.meta({ description: 'The account as it is now.' }),
    grants: z
      .array(grantEntry)
      .meta({ description: 'The grants, including revoked ones, newest first.' }),
    codes: z
      .array(codeEntry)
      .meta({ description: 'The codes that were not converted, newest first.' }),
    history: z
      .array(exportedChange)
      .meta({ description: 'What happened to the grants and codes, oldest first.' }),
    refusals: z.array(exportedRefusal).meta({
      description:
        'What was refused about the account and its grants, oldest first, as long as refusals are kept.',
    }),
  })
  .meta({
    id: 'AccountExport',
    description: 'Everything that is stored about an account. It has no credential and no hash.',
  });

export const parameterIssue = z
  .object({
    // A number without bounds would become `type: ["string", "number"]`, which oapi-codegen refuses.
    path: z.array(z.union([z.string(), z.int().nonnegative()])).meta({
      description: 'The path to the member, such as `["code"]`; empty for the whole input.',
    }),
    message: z.string().meta({ description: 'What is expected. It never repeats the value.' }),
  })
  .meta({ id: 'ParameterIssue', description: 'One problem with an input.' });

export const errorBody = z
  .object({
    error: z.string().meta({ description: 'The OAuth error word (RFC 6749, section 5.2).' }),
    error_description: z
      .string()
      .meta({ description: 'What happened and what to do next, for a person.' }),
    error_code: errorCode.meta({ description: 'A stable code. Branch on this one.' }),
    error_uri: z.string().meta({ description: 'The paragraph about the error in the docs.' }),
    request_id: z
      .string()
      .meta({ description: 'Identifies the request in the log of the service.' }),
    grant_id: uuid.optional().meta({
      description: 'Present with `code_already_used` and, if known, with `outcome_unknown`.',
    }),
    status: linkStatus.optional().meta({ description: 'Present with `link_decided`.' }),
    redirect_to: z.string().optional().meta({
      description:
        'Present with `link_expired`: send the browser there. It leads back to its application.',
    }),
    issues: z
      .array(parameterIssue)
      .optional()
      .meta({ description: 'Present with `parameter_invalid`.' }),
  })
  .meta({
    id: 'ErrorBody',
    description: 'The body of every error over REST. Over tRPC, it is in `error.data`.',
  });
