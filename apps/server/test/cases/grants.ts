import { randomUUID } from 'node:crypto';
import { newId } from '@latchkey/domain/credentials/credentials';
import { succeed } from '../http/call.ts';
import { asBearer, linkedApplication } from '../http/linked-application.ts';
import { unknownCredential } from '../http/unknown-credential.ts';
import {
  ADDRESS,
  type Arrange,
  aResource,
  type Cases,
  type Context,
  type Faults,
  page,
  SINCE,
} from './case.ts';
import type { World } from './world.ts';

const tokenOf = ({ grant }: World) => ({
  ...{ token: grant.grant_secret, token_type_hint: 'access_token' },
});
const idOf = ({ grant: { grant_id } }: World) => ({ grant_id });

/** The verifier and the challenge of RFC 7636, appendix B. */
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const challenged = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' };
const CALLBACK = 'https://app.example/callback';

/** Converts a code. */
const code =
  (codeOf: (context: Context) => string | Promise<string>): Arrange =>
  async (context) => ({ input: { code: await codeOf(context) } });

/** Converts a code that is bound to something. */
const bound =
  (binding: { redirect_uri?: string; code_challenge?: string }, sent: object): Arrange =>
  async ({ issue }) => ({ input: { code: (await issue(binding)).code, ...sent } });

/** Names a grant. */
const grant =
  (grantOf: (context: Context) => { grant_id: string } | Promise<{ grant_id: string }>): Arrange =>
  async (context) => ({ input: { grant_id: (await grantOf(context)).grant_id } });

const grant_unknown = grant(() => ({ grant_id: randomUUID() }));
const code_not_redeemed = grant(({ issue }) => issue());
const ownGrantNotFound: Faults = {
  ...{ grant_unknown, code_not_redeemed },
  grant_of_another_application: grant(async ({ server }) =>
    (await linkedApplication(server)).link(),
  ),
};
const codeOfAnother = ({ server }: Context) => linkedApplication(server);

type Named = 'grants.' | 'account.' | 'admin.grants.' | 'admin.codes.' | 'admin.refusals.';

export const grantCases: Cases<Named> = {
  'grants.convert': {
    input: ({ pending: { grant_id: _, ...input } }) => input,
    faults: {
      code_not_found: {
        code_ill_formed: [code(() => 'garbage'), code(({ secret }) => secret)],
        code_ended_by_disabling: code(async ({ issue, application_id, call }) => {
          const { code } = await issue();
          await call('admin.applications.disable', { application_id });
          await call('admin.applications.enable', { application_id });
          return code;
        }),
        code_unknown: [
          code(({ server }) => unknownCredential('code', newId(server.now()))),
          code(async ({ issue, call }) => {
            const { code, grant_id } = await issue();
            await call('admin.codes.cancel', { grant_id });
            return code;
          }),
        ],
        code_of_another_application: [
          code(async (context) => (await (await codeOfAnother(context)).issue()).code),
          code(async (context) => {
            const other = await codeOfAnother(context);
            const { code } = await other.issue();
            await other.convert(code);
            return code;
          }),
        ],
        code_forged: [
          code(async ({ issue }) => unknownCredential('code', (await issue()).grant_id)),
          code(async ({ link }) => unknownCredential('code', (await link()).grant_id)),
        ],
        code_from_the_future: code(async ({ issue, server }) => {
          server.advance(61_000);
          const { code } = await issue();
          server.advance(-61_000);
          return code;
        }),
      },
      code_expired: {
        code_too_old: code(async ({ issue, server }) => {
          const { code } = await issue();
          server.advance(300_000);
          return code;
        }),
      },
      code_already_used: {
        code_replayed: async ({ issue, convert }) => {
          const { code, grant_id } = await issue();
          await convert(code);
          return { input: { code }, members: { grant_id } };
        },
      },
      redirect_uri_mismatch: {
        redirect_uri_differs: bound({ redirect_uri: CALLBACK }, { redirect_uri: `${CALLBACK}/` }),
        redirect_uri_missing: bound({ redirect_uri: CALLBACK }, {}),
      },
      code_verifier_mismatch: {
        verifier_wrong: bound(challenged, { code_verifier: VERIFIER.toLowerCase() }),
        verifier_missing: bound(challenged, {}),
        verifier_unexpected: bound({}, { code_verifier: VERIFIER }),
      },
      target_mismatch: {
        resource_differs: [
          async (context) => {
            const resource = await aResource(context);
            return { input: { code: (await context.issue()).code, resource } };
          },
          async (context) => {
            const resource = await aResource(context);
            const { code } = await context.issue({ resource });
            return { input: { code, resource: `${resource}/other` } };
          },
        ],
      },
    },
  },
  'grants.revokeToken': {
    input: tokenOf,
    faults: {
      token_of_another_application: {
        token_of_another_application: async ({ server }) => ({
          input: { token: (await (await linkedApplication(server)).link()).grant_secret },
        }),
      },
    },
  },
  'grants.introspect': { input: tokenOf },
  'grants.revoke': { input: idOf, faults: { grant_not_found: ownGrantNotFound } },
  'grants.recover': {
    input: idOf,
    faults: {
      grant_not_found: {
        ...ownGrantNotFound,
        revoked_before_recovery: grant(async ({ link, call }) =>
          call('admin.grants.revoke', { grant_id: (await link()).grant_id }),
        ),
      },
      grant_not_recoverable: {
        grant_used: grant(async ({ link, server }) => {
          const grant = await link();
          await succeed(server, 'account.get', {}, asBearer(grant));
          return grant;
        }),
        redeemed_too_long_ago: grant(async ({ link, server }) => {
          const grant = await link();
          server.advance(600_000);
          return grant;
        }),
      },
    },
  },
  'account.get': {
    input: () => ({}),
    faults: {
      resource_mismatch: {
        grant_of_resource: async (context) => {
          const { code } = await context.issue({ resource: await aResource(context) });
          return { as: asBearer(await context.convert(code)) };
        },
      },
    },
  },
  'account.grant': { input: () => ({}) },
  'admin.codes.issue': {
    input: ({ application_id, account_id, resource }) => ({
      ...{ application_id, account_id, resource, scope: 'all', redirect_uri: ADDRESS },
      code_challenge: 'c'.repeat(43),
      choice: { id: 'ws-7', label: 'Acme Inc.' },
    }),
    faults: {
      target_unknown: {
        resource_unregistered: ({ application_id, account_id }) => ({
          input: { application_id, account_id, scope: 'a', resource: 'https://nobody.example' },
        }),
      },
      application_not_found: {
        'it is unknown': ({ account_id }) => ({
          input: { application_id: randomUUID(), account_id, scope: 'a' },
        }),
      },
      account_not_found: {
        'it is unknown': ({ application_id }) => ({
          input: { application_id, account_id: randomUUID(), scope: 'a' },
        }),
        'it was erased': async ({ application_id, account_id, call }) => {
          await call('admin.accounts.erase', { account_id });
          return { input: { application_id, account_id, scope: 'a' } };
        },
      },
    },
  },
  'admin.codes.cancel': {
    input: ({ pending: { grant_id } }) => ({ grant_id }),
    faults: { grant_not_found: { grant_unknown, code_redeemed: grant(({ link }) => link()) } },
  },
  'admin.grants.list': { input: ({ account_id }) => ({ account_id, ...page }) },
  'admin.grants.revoke': {
    input: idOf,
    faults: { grant_not_found: { grant_unknown, code_not_redeemed } },
  },
  'admin.grants.revokeAll': { input: ({ account_id }) => ({ account_id }) },
  'admin.grants.history': { input: idOf, faults: { grant_not_found: { grant_unknown } } },
  'admin.refusals.list': { input: ({ account_id }) => ({ account_id, since: SINCE, ...page }) },
};
