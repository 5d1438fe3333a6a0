import { z } from 'zod';
import { type DeliveryStatus, deliveryStatuses, eventTypes } from './event-types.ts';
import {
  codeChallenge,
  codeVerifier,
  defaultScopes,
  externalId,
  hostId,
  hostText,
  hostTextOf,
  isDistinct,
  languageTag,
  moment,
  role,
  scope,
  scopeToken,
  scopeTokens,
  text,
  textOf,
  uuid,
} from './fields.ts';
import { nearestName } from './nearest-name.ts';
import { endpointUrl, logoUri, MOST_REDIRECT_URIS, redirectUri, resource, webUri } from './uris.ts';

// The inputs of the operations. Each is one flat object that includes the identifiers from the path.
// Applications may send unknown members, which are ignored: they also talk to other services.

/** An input of the operator: a member with a letter wrong would be left out unnoticed. */
const operatorInput = <Shape extends z.ZodRawShape>(members: Shape) =>
  z.strictObject(members, {
    error(issue) {
      if (issue.code !== 'unrecognized_keys') return undefined;
      const known = Object.keys(members);
      const [first = '', ...more] = issue.keys as string[];
      const meant = nearestName(first, known);
      return [
        'There is no such member.',
        meant === undefined
          ? `The members are ${known.join(', ') || 'none'}.`
          : `${meant} was probably meant.`,
        ...(more.length > 0 ? [`Unknown members besides: ${more.length}.`] : []),
      ].join(' ');
    },
  });

// Versions of zod differ in whether they check further after an unknown member.
const isTypedWell = ({ issues }: { issues: unknown[] }) => issues.length === 0;

const idOf = (what: string) => uuid.meta({ description: `The id of ${what}.` });
const applicationId = idOf('the application');
const accountId = uuid.meta({
  description: 'The id of the account: a UUID that the host chooses.',
});
const grantId = uuid.meta({
  description: 'The id of the grant. Its code has the same id.',
});
const endpointId = idOf('the endpoint');
const resourceId = uuid.meta({
  description: 'The id of the resource, which is not its address.',
});

export const noInput = z.object({});

export const codeInput = z.object({
  code: z
    .string()
    .min(1, 'Must be the code that was issued. It starts with lk_code_.')
    .meta({ description: 'The code that the browser brought.', examples: ['lk_code_…'] }),
  redirect_uri: z
    .string()
    .optional()
    .meta({
      description: 'The redirect URI that the browser was sent to, if the code is bound to one.',
      examples: ['https://app.example/callback'],
    }),
  code_verifier: codeVerifier
    .optional()
    .meta({ description: 'The verifier of the challenge, if the code has one (RFC 7636).' }),
  resource: z
    .string()
    .optional()
    .meta({
      description: 'The resource that the code is for (RFC 8707); it may be left out.',
      examples: ['https://mcp.example/mcp'],
    }),
});

export const tokenInput = z.object({
  token: z
    .string()
    .min(1, 'Must be the secret of a grant. It starts with lk_grant_.')
    .meta({ description: 'The secret of a grant.', examples: ['lk_grant_…'] }),
  token_type_hint: z
    .string()
    .optional()
    .meta({ description: 'Ignored: there is one type of token.' }),
});

const listWith = (item: string) =>
  z
    .array(z.unknown(), `Must be a list that has ${item}.`)
    .refine((list) => list.includes(item), `Must be a list that has ${item}.`)
    .optional()
    .meta({ items: { type: 'string' }, examples: [[item]] });

/** RFC 7591, section 2. Each redirect URI is judged later: the ones that are not taken are left out. */
export const registrationInput = z.object({
  client_name: z
    .unknown()
    .optional()
    .meta({
      description: 'What the client calls itself. What is no text counts as left out.',
      examples: ['Cursor'],
    }),
  redirect_uris: z
    .array(z.string('Must be a text.'), 'Must be a list of redirect URIs.')
    .min(1, 'Must be at least one redirect URI.')
    .max(MOST_REDIRECT_URIS, `Must be at most ${MOST_REDIRECT_URIS} redirect URIs.`)
    .meta({ examples: [['http://localhost/callback']] }),
  grant_types: listWith('authorization_code'),
  response_types: listWith('code'),
});

export const ownGrantIdInput = z.object({ grant_id: grantId });
export const emptyInput = operatorInput({});
export const grantIdInput = operatorInput({ grant_id: grantId });
export const applicationIdInput = operatorInput({ application_id: applicationId });
export const accountIdInput = operatorInput({ account_id: accountId });

const wholeNumber = (most: number) =>
  z
    .int('Must be a whole number.')
    .min(1, 'Must be at least 1.')
    .max(most, `Must be at most ${most}.`);

const applicationMembers = {
  name: text.meta({
    description: 'Its name, as users see it on the consent page: 1 to 200 characters.',
    examples: ['Acme'],
  }),
  redirect_uris: z
    .array(redirectUri)
    .max(MOST_REDIRECT_URIS, `Must be at most ${MOST_REDIRECT_URIS} redirect URIs.`)
    .refine(isDistinct, 'Must be different redirect URIs.')
    .meta({
      description:
        'Where it may have users sent back to. It must send one of them unchanged; only the port of a loopback address may differ.',
    }),
  scopes: z
    .array(scopeToken)
    .max(200, 'Must be at most 200 scopes.')
    .refine(isDistinct, 'Must be different scopes.')
    .nullable()
    .meta({ description: 'The scopes that it may ask for; null for every described one.' }),
  default_scopes: defaultScopes.nullable().meta({
    description:
      'The scopes of its requests that name none, as far as it may ask for them; null for none.',
  }),
  logo_uri: logoUri.nullable().meta({
    description:
      'Its logo on the consent page: an https: address, or a data: URL of an image; null for its initials.',
  }),
  homepage_uri: webUri.nullable().meta({
    description: 'The address of its home page, linked on the consent page; null for none.',
  }),
  policy_uri: webUri.nullable().meta({
    description: 'The address of its privacy policy, linked on the consent page; null for none.',
  }),
  tos_uri: webUri.nullable().meta({
    description: 'The address of its terms of service, linked on the consent page; null for none.',
  }),
  resource_server: z.boolean().meta({
    description: 'Whether it may introspect the grants of every application, not only its own.',
  }),
  challenge_required: z.boolean().meta({
    description:
      'Whether each of its authorization requests needs a code_challenge (PKCE); those of a public application always do.',
  }),
  idle_days: wholeNumber(3650)
    .nullable()
    .meta({ description: 'The days without use after which a grant ends; null for never.' }),
  grants_per_account: wholeNumber(100).nullable().meta({
    description:
      'How many grants of one account it keeps: a conversion ends the oldest ones beyond them; null for all.',
  }),
};

export const applicationInput = operatorInput({
  name: applicationMembers.name,
  redirect_uris: applicationMembers.redirect_uris.default([]),
  scopes: applicationMembers.scopes.default(null),
  default_scopes: applicationMembers.default_scopes.default(null),
  logo_uri: applicationMembers.logo_uri.default(null),
  homepage_uri: applicationMembers.homepage_uri.default(null),
  policy_uri: applicationMembers.policy_uri.default(null),
  tos_uri: applicationMembers.tos_uri.default(null),
  public: z.boolean().default(false).meta({
    description:
      'Whether it has no secret, because it could not keep one: a native application or a command line.',
  }),
  resource_server: applicationMembers.resource_server.default(false),
  challenge_required: applicationMembers.challenge_required.default(false),
  idle_days: applicationMembers.idle_days.default(null),
  grants_per_account: applicationMembers.grants_per_account.default(null),
});

export const applicationUpdateInput = operatorInput({
  application_id: applicationId,
  ...z.object(applicationMembers).partial().shape,
});

const scopeName = scopeToken.meta({ description: 'The scope, as applications send it.' });

export const scopeNameInput = operatorInput({ scope: scopeName });

const scopeTitle = textOf(100).meta({
  description: 'What a user allows, in a few words: 1 to 100 characters.',
  examples: ['Read your profile'],
});
const scopeDescription = textOf(300)
  .nullable()
  .meta({
    description: 'More about it, below the title: 1 to 300 characters; null for nothing.',
    examples: ['Your name and your picture.'],
  });

export const scopeInput = operatorInput({
  scope: scopeName,
  title: scopeTitle,
  description: scopeDescription.default(null),
  texts: z
    .record(
      languageTag,
      operatorInput({ title: scopeTitle, description: scopeDescription.optional() }),
    )
    .refine((texts) => Object.keys(texts).length <= 20, 'Must be at most 20 languages.')
    .default({})
    .meta({ description: 'Title and description in other languages, by language tag (BCP 47).' }),
  sensitive: z.boolean().default(false).meta({
    description:
      'Whether it lets an application act for the user, or costs something. The consent page points it out.',
  }),
});

const resourceMembers = {
  name: textOf(60).meta({
    description: 'Its name, as users see it on the consent page: 1 to 60 characters.',
    examples: ['Notes'],
  }),
  scopes: scopeTokens.nullable().meta({
    description: 'The scopes that can be asked for with it; null for every described one.',
  }),
  default_scopes: defaultScopes.nullable().meta({
    description:
      'The scopes of requests for it that name none, each of them among its scopes; null for those of the application.',
  }),
};

export const resourceInput = operatorInput({
  resource: resource.meta({
    description: 'The address of the server that grants can be for. It never changes.',
  }),
  name: resourceMembers.name,
  scopes: resourceMembers.scopes.default(null),
  default_scopes: resourceMembers.default_scopes.default(null),
});

export const resourceUpdateInput = operatorInput({
  resource_id: resourceId,
  ...z.object(resourceMembers).partial().shape,
  resource: z
    .unknown()
    .optional()
    .meta({ description: 'Ignored: the address of a resource never changes.' }),
});

export const resourceIdInput = operatorInput({ resource_id: resourceId });

export const keyInput = operatorInput({
  name: text.meta({
    description: 'Who or what uses the key, for you: 1 to 200 characters.',
    examples: ['Sign-in page'],
  }),
  role: role.meta({
    description:
      'What the key may do, for good: read looks things up, host is the backend of the sign-in page, support also ends what a user asks to end, operate does everything except keys.',
    examples: ['host'],
  }),
  expires_at: moment.nullable().default(null).meta({
    description: 'When the key stops working, which must lie in the future; null for never.',
  }),
});

export const keyIdInput = operatorInput({ key_id: idOf('the key') });

export const connectionInput = operatorInput({
  account_id: accountId,
  application_id: applicationId,
});

const locale = languageTag.optional().meta({
  description: 'The language of the page, such as de or pt-BR. Default: that of the browser.',
});

export const pageCreateInput = operatorInput({
  page: z.literal('connections', 'Must be connections.').meta({
    description: 'Which page: the one where a user sees and ends the connected applications.',
  }),
  account_id: accountId,
  return_url: webUri.optional().meta({
    description: 'The address that the page links back to. Default: none.',
    examples: ['https://host.example/'],
  }),
  locale,
});

const link = z
  .string()
  .min(1, 'Must be the link that came to the sign-in page. It starts with lk_link_.')
  .meta({ description: 'The link that came to the sign-in page.', examples: ['lk_link_…'] });

const choiceOption = operatorInput({
  id: hostId.meta({ description: "The host's own id of it.", examples: ['ws-7'] }),
  label: hostTextOf(100)
    .optional()
    .meta({ description: 'What the user sees of it. Default: the id.', examples: ['Acme Inc.'] }),
});

const MAX_QUESTION_BYTES = 16_384;
// This package has no types of Node.js or browsers, and so no TextEncoder.
const utf8Bytes = (text: string) => encodeURIComponent(text).replace(/%../g, '.').length;

/** It is kept with the page. */
const choiceQuestion = operatorInput({
  title: hostTextOf(100)
    .refine((title) => title !== '', 'Must be 1 to 100 characters, at least one of which shows.')
    .meta({
      description: 'The question that the page asks.',
      minLength: 1,
      examples: ['Which workspace?'],
    }),
  options: z
    .array(choiceOption)
    .min(1, 'Must be at least one option.')
    .max(100, 'Must be at most 100 options.')
    .refine((options) => isDistinct(options.map(({ id }) => id)), 'Must have different ids.')
    .meta({ description: 'What the user can choose.' }),
}).refine((question) => utf8Bytes(JSON.stringify(question)) <= MAX_QUESTION_BYTES, {
  error: `Must be at most ${MAX_QUESTION_BYTES} bytes as JSON.`,
  when: isTypedWell,
});

const choice = choiceOption.nullable().default(null).meta({
  description: 'What the user has chosen, such as a workspace; null for nothing.',
});

export const linkInput = operatorInput({ link });
export const linkIdentifyInput = operatorInput({
  link,
  account_id: accountId,
  locale,
  own_page: z.boolean().optional().meta({
    description:
      'Whether the host asks the user on a page of its own, instead of on that of the service.',
  }),
  choice: choiceQuestion.nullable().default(null).meta({
    description: 'What the page asks besides, such as which workspace; null for nothing.',
  }),
}).refine(({ own_page, choice }) => !own_page || choice === null, {
  path: ['choice'],
  error: 'Must be left out with own_page: the page of the host asks itself.',
  when: isTypedWell,
});
export const linkApproveInput = operatorInput({
  link,
  account_id: accountId,
  scope: scope.optional().meta({
    description:
      'The part of scope and optional_scope of the link request that the user allows, with spaces between scopes. Default: its scope.',
  }),
  choice,
});

export const secretInput = operatorInput({
  application_id: applicationId,
  expires_at: moment.nullable().default(null).meta({
    description: 'When the secret stops working, which must lie in the future; null for never.',
  }),
});

export const secretIdInput = operatorInput({
  application_id: applicationId,
  secret_id: uuid.meta({
    description: 'The id of the secret, as its application lists it; not the secret itself.',
  }),
});

export const accountInput = operatorInput({
  account_id: accountId,
  username: hostText
    .refine((name) => name !== '', 'Must be 1 to 200 characters, at least one of which shows.')
    .meta({
      description:
        'The name that the account has at the host: 1 to 200 characters. It may change and need not be unique.',
      minLength: 1,
      examples: ['ada'],
    }),
  display_name: hostText.optional().meta({
    description: "The name of the account's owner, at most 200 characters. Default: the username.",
    examples: ['Ada Lovelace'],
  }),
  twitter: hostText
    .nullable()
    .default(null)
    .meta({
      description: 'A social handle of the account, at most 200 characters; null for none.',
      examples: ['ada'],
    }),
  verified: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether the service marks the account as verified.' }),
  supporter: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether the service marks the account as a supporter.' }),
  external_id: externalId.nullable().default(null).meta({
    description:
      "The service's own id of the account. Every linked application sees it; null for none.",
  }),
});

export const codeIssueInput = operatorInput({
  application_id: applicationId,
  account_id: accountId,
  scope: scope.meta({
    description: 'What the grant allows: scopes with single spaces between them.',
  }),
  redirect_uri: redirectUri.optional().meta({
    description:
      'The redirect URI that a conversion of the code has to send, registered or not. Default: none.',
  }),
  code_challenge: codeChallenge.optional().meta({
    description:
      'The challenge of the verifier that a conversion has to send (RFC 7636, S256). Default: none.',
  }),
  resource: z
    .string()
    .optional()
    .meta({
      description: 'The address of the registered resource that the grant is for. Default: none.',
      examples: ['https://mcp.example/mcp'],
    }),
  choice,
});

const listMembersWith = (cursor: RegExp) => ({
  limit: wholeNumber(100)
    .default(50)
    .meta({ description: 'How many entries a page has at the most.' }),
  cursor: z
    .string()
    .regex(cursor, 'Must be the next_cursor of the previous page.')
    .optional()
    .meta({ description: 'The next_cursor of the previous page. Default: the first page.' }),
});

const listMembers = listMembersWith(/^[0-9A-Za-z_-]{21}[AQgw]$/);

export const listInput = operatorInput(listMembers);

export const summaryInput = operatorInput({
  hours: wholeNumber(720).default(24).meta({ description: 'How many hours to go back from now.' }),
});

export const applicationListInput = operatorInput({
  documents: z.boolean().optional().meta({
    description:
      'Only applications that have a client document; false for only those that have none. Default: all.',
  }),
  ...listMembers,
});

const documentUri = z
  .string()
  .min(1)
  .max(500)
  .meta({
    description: 'The address of the document, character for character.',
    examples: ['https://app.example/oauth-client.json'],
  });

export const documentPinInput = operatorInput({
  document_uri: documentUri,
  document: z.record(z.string(), z.unknown()).meta({
    description: 'The document itself, at most 10 KiB as JSON.',
    examples: [
      {
        client_id: 'https://app.example/oauth-client.json',
        client_name: 'Acme',
        redirect_uris: ['https://app.example/callback'],
      },
    ],
  }),
});

export const documentUriInput = operatorInput({ document_uri: documentUri });

export const documentListInput = operatorInput({
  pinned: z.boolean().optional().meta({ description: 'Whether they are pinned. Default: all.' }),
  ...listMembersWith(/^[0-9A-Za-z_-]{11,667}$/),
});

export const connectionListInput = operatorInput({
  account_id: accountId,
  ...listMembersWith(/^[0-9A-Za-z_-]{23,1100}$/),
});

export const accountListInput = operatorInput({
  username: hostText
    .optional()
    .meta({ description: 'Only accounts with exactly this username.', examples: ['ada'] }),
  external_id: externalId
    .optional()
    .meta({ description: 'Only accounts with exactly this external id.' }),
  ...listMembers,
}).refine(({ username, external_id }) => username === undefined || external_id === undefined, {
  error: 'Give at most one of username and external_id.',
  when: isTypedWell,
});

/** The inputs that pass the refinement below. zod infers no type from it. */
type GrantFilter =
  | { account_id: string; application_id?: undefined }
  | { account_id?: undefined; application_id: string };

const grantFilter = {
  account_id: accountId.optional(),
  application_id: applicationId.optional(),
};
const isOfOneParty = ({ account_id, application_id }: { [Name in keyof GrantFilter]?: unknown }) =>
  (account_id === undefined) !== (application_id === undefined);
const exactlyOneParty = {
  error: 'Give exactly one of account_id and application_id.',
  when: isTypedWell,
};

export const grantFilterInput = operatorInput(grantFilter).refine(
  isOfOneParty,
  exactlyOneParty,
) as z.ZodType<GrantFilter, GrantFilter>;

export const grantListInput = operatorInput({
  ...grantFilter,
  ...listMembers,
}).refine(isOfOneParty, exactlyOneParty) as z.ZodType<
  GrantFilter & z.output<typeof listInput>,
  GrantFilter & z.input<typeof listInput>
>;

const endpointMembers = {
  url: endpointUrl.meta({
    description: 'The address that messages are sent to.',
  }),
  types: z
    .array(
      z.enum(
        eventTypes,
        `Must be one of ${eventTypes.slice(0, -1).join(', ')} and ${eventTypes.at(-1)}.`,
      ),
    )
    .min(1, 'Must be at least one type.')
    .refine(isDistinct, 'Must be different types.')
    .overwrite((types) => eventTypes.filter((type) => types.includes(type)))
    .nullable()
    .meta({
      description: 'The types of events that it is told of; null for all that it can be told of.',
    }),
};

export const endpointInput = operatorInput({
  url: endpointMembers.url,
  application_id: uuid.nullable().default(null).meta({
    description: 'The id of the application that it belongs to; null for the host.',
  }),
  types: endpointMembers.types.default(null),
});

export const endpointListInput = operatorInput({
  application_id: uuid
    .optional()
    .meta({ description: 'Only the endpoints of the application with this id. Default: all.' }),
  ...listMembers,
});

export const endpointIdInput = operatorInput({ endpoint_id: endpointId });

export const endpointUpdateInput = operatorInput({
  endpoint_id: endpointId,
  ...z.object(endpointMembers).partial().shape,
  disabled: z
    .boolean()
    .optional()
    .meta({ description: 'Whether nothing is sent to it; false to send again.' }),
});

const MAX_OVERLAP_SECONDS = 604_800;

export const endpointRotationInput = operatorInput({
  endpoint_id: endpointId,
  overlap_seconds: z
    .int('Must be a whole number.')
    .min(0, 'Must be at least 0.')
    .max(MAX_OVERLAP_SECONDS, `Must be at most ${MAX_OVERLAP_SECONDS}.`)
    .default(86_400)
    .meta({
      description:
        'For how many seconds messages are signed with the old secret too: 86400 is a day, 604800 a week.',
    }),
});

export const replayInput = operatorInput({
  endpoint_id: endpointId,
  since: moment.meta({
    description:
      'Only deliveries that ended at this moment or later, which must not lie in the future.',
    examples: ['2026-11-21T00:00:00Z'],
  }),
});

/** The inputs that pass the refinement below. zod infers no type from it. */
type DeliveryFilter = (
  | { endpoint_id: string; grant_id?: undefined }
  | { endpoint_id?: undefined; grant_id: string }
) & { status?: DeliveryStatus | undefined };

export const deliveryListInput = operatorInput({
  endpoint_id: endpointId.optional(),
  grant_id: grantId.optional(),
  status: z
    .enum(deliveryStatuses, 'Must be pending, delivered, failed or dropped.')
    .optional()
    .meta({ description: 'Only deliveries with this status.', examples: ['failed'] }),
  ...listMembers,
}).refine(({ endpoint_id, grant_id }) => (endpoint_id === undefined) !== (grant_id === undefined), {
  error: 'Give exactly one of endpoint_id and grant_id.',
  when: isTypedWell,
}) as z.ZodType<
  DeliveryFilter & z.output<typeof listInput>,
  DeliveryFilter & z.input<typeof listInput>
>;

export const deliveryIdInput = operatorInput({ delivery_id: idOf('the delivery') });

const refusalFilter = {
  request_id: z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, 'Must be 1 to 200 characters of printable ASCII without spaces.')
    .meta({
      description: 'The X-Request-Id of the response, which is the request_id of its error.',
      minLength: 1,
      maxLength: 200,
      examples: ['0193aa00-0000-7000-8000-000000000001'],
    }),
  application_id: applicationId,
  account_id: accountId,
  grant_id: grantId,
};

export const refusalListInput = operatorInput({
  ...z.object(refusalFilter).partial().shape,
  since: moment.optional().meta({
    description: 'Only refusals of this moment or later, which must not lie in the future.',
  }),
  ...listMembers,
}).refine(
  (input) =>
    Object.keys(refusalFilter).filter((name) => input[name as keyof typeof input] !== undefined)
      .length <= 1,
  {
    error: 'Give at most one of request_id, application_id, account_id and grant_id.',
    when: isTypedWell,
  },
);
