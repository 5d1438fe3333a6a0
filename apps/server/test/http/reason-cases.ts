import { randomUUID } from 'node:crypto';
import { newId } from '@latchkey/domain/credentials/credentials';
import type { Reason } from '@latchkey/domain/reasons';
import type { OperationName } from '@latchkey/schema';
import { anInitiator } from '@latchkey/store-suite/records';
import type { LinkingReason } from '../linking/reasons.ts';
import { succeed } from './call.ts';
import { aResource, unknownCredential } from './error-cases.ts';
import { asBearer, type LinkedApplication, linkedApplication } from './linked-application.ts';
import { operator, type ServerWithDatabase } from './running-server.ts';

export interface RefusedCall {
  name: OperationName;
  input?: Record<string, unknown>;
  as: string;
}

/** Prepares a call that is refused for a certain reason. */
type Arrange = (linked: LinkedApplication, server: ServerWithDatabase) => Promise<RefusedCall>;

const as =
  (header: (linked: LinkedApplication) => string, name: OperationName = 'grants.revoke'): Arrange =>
  async (linked) => ({ name, as: header(linked) });

function convert(
  codeOf: (linked: LinkedApplication, server: ServerWithDatabase) => Promise<string>,
): Arrange {
  return async (linked, server) => ({
    name: 'grants.convert',
    input: { code: await codeOf(linked, server) },
    as: linked.bearer,
  });
}

/** Converts a code that is bound to something. */
function bound(binding: { redirect_uri?: string; code_challenge?: string }, sent: object): Arrange {
  return async ({ issue, bearer }) => ({
    name: 'grants.convert',
    input: { code: (await issue(binding)).code, ...sent },
    as: bearer,
  });
}

const challenged = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' };

function aboutGrant(
  name: OperationName,
  grantOf: (linked: LinkedApplication, server: ServerWithDatabase) => Promise<{ grant_id: string }>,
): Arrange {
  return async (linked, server) => {
    const { grant_id } = await grantOf(linked, server);
    const isAdmin = name.startsWith('admin.');
    return { name, input: { grant_id }, as: isAdmin ? operator : linked.bearer };
  };
}

/**
 * The reasons of the limits are in `rate-limits.test.ts`: each takes a server with its own numbers.
 * Two Authorization headers take a raw connection: see `hostile/framing.test.ts`. A log that fails
 * takes a process of its own: see `faults/log-sinks.test.ts`. Those of OAuth clients take a form: see
 * `client-authentication.test.ts`. Those of client documents are in `client-documents/flow.test.ts`. Those of the linking flow are in `linking/reasons.test.ts`.
 */
export type ReasonOfRules = Exclude<
  Reason,
  | LinkingReason
  | `too_many_${string}`
  | `document_${string}`
  | `assertion_${string}`
  | 'client_id_not_address'
  | 'client_id_of_document'
  | 'client_address_not_taken'
  | 'client_host_too_long'
  | 'header_repeated'
  | 'log_failing'
  | 'client_id_of_another_application'
  | 'client_id_no_uuid'
  | 'secret_required'
>;

const aKey = { name: 'Support', role: 'read' };

/** The calls for each reason. */
export const reasonCases: Record<ReasonOfRules, Arrange[]> = {
  header_unreadable: [
    as(() => 'Digest abc'),
    as(() => 'Bearer a b', 'account.get'),
    as(() => '', 'admin.applications.list'),
  ],
  scheme_wrong: [
    as(
      ({ application_id, secret }) => `Basic ${btoa(`${application_id}:${secret}`)}`,
      'grants.recover',
    ),
    as(() => `Basic ${btoa('operator:secret')}`, 'admin.applications.list'),
  ],
  credential_of_another_kind: [
    async (linked) => ({ name: 'grants.revoke', as: asBearer(await linked.link()) }),
    as(({ bearer }) => bearer, 'account.get'),
  ],
  credential_ill_formed: [
    as(({ bearer }) => bearer.slice(0, -1)),
    as(({ bearer }) => bearer.slice(0, -1) + (bearer.endsWith('0') ? '1' : '0')),
    as(() => 'Bearer lk_grant_x', 'account.get'),
    as(() => 'Bearer lk_key_x', 'admin.applications.list'),
  ],
  application_unknown: [as(() => `Bearer ${unknownCredential('applicationSecret')}`)],
  secret_unknown: [
    as(({ application_id }) => `Bearer ${unknownCredential('applicationSecret', application_id)}`),
    async ({ bearer, application_id, secret_id }, server) => {
      const input = { application_id, secret_id };
      await succeed(server, 'admin.applications.secrets.revoke', input, operator);
      return { name: 'grants.revoke', as: bearer };
    },
  ],
  secret_expired: [
    async ({ application_id }, server) => {
      const expires_at = new Date(server.now() + 1_000).toISOString();
      const input = { application_id, expires_at };
      const added = await succeed(server, 'admin.applications.secrets.create', input, operator);
      server.advance(1_000);
      return { name: 'grants.revoke', as: `Bearer ${added.secret}` };
    },
  ],
  application_disabled: [
    async ({ application_id, bearer }, server) => {
      await succeed(server, 'admin.applications.disable', { application_id }, operator);
      return { name: 'grants.revoke', as: bearer };
    },
    async ({ application_id, link }, server) => {
      const grant = await link();
      await succeed(server, 'admin.applications.disable', { application_id }, operator);
      return { name: 'account.get', as: asBearer(grant) };
    },
  ],
  application_deleted: [
    async ({ application_id, link }, server) => {
      const grant = await link();
      await succeed(server, 'admin.applications.disable', { application_id }, operator);
      await server.service.store.deleteApplication({
        ...{ application_id, deleted_at: server.now() },
        deleted_by: anInitiator(),
      });
      return { name: 'account.get', as: asBearer(grant) };
    },
  ],
  basic_names_another_grant: [
    async ({ link }) => {
      const { grant_secret } = await link();
      return { name: 'account.get', as: `Basic ${btoa(`${randomUUID()}:${grant_secret}`)}` };
    },
  ],
  secret_of_unknown_grant: [
    as(() => `Bearer ${unknownCredential('grantSecret')}`, 'account.get'),
    async ({ issue }) => {
      const { grant_id } = await issue();
      return { name: 'account.get', as: `Bearer ${unknownCredential('grantSecret', grant_id)}` };
    },
  ],
  grant_revoked: [
    async ({ link, bearer }, server) => {
      const grant = await link();
      await succeed(server, 'grants.revoke', { grant_id: grant.grant_id }, bearer);
      return { name: 'account.get', as: asBearer(grant) };
    },
  ],
  grant_idle: [
    async ({ link, application_id }, server) => {
      const grant = await link();
      const input = { application_id, idle_days: 1 };
      await succeed(server, 'admin.applications.update', input, operator);
      server.advance(2 * 86_400_000 + 1);
      return { name: 'account.get', as: asBearer(grant) };
    },
  ],
  grant_secret_wrong: [
    async ({ link, bearer }, server) => {
      const grant = await link();
      await succeed(server, 'grants.recover', { grant_id: grant.grant_id }, bearer);
      return { name: 'account.get', as: asBearer(grant) };
    },
  ],
  admin_secret_wrong: [
    as(() => `${operator}x`, 'admin.applications.list'),
    as(({ bearer }) => bearer, 'admin.applications.list'),
  ],
  key_unknown: [
    as(() => `Bearer ${unknownCredential('key')}`, 'admin.applications.list'),
    async (_, server) => {
      const { id } = await succeed(server, 'admin.keys.create', aKey, operator);
      return { name: 'admin.applications.list', as: `Bearer ${unknownCredential('key', id)}` };
    },
    async (_, server) => {
      const { id, secret } = await succeed(server, 'admin.keys.create', aKey, operator);
      await succeed(server, 'admin.keys.delete', { key_id: id }, operator);
      return { name: 'admin.applications.list', as: `Bearer ${secret}` };
    },
  ],
  key_expired: [
    async (_, server) => {
      const input = { ...aKey, expires_at: new Date(server.now() + 1_000).toISOString() };
      const { secret } = await succeed(server, 'admin.keys.create', input, operator);
      server.advance(1_000);
      return { name: 'admin.applications.list', as: `Bearer ${secret}` };
    },
  ],

  code_ill_formed: [convert(async () => 'garbage'), convert(async ({ secret }) => secret)],
  code_ended_by_disabling: [
    convert(async ({ issue, application_id }, server) => {
      const { code } = await issue();
      await succeed(server, 'admin.applications.disable', { application_id }, operator);
      await succeed(server, 'admin.applications.enable', { application_id }, operator);
      return code;
    }),
  ],
  code_unknown: [
    convert(async (_, server) => unknownCredential('code', newId(server.now()))),
    convert(async ({ issue }, server) => {
      const { code, grant_id } = await issue();
      await succeed(server, 'admin.codes.cancel', { grant_id }, operator);
      return code;
    }),
  ],
  code_of_another_application: [
    convert(async (_, server) => (await (await linkedApplication(server)).issue()).code),
    convert(async (_, server) => {
      const other = await linkedApplication(server);
      const { code } = await other.issue();
      await other.convert(code);
      return code;
    }),
  ],
  code_forged: [
    convert(async ({ issue }) => unknownCredential('code', (await issue()).grant_id)),
    convert(async ({ link }) => unknownCredential('code', (await link()).grant_id)),
  ],
  code_from_the_future: [
    convert(async ({ issue }, server) => {
      server.advance(61_000);
      const { code } = await issue();
      server.advance(-61_000);
      return code;
    }),
  ],
  code_too_old: [
    convert(async ({ issue }, server) => {
      const { code } = await issue();
      server.advance(300_000);
      return code;
    }),
  ],
  code_replayed: [
    convert(async (linked) => {
      const { code } = await linked.issue();
      await linked.convert(code);
      return code;
    }),
  ],

  redirect_uri_differs: [
    bound({ redirect_uri: 'https://app.example/' }, { redirect_uri: 'https://app.example' }),
  ],
  redirect_uri_missing: [bound({ redirect_uri: 'https://app.example/' }, {})],
  verifier_wrong: [bound(challenged, { code_verifier: 'x'.repeat(43) })],
  verifier_missing: [bound(challenged, {})],
  verifier_unexpected: [bound({}, { code_verifier: 'x'.repeat(43) })],

  resource_differs: [
    async (linked, server) => {
      const resource = await aResource(server);
      const { code } = await linked.issue({ resource });
      const input = { code, resource: `${resource}/other` };
      return { name: 'grants.convert', input, as: linked.bearer };
    },
  ],

  grant_of_resource: [
    async (linked, server) => {
      const resource = await aResource(server);
      const { code } = await linked.issue({ resource });
      return { name: 'account.get', as: asBearer(await linked.convert(code)) };
    },
  ],

  token_of_another_application: [
    async ({ bearer }, server) => {
      const { grant_secret: token } = await (await linkedApplication(server)).link();
      return { name: 'grants.revokeToken', input: { token }, as: bearer };
    },
  ],

  grant_unknown: (
    ['grants.revoke', 'grants.recover', 'admin.grants.revoke', 'admin.codes.cancel'] as const
  ).map((name) => aboutGrant(name, async () => ({ grant_id: randomUUID() }))),
  grant_of_another_application: (['grants.revoke', 'grants.recover'] as const).map((name) =>
    aboutGrant(name, async (_, server) => (await linkedApplication(server)).link()),
  ),
  code_not_redeemed: (['grants.revoke', 'grants.recover', 'admin.grants.revoke'] as const).map(
    (name) => aboutGrant(name, ({ issue }) => issue()),
  ),
  code_redeemed: [aboutGrant('admin.codes.cancel', ({ link }) => link())],
  revoked_before_recovery: [
    aboutGrant('grants.recover', async ({ link, bearer }, server) => {
      const { grant_id } = await link();
      return succeed(server, 'grants.revoke', { grant_id }, bearer);
    }),
  ],

  grant_used: [
    aboutGrant('grants.recover', async ({ link }, server) => {
      const grant = await link();
      await succeed(server, 'account.get', {}, asBearer(grant));
      return grant;
    }),
  ],
  redeemed_too_long_ago: [
    aboutGrant('grants.recover', async ({ link }, server) => {
      const grant = await link();
      server.advance(600_000);
      return grant;
    }),
  ],
};
