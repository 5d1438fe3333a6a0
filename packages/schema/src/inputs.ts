import { z } from 'zod';
import { type DeliveryStatus, deliveryStatuses, eventTypes } from './event-types.ts';
import {
  codeChallenge,
  codeVerifier,
  defaultScopes,
  externalId,
  hostText,
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
import { endpointUrl, logoUri, redirectUri, resource, webUri } from './uris.ts';

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

export const noInput = z.object({});

export const codeInput = z.object({
  code: z
    .string()
    .min(1, 'Must be the code that was issued. It starts with lk_code_.')
    .meta({ examples: ['lk_code_…'] }),
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
    .meta({ examples: ['lk_grant_…'] }),
  token_type_hint: z
    .string()
    .optional()
    .meta({ description: 'Ignored: there is one type of token.' }),
});

export const ownGrantIdInput = z.object({ grant_id: uuid });
export const emptyInput = operatorInput({});
export const grantIdInput = operatorInput({ grant_id: uuid });
export const applicationIdInput = operatorInput({ application_id: uuid });
export const accountIdInput = operatorInput({ account_id: uuid });

const wholeNumber = (most: number) =>
  z
    .int('Must be a whole number.')
    .min(1, 'Must be at least 1.')
    .max(most, `Must be at most ${most}.`);

const applicationMembers = {
  name: text.meta({ examples: ['Acme'] }),
  redirect_uris: z
    .array(redirectUri)
    .max(20, 'Must be at most 20 redirect URIs.')
    .refine(isDistinct, 'Must be different redirect URIs.')
    .meta({
      description:
        'The redirect URIs. One must be sent unchanged; only the port of a loopback address may differ.',
    }),
  scopes: z
    .array(scopeToken)
    .max(200, 'Must be at most 200 scopes.')
    .refine(isDistinct, 'Must be different scopes.')
    .nullable()
    .meta({ description: 'The scopes it may ask for; null for every described one.' }),
  default_scopes: defaultScopes.nullable().meta({
    description:
      'The scopes of a request that names none, as far as it can ask for them; null for none.',
  }),
  logo_uri: logoUri.nullable().meta({ description: 'Shown on the consent page.' }),
  homepage_uri: webUri.nullable().meta({ description: 'Linked on the consent page.' }),
  policy_uri: webUri
    .nullable()
    .meta({ description: 'Its privacy policy, linked on the consent page.' }),
  tos_uri: webUri
    .nullable()
    .meta({ description: 'Its terms of service, linked on the consent page.' }),
  resource_server: z
    .boolean()
    .meta({ description: 'Whether it may introspect the grants of every application.' }),
  challenge_required: z.boolean().meta({
    description:
      'Whether each of its authorization requests needs a code_challenge; those of a public application do.',
  }),
  idle_days: wholeNumber(3650)
    .nullable()
    .meta({ description: 'Days after which a grant that is not used ends; null for never.' }),
  grants_per_account: wholeNumber(100).nullable().meta({
    description:
      'How many grants of one account stay after a conversion, the newest ones; null for all.',
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
  application_id: uuid,
  ...z.object(applicationMembers).partial().shape,
});

export const scopeNameInput = operatorInput({ scope: scopeToken });

const scopeTitle = textOf(100).meta({ examples: ['Read your profile'] });
const scopeDescription = textOf(300)
  .nullable()
  .meta({ examples: ['Your name and your picture.'] });

export const scopeInput = operatorInput({
  scope: scopeToken,
  title: scopeTitle,
  description: scopeDescription.default(null),
  texts: z
    .record(
      languageTag,
      operatorInput({ title: scopeTitle, description: scopeDescription.optional() }),
    )
    .refine((texts) => Object.keys(texts).length <= 20, 'Must be at most 20 languages.')
    .default({})
    .meta({ description: 'The same in other languages, by language tag (BCP 47).' }),
  sensitive: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether it lets an application act, or costs something.' }),
});

const resourceMembers = {
  name: textOf(60).meta({ description: 'The name that users see.', examples: ['Notes'] }),
  scopes: scopeTokens.nullable().meta({
    description: 'The scopes that can be asked for with it; null for every described one.',
  }),
  default_scopes: defaultScopes.nullable().meta({
    description:
      'The scopes of a request that names none, all within scopes; null for those of the application.',
  }),
};

export const resourceInput = operatorInput({
  resource: resource.meta({ description: 'The address of the server that the grants are for.' }),
  name: resourceMembers.name,
  scopes: resourceMembers.scopes.default(null),
  default_scopes: resourceMembers.default_scopes.default(null),
});

export const resourceUpdateInput = operatorInput({
  resource_id: uuid,
  ...z.object(resourceMembers).partial().shape,
  resource: z
    .unknown()
    .optional()
    .meta({ description: 'Ignored: the address of a resource never changes.' }),
});

export const resourceIdInput = operatorInput({ resource_id: uuid });

export const keyInput = operatorInput({
  name: text.meta({ description: 'Who or what uses the key.', examples: ['Sign-in page'] }),
  role: role.meta({ description: 'What the key may do. It never changes.', examples: ['host'] }),
  expires_at: moment
    .nullable()
    .default(null)
    .meta({ description: 'When the key stops working. Default: never.' }),
});

export const keyIdInput = operatorInput({ key_id: uuid });

export const connectionInput = operatorInput({ account_id: uuid, application_id: uuid });

const locale = languageTag
  .optional()
  .meta({ description: 'The language of the page. Default: that of the browser.' });

export const pageCreateInput = operatorInput({
  page: z.literal('connections', 'Must be connections.'),
  account_id: uuid,
  return_url: webUri.optional().meta({
    description: 'The address that the page links back to.',
    examples: ['https://host.example/'],
  }),
  locale,
});

const link = z
  .string()
  .min(1, 'Must be the link that came to the sign-in page. It starts with lk_link_.')
  .meta({ description: 'The link that came to the sign-in page.', examples: ['lk_link_…'] });

export const linkInput = operatorInput({ link });
export const linkIdentifyInput = operatorInput({
  link,
  account_id: uuid,
  locale,
  own_page: z.boolean().optional().meta({
    description: 'Whether the host asks the user on a page of its own. Default: false.',
  }),
});
export const linkApproveInput = operatorInput({
  link,
  account_id: uuid,
  scope: scope
    .optional()
    .meta({ description: 'A part of the scope that was asked for. Default: all of it.' }),
});

export const secretInput = operatorInput({
  application_id: uuid,
  expires_at: moment
    .nullable()
    .default(null)
    .meta({ description: 'When the secret expires, in the future; null for never.' }),
});

export const secretIdInput = operatorInput({ application_id: uuid, secret_id: uuid });

export const accountInput = operatorInput({
  account_id: uuid,
  username: hostText
    .refine((name) => name !== '', 'Must be 1 to 200 characters, at least one of which shows.')
    .meta({ minLength: 1, examples: ['ada'] }),
  display_name: hostText
    .optional()
    .meta({ description: 'Defaults to the username.', examples: ['Ada Lovelace'] }),
  twitter: hostText
    .nullable()
    .default(null)
    .meta({ description: 'A social handle of the account.', examples: ['ada'] }),
  verified: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether the service marks the account as verified.' }),
  supporter: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether the service marks the account as a supporter.' }),
  external_id: externalId.nullable().default(null).meta({
    description: "The service's own id of the account. Every linked application sees it.",
  }),
});

export const codeIssueInput = operatorInput({
  application_id: uuid,
  account_id: uuid,
  scope,
  redirect_uri: redirectUri
    .optional()
    .meta({ description: 'Binds the code to a redirect URI, registered or not.' }),
  code_challenge: codeChallenge
    .optional()
    .meta({ description: 'Binds the code to a verifier (RFC 7636, S256).' }),
  resource: z
    .string()
    .optional()
    .meta({
      description: 'The registered resource that the grant is for. Default: none.',
      examples: ['https://mcp.example/mcp'],
    }),
});

const listMembers = {
  limit: wholeNumber(100)
    .default(50)
    .meta({ description: 'The maximum number of entries on a page.' }),
  cursor: z
    .string()
    .regex(/^[0-9A-Za-z_-]{21}[AQgw]$/, 'Must be the next_cursor of the previous page.')
    .optional()
    .meta({ description: 'The next_cursor of the previous page.' }),
};

export const listInput = operatorInput(listMembers);

export const summaryInput = operatorInput({
  hours: wholeNumber(720).default(24).meta({ description: 'How many hours to go back.' }),
});

export const applicationListInput = operatorInput({
  documents: z
    .boolean()
    .optional()
    .meta({ description: 'Whether they have a document. Default: all.' }),
  ...listMembers,
});

// Versions of zod differ in whether they check further after an unknown member.
const isTypedWell = ({ issues }: { issues: unknown[] }) => issues.length === 0;

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

const grantFilter = { account_id: uuid.optional(), application_id: uuid.optional() };
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
    description: 'The address that is told.',
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
    .meta({ description: 'What it is told; null for everything.' }),
};

export const endpointInput = operatorInput({
  url: endpointMembers.url,
  application_id: uuid
    .nullable()
    .default(null)
    .meta({ description: 'The application that is told; null for the host.' }),
  types: endpointMembers.types.default(null),
});

export const endpointListInput = operatorInput({
  application_id: uuid
    .optional()
    .meta({ description: 'Only the endpoints of this application. Default: all.' }),
  ...listMembers,
});

export const endpointIdInput = operatorInput({ endpoint_id: uuid });

export const endpointUpdateInput = operatorInput({
  endpoint_id: uuid,
  ...z.object(endpointMembers).partial().shape,
  disabled: z.boolean().optional().meta({ description: 'Whether it is told of nothing.' }),
});

const MAX_OVERLAP_SECONDS = 604_800;

export const endpointRotationInput = operatorInput({
  endpoint_id: uuid,
  overlap_seconds: z
    .int('Must be a whole number.')
    .min(0, 'Must be at least 0.')
    .max(MAX_OVERLAP_SECONDS, `Must be at most ${MAX_OVERLAP_SECONDS}.`)
    .default(86_400)
    .meta({ description: 'For how many seconds messages are signed with the old secret too.' }),
});

export const replayInput = operatorInput({
  endpoint_id: uuid,
  since: moment.meta({
    description: 'Only deliveries that ended from then on. It must not lie in the future.',
    examples: ['2026-11-21T00:00:00Z'],
  }),
});

/** The inputs that pass the refinement below. zod infers no type from it. */
type DeliveryFilter = (
  | { endpoint_id: string; grant_id?: undefined }
  | { endpoint_id?: undefined; grant_id: string }
) & { status?: DeliveryStatus | undefined };

export const deliveryListInput = operatorInput({
  endpoint_id: uuid.optional(),
  grant_id: uuid.optional(),
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

export const deliveryIdInput = operatorInput({ delivery_id: uuid });

const refusalFilter = {
  request_id: z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, 'Must be 1 to 200 characters of printable ASCII without spaces.')
    .meta({ minLength: 1, maxLength: 200, examples: ['0193aa00-0000-7000-8000-000000000001'] }),
  application_id: uuid,
  account_id: uuid,
  grant_id: uuid,
};

export const refusalListInput = operatorInput({
  ...z.object(refusalFilter).partial().shape,
  since: moment
    .optional()
    .meta({ description: 'Only refusals from then on. It must not lie in the future.' }),
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
