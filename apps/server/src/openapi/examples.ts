import { meaningOf } from '@latchkey/rules/audit/explain';
import {
  type Account,
  type AccountEntry,
  type Application,
  type ApplicationSecret,
  credentialHint,
  type Delivery,
  type Endpoint,
  formatCredential,
  type Key,
  type LinkRequest,
  type OperationContract,
  type OperationInput,
  type OperationName,
  type OperationOutput,
  operationNames,
  operations,
  type Resource,
  type Scope,
} from '@latchkey/schema';

export interface Example<Name extends OperationName> {
  input: OperationInput<Name>;
  output: OperationOutput<Name>;
}

// The credentials are well formed, for mock servers and clients. Their random part is no secret: it
// is the bytes 0 to 31.
const APPLICATION = '0193aa00-0000-7000-8000-0000000000a0';
const ACCOUNT = '0193aa00-0000-7000-8000-0000000000b0';
export const GRANT = '0193aa00-0000-7000-8000-0000000000c0';
const SECRET = '0193aa00-0000-7000-8000-0000000000d0';
const LINK = '0193aa00-0000-7000-8000-0000000000e0';
const PAGE = '0193aa00-0000-7000-8000-0000000000f0';
const KEY = '0193aa00-0000-7000-8000-000000000110';
const REQUEST = '0193aa00-0000-7000-8000-0000000000fe';
const RESOURCE = '0193aa00-0000-7000-8000-000000000100';
const ENDPOINT = '0193aa00-0000-7000-8000-000000000120';
const DELIVERY = '0193aa00-0000-7000-8000-000000000130';
const EVENT = '0193aa00-0000-8000-8000-000000000140';

// RFC 7636, appendix B.
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
export const CALLBACK = 'https://acme.example/callback';
const ISSUER = 'https://latchkey.example';

const counting = Uint8Array.from({ length: 32 }, (_, index) => index);
const applicationSecret = formatCredential('applicationSecret', APPLICATION, counting);
const code = formatCredential('code', GRANT, counting);
const grantSecret = formatCredential('grantSecret', GRANT, counting);
const link = formatCredential('link', LINK, counting);
const ticket = formatCredential('pageTicket', PAGE, counting);

const keySecret = formatCredential('key', KEY, counting);

const account: Account = {
  object: 'service_account',
  id: ACCOUNT,
  username: 'ada',
  display_name: 'Ada Lovelace',
  twitter: 'ada',
  verified: true,
  supporter: false,
};

const external_id = 'user-4711';
const accountEntry: AccountEntry = { ...account, external_id };

const grantHead = {
  object: 'oauth_grant',
  grant_id: GRANT,
  created_at: '2026-11-21T02:15:30.123+00:00',
} as const;
const scope = 'profile.read posts.read';
const grantDescription = {
  ...grantHead,
  application_id: APPLICATION,
  document_uri: null,
  resource: null,
  scope,
  revoked: false,
  account,
  external_id,
} as const;
const fullGrant = {
  ...grantHead,
  scope,
  grant_secret: grantSecret,
  revoked: false,
  account,
} as const;
const grantEntry = {
  ...grantHead,
  application_id: APPLICATION,
  resource: null,
  scope,
  revoked: false,
  revoked_at: null,
  last_used_at: '2026-11-21T09:30:00.000+00:00',
  account,
};
const change = {
  key_id: null,
  grant_id: GRANT,
  application_id: APPLICATION,
  request_id: REQUEST,
};
const revokedGrant = { ...grantHead, revoked: true } as const;

const secretRecord: ApplicationSecret = {
  object: 'application_secret',
  id: SECRET,
  hint: credentialHint(applicationSecret),
  created_at: '2026-11-02T09:00:00.000+00:00',
  expires_at: null,
  last_used_at: '2026-11-21T02:15:00.000+00:00',
};
const unused = { ...secretRecord, last_used_at: null };
const application: Application = {
  object: 'application',
  id: APPLICATION,
  document_uri: null,
  name: 'Acme',
  disabled: false,
  created_at: '2026-11-02T09:00:00.000+00:00',
  secrets: [secretRecord],
  redirect_uris: [CALLBACK],
  scopes: null,
  default_scopes: ['profile.read'],
  logo_uri: 'https://acme.example/logo.png',
  homepage_uri: 'https://acme.example/',
  policy_uri: 'https://acme.example/privacy',
  tos_uri: 'https://acme.example/terms',
  public: false,
  resource_server: false,
  challenge_required: true,
  idle_days: null,
  grants_per_account: null,
};
const registered = {
  name: 'Acme',
  redirect_uris: [CALLBACK],
  logo_uri: 'https://acme.example/logo.png',
  homepage_uri: 'https://acme.example/',
  policy_uri: 'https://acme.example/privacy',
  tos_uri: 'https://acme.example/terms',
  challenge_required: true,
};
const profile = {
  object: 'application_profile',
  id: APPLICATION,
  document_uri: null,
  name: 'Acme',
  logo_uri: 'https://acme.example/logo.png',
  homepage_uri: 'https://acme.example/',
  policy_uri: 'https://acme.example/privacy',
  tos_uri: 'https://acme.example/terms',
  vouched: true,
} as const;

const readProfile: Scope = {
  object: 'scope',
  scope: 'profile.read',
  title: 'Read your profile',
  description: 'Your name and your picture.',
  texts: { de: { title: 'Ihr Profil lesen', description: 'Ihren Namen und Ihr Bild.' } },
  sensitive: false,
};
const readPosts: Scope = {
  object: 'scope',
  scope: 'posts.read',
  title: 'Read your posts',
  description: null,
  texts: {},
  sensitive: false,
};

const notes: Resource = {
  object: 'resource',
  id: RESOURCE,
  resource: 'https://mcp.example/mcp',
  name: 'Notes',
  scopes: ['posts.read', 'profile.read'],
  default_scopes: ['posts.read'],
  created_at: '2026-11-02T09:00:00.000+00:00',
};
const linkRequest: LinkRequest = {
  object: 'link_request',
  id: LINK,
  status: 'open',
  application: { ...profile, public: false },
  resource: { object: 'resource', resource: notes.resource, name: notes.name },
  scope,
  scopes: [readProfile, readPosts],
  redirect_host: 'acme.example',
  redirect_kind: 'web',
  redirect_vouched: true,
  account_id: null,
  login_hint: 'ada',
  ui_locales: 'de',
  created_at: '2026-11-21T02:14:00.000+00:00',
  expires_at: '2026-11-21T03:14:00.000+00:00',
  grant_id: null,
};
export const DENIED = `${CALLBACK}?error=access_denied&error_code=access_denied&state=xyz&iss=https%3A%2F%2Flatchkey.example`;

const issued = { application_id: APPLICATION, account_id: ACCOUNT, scope };
const signInKey: Key = {
  object: 'key',
  id: KEY,
  name: 'Sign-in page',
  role: 'host',
  hint: credentialHint(keySecret),
  created_at: '2026-11-02T09:00:00.000+00:00',
  expires_at: null,
  last_used_at: null,
};
const endpoint: Endpoint = {
  object: 'endpoint',
  id: ENDPOINT,
  application_id: APPLICATION,
  url: 'https://acme.example/latchkey-events',
  types: ['grant.revoked', 'account.updated'],
  disabled: false,
  disabled_reason: null,
  created_at: '2026-11-02T09:00:00.000+00:00',
  last_success_at: '2026-11-21T02:15:30.456+00:00',
  failing_since: null,
};
// The base64 of the bytes 0 to 31.
const endpointSecret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const untold = { ...endpoint, last_success_at: null };
const delivery: Delivery = {
  object: 'delivery',
  id: DELIVERY,
  endpoint_id: ENDPOINT,
  event_id: EVENT,
  type: 'grant.revoked',
  grant_id: GRANT,
  account_id: ACCOUNT,
  status: 'delivered',
  created_at: '2026-11-21T02:15:30.123+00:00',
  next_attempt_at: null,
  attempts: [
    {
      at: '2026-11-21T02:15:30.223+00:00',
      duration_ms: 233,
      result: 'delivered',
      status_code: 204,
    },
  ],
};
const codeMembers = {
  grant_id: GRANT,
  ...issued,
  resource: null,
  expires_at: '2026-11-21T02:20:00.000+00:00',
};

export const examples: { [Name in OperationName]: Example<Name> } = {
  'grants.convert': {
    input: { code, redirect_uri: CALLBACK, code_verifier: VERIFIER },
    output: fullGrant,
  },
  'grants.revoke': { input: { grant_id: GRANT }, output: revokedGrant },
  'grants.revokeToken': { input: { token: grantSecret }, output: {} },
  'grants.introspect': {
    input: { token: grantSecret },
    output: {
      active: true,
      scope,
      client_id: APPLICATION,
      token_type: 'Bearer',
      sub: ACCOUNT,
      username: 'ada',
      external_id,
      iss: ISSUER,
      aud: `${ISSUER}/v1`,
      iat: 1_795_227_330,
      grant_id: GRANT,
    },
  },
  'grants.recover': { input: { grant_id: GRANT }, output: fullGrant },
  'account.get': { input: {}, output: account },
  'account.grant': { input: {}, output: grantDescription },
  'admin.applications.create': {
    input: registered,
    output: { ...application, secrets: [unused], secret: applicationSecret },
  },
  'admin.applications.update': {
    input: { application_id: APPLICATION, ...registered },
    output: application,
  },
  'admin.applications.list': {
    input: { limit: 50 },
    output: { object: 'list', data: [application], next_cursor: null },
  },
  'admin.applications.get': { input: { application_id: APPLICATION }, output: application },
  'admin.applications.secrets.create': {
    input: { application_id: APPLICATION, expires_at: null },
    output: { ...unused, secret: applicationSecret },
  },
  'admin.applications.secrets.revoke': {
    input: { application_id: APPLICATION, secret_id: SECRET },
    output: { ...application, secrets: [] },
  },
  'admin.applications.disable': {
    input: { application_id: APPLICATION },
    output: { ...application, disabled: true },
  },
  'admin.applications.enable': { input: { application_id: APPLICATION }, output: application },
  'admin.applications.delete': {
    input: { application_id: APPLICATION },
    output: { ...application, disabled: true },
  },
  'admin.accounts.put': {
    input: {
      account_id: ACCOUNT,
      username: 'ada',
      display_name: 'Ada Lovelace',
      twitter: 'ada',
      verified: true,
      supporter: false,
      external_id,
    },
    output: accountEntry,
  },
  'admin.accounts.get': { input: { account_id: ACCOUNT }, output: accountEntry },
  'admin.accounts.list': {
    input: { username: 'ada', limit: 50 },
    output: { object: 'list', data: [accountEntry], next_cursor: null },
  },
  'admin.accounts.erase': {
    input: { account_id: ACCOUNT },
    output: { object: 'account_erasure', id: ACCOUNT, grants_revoked: 1 },
  },
  'admin.accounts.export': {
    input: { account_id: ACCOUNT },
    output: {
      object: 'account_export',
      account: accountEntry,
      grants: [grantEntry],
      codes: [],
      history: [
        {
          ...change,
          at: '2026-11-21T02:15:00.000+00:00',
          operation: 'admin.codes.issue',
          by: 'operator',
        },
        { ...change, at: grantHead.created_at, operation: 'grants.convert', by: 'application' },
      ],
      refusals: [
        {
          ...change,
          at: '2026-11-21T02:15:31.000+00:00',
          operation: 'grants.convert',
          by: 'application',
          error_code: 'code_already_used',
        },
      ],
    },
  },
  'admin.codes.issue': {
    input: { ...issued, redirect_uri: CALLBACK, code_challenge: CHALLENGE },
    output: { object: 'grant_code', code, ...codeMembers },
  },
  'admin.codes.cancel': {
    input: { grant_id: GRANT },
    output: { object: 'grant_code', ...codeMembers, cancelled: true },
  },
  'admin.grants.list': {
    input: { account_id: ACCOUNT, limit: 50 },
    output: {
      object: 'list',
      data: [grantEntry],
      next_cursor: null,
    },
  },
  'admin.grants.revoke': { input: { grant_id: GRANT }, output: revokedGrant },
  'admin.endpoints.create': {
    input: { url: endpoint.url, application_id: APPLICATION, types: endpoint.types },
    output: { ...untold, secret: endpointSecret },
  },
  'admin.endpoints.list': {
    input: { application_id: APPLICATION, limit: 50 },
    output: { object: 'list', data: [endpoint], next_cursor: null },
  },
  'admin.endpoints.get': { input: { endpoint_id: ENDPOINT }, output: endpoint },
  'admin.endpoints.update': {
    input: { endpoint_id: ENDPOINT, disabled: true },
    output: { ...endpoint, disabled: true, disabled_reason: 'operator' },
  },
  'admin.endpoints.delete': { input: { endpoint_id: ENDPOINT }, output: endpoint },
  'admin.endpoints.rotate': {
    input: { endpoint_id: ENDPOINT, overlap_seconds: 86_400 },
    output: { ...endpoint, secret: endpointSecret },
  },
  'admin.endpoints.ping': {
    input: { endpoint_id: ENDPOINT },
    output: { ...delivery, type: 'ping', grant_id: null, account_id: null },
  },
  'admin.endpoints.replay': {
    input: { endpoint_id: ENDPOINT, since: '2026-11-21T00:00:00Z' },
    output: { object: 'replay', endpoint_id: ENDPOINT, count: 12 },
  },
  'admin.deliveries.list': {
    input: { endpoint_id: ENDPOINT, status: 'delivered', limit: 50 },
    output: { object: 'list', data: [delivery], next_cursor: null },
  },
  'admin.deliveries.retry': {
    input: { delivery_id: DELIVERY },
    output: { ...delivery, status: 'pending', next_attempt_at: '2026-11-21T02:20:00.000+00:00' },
  },
  'admin.keys.create': {
    input: { name: signInKey.name, role: signInKey.role },
    output: { ...signInKey, secret: keySecret },
  },
  'admin.keys.list': {
    input: {},
    output: { object: 'list', data: [signInKey], next_cursor: null },
  },
  'admin.keys.delete': { input: { key_id: KEY }, output: signInKey },
  'admin.self.get': {
    input: {},
    output: {
      object: 'operator',
      key_id: KEY,
      name: signInKey.name,
      role: signInKey.role,
      may: operationNames.filter((name) =>
        (operations[name] as OperationContract).roles?.includes(signInKey.role),
      ),
    },
  },
  'admin.settings.get': {
    input: {},
    output: {
      object: 'settings',
      data: [
        { name: 'PORT', value: '3000', source: 'default' },
        {
          ...{ name: 'DATABASE_URL', value: 'mongodb://mongodb.example:27017/latchkey' },
          source: 'file',
        },
        { name: 'ADMIN_SECRET', value: null, source: 'file' },
        { name: 'LOG_LEVEL', value: 'info', source: 'environment' },
      ],
    },
  },
  'admin.scopes.put': {
    input: {
      scope: readProfile.scope,
      title: readProfile.title,
      description: readProfile.description,
      texts: readProfile.texts,
    },
    output: readProfile,
  },
  'admin.scopes.list': {
    input: {},
    output: { object: 'list', data: [readPosts, readProfile], next_cursor: null },
  },
  'admin.scopes.delete': { input: { scope: 'profile.read' }, output: readProfile },
  'admin.resources.create': {
    input: {
      resource: notes.resource,
      name: notes.name,
      scopes: notes.scopes,
      default_scopes: notes.default_scopes,
    },
    output: notes,
  },
  'admin.resources.list': {
    input: {},
    output: { object: 'list', data: [notes], next_cursor: null },
  },
  'admin.resources.update': {
    input: { resource_id: RESOURCE, name: notes.name },
    output: notes,
  },
  'admin.resources.delete': { input: { resource_id: RESOURCE }, output: notes },
  'admin.connections.list': {
    input: { account_id: ACCOUNT },
    output: {
      object: 'list',
      data: [
        {
          object: 'connection',
          application: profile,
          scopes: [readProfile, readPosts],
          connected_at: grantHead.created_at,
          last_used_at: '2026-11-21T09:30:00.000+00:00',
          grants: [{ grant_id: GRANT, created_at: grantHead.created_at, scope }],
        },
      ],
      next_cursor: null,
    },
  },
  'admin.connections.revoke': {
    input: { account_id: ACCOUNT, application_id: APPLICATION },
    output: { object: 'list', data: [revokedGrant], next_cursor: null },
  },
  'admin.grants.revokeAll': {
    input: { account_id: ACCOUNT },
    output: { object: 'grant_revocations', grants_revoked: 2, codes_cancelled: 0 },
  },
  'admin.grants.history': {
    input: { grant_id: GRANT },
    output: {
      object: 'grant_history',
      grant_id: GRANT,
      application_id: APPLICATION,
      account_id: ACCOUNT,
      recoveries: 0,
      data: [
        {
          at: '2026-11-21T02:15:30.123+00:00',
          what: 'issued',
          result: 'done',
          reason: null,
          by: 'user',
          application_id: null,
          secret_id: null,
          key_id: null,
          request_id: REQUEST,
          address: null,
          os_user: null,
        },
      ],
    },
  },
  'admin.refusals.list': {
    input: { account_id: ACCOUNT, since: '2026-11-21T00:00:00Z' },
    output: {
      object: 'list',
      data: [
        {
          object: 'refusal',
          at: '2026-11-21T02:15:31.456+00:00',
          request_id: REQUEST,
          operation: 'account.get',
          error_code: 'credentials_invalid',
          reason: 'grant_revoked',
          ...meaningOf('credentials_invalid', 'grant_revoked'),
          by: null,
          application_id: APPLICATION,
          account_id: ACCOUNT,
          grant_id: GRANT,
          key_id: null,
          address: '203.0.113.7',
        },
      ],
      next_cursor: null,
    },
  },
  'admin.summary.get': {
    input: { hours: 1 },
    output: {
      object: 'summary',
      since: '2026-11-21T01:00:00.000+00:00',
      until: '2026-11-21T02:15:30.123+00:00',
      links: { begun: 3, approved: 2, denied: 1, expired: 0 },
      grants: { created: 2, revoked: { user: 1 }, live: 40 },
      refused: { credentials_invalid: { secret_expired: 5 } },
      events: { pending: 2, oldest_seconds: 5, failing_endpoints: 0 },
      series: [
        { at: '2026-11-21T01:00:00.000+00:00', created: 2, revoked: 0, refused: 0 },
        { at: '2026-11-21T02:00:00.000+00:00', created: 0, revoked: 1, refused: 5 },
      ],
      approximate: true,
    },
  },
  'admin.pages.create': {
    input: {
      page: 'connections',
      account_id: ACCOUNT,
      return_url: 'https://host.example/settings',
      locale: 'de',
    },
    output: {
      object: 'page',
      id: PAGE,
      page: 'connections',
      account_id: ACCOUNT,
      url: `${ISSUER}/connections?ticket=${ticket}`,
      expires_at: '2026-11-21T02:20:00.000+00:00',
    },
  },
  'admin.pages.end': {
    input: { account_id: ACCOUNT },
    output: { object: 'pages_ended', account_id: ACCOUNT },
  },
  'admin.links.read': { input: { link }, output: linkRequest },
  'admin.links.identify': {
    input: { link, account_id: ACCOUNT, locale: 'de' },
    output: {
      ...linkRequest,
      status: 'identified',
      account_id: ACCOUNT,
      redirect_to: `${ISSUER}/link/${LINK}?ticket=${ticket}`,
    },
  },
  'admin.links.approve': {
    input: { link, account_id: ACCOUNT, scope },
    output: {
      ...linkRequest,
      status: 'approved',
      account_id: ACCOUNT,
      grant_id: GRANT,
      redirect_to: `${CALLBACK}?code=${code}&state=xyz&iss=https%3A%2F%2Flatchkey.example`,
    },
  },
  'admin.links.deny': {
    input: { link },
    output: { ...linkRequest, status: 'denied', redirect_to: DENIED },
  },
};
