import { randomUUID } from 'node:crypto';
import type { ErrorCode, OperationName } from '@latchkey/schema';
import { anInitiator } from '@latchkey/store-suite/records';
import { invoke, requestOf, send } from '../http/call.ts';
import { asBasic, asBearer } from '../http/linked-application.ts';
import { operator } from '../http/running-server.ts';
import { unknownCredential } from '../http/unknown-credential.ts';
import type { Arrange, Context, Faults } from './case.ts';
import { readKey } from './operators.ts';

const as =
  (header: string | undefined | ((context: Context) => string | Promise<string>)): Arrange =>
  async (context) => ({ as: typeof header === 'function' ? await header(context) : header });

const end = async ({ application_id, call }: Context, ...verbs: ('disable' | 'delete')[]) => {
  for (const verb of verbs) await call(`admin.applications.${verb}`, { application_id });
};
const flipped = (text: string) => text.slice(0, -1) + (text.endsWith('0') ? '1' : '0');

const credentials_missing: Faults = { 'there is no header': as(undefined) };

/** What is refused of a caller or of an input, whichever operation it calls: one of each caller. */
export const callerFaults: [OperationName, Partial<Record<ErrorCode, Faults>>][] = [
  [
    'grants.convert',
    {
      credentials_missing,
      parameter_invalid: {
        'the code is missing': () =>
          refusedInput({ kode: 'lk_code_1' }, 'expected string, received undefined'),
        'the code is empty': () => ({
          input: { code: '' },
          members: issue('code', 'Must be the code that was issued. It starts with lk_code_.'),
        }),
        'the code is a query operator of a database': () =>
          refusedInput({ code: { $ne: null } }, 'expected string, received object'),
      },
      rate_limited: {
        'a second convert fails within a minute that allows one': async ({ bearer, server }) => {
          const request = requestOf('REST', 'grants.convert', { code: 'x' });
          await send(server, { ...request, authorization: bearer });
          return { input: { code: 'y' } };
        },
      },
    },
  ],
  [
    'grants.revoke',
    {
      credentials_invalid: {
        header_unreadable: ['', 'Bearer', 'Bearer ', 'Digest abc', 'Bearer a b', 'lk_app_x'].map(
          (header) => as(header),
        ),
        credential_of_another_kind: as(async ({ link }) => asBearer(await link())),
        credential_ill_formed: [
          as(({ bearer }) => bearer.slice(0, -1)),
          as(({ bearer }) => flipped(bearer)),
        ],
        application_unknown: [
          as(() => `Bearer ${unknownCredential('applicationSecret')}`),
          as(async (context) => {
            await end(context, 'disable', 'delete');
            return context.bearer;
          }),
        ],
        secret_unknown: [
          as(
            ({ application_id }) =>
              `Bearer ${unknownCredential('applicationSecret', application_id)}`,
          ),
          as(async ({ bearer, application_id, secret_id, call }) => {
            await call('admin.applications.secrets.revoke', { application_id, secret_id });
            return bearer;
          }),
        ],
        secret_expired: as(async ({ application_id, call, server }) => {
          const expires_at = new Date(server.now() + 1_000).toISOString();
          const added = await call('admin.applications.secrets.create', {
            application_id,
            expires_at,
          });
          server.advance(1_000);
          return `Bearer ${added.secret}`;
        }),
      },
      application_disabled: {
        application_disabled: as(async (context) => {
          await end(context, 'disable');
          return context.bearer;
        }),
      },
    },
  ],
  [
    'grants.recover',
    {
      credentials_invalid: {
        scheme_wrong: as(
          ({ application_id, secret }) => `Basic ${btoa(`${application_id}:${secret}`)}`,
        ),
      },
    },
  ],
  [
    'account.get',
    {
      credentials_missing,
      credentials_invalid: {
        header_unreadable: as('Bearer a b'),
        credential_of_another_kind: as(({ bearer }) => bearer),
        credential_ill_formed: as('Bearer lk_grant_x'),
        application_deleted: as(async (context) => {
          const { application_id, link, server } = context;
          const grant = await link();
          await end(context, 'disable');
          await server.service.store.deleteApplication({
            ...{ application_id, deleted_at: server.now(), deleted_by: anInitiator() },
          });
          return asBearer(grant);
        }),
        basic_names_another_grant: as(
          async ({ link }) => `Basic ${btoa(`${randomUUID()}:${(await link()).grant_secret}`)}`,
        ),
        secret_of_unknown_grant: [
          as(`Bearer ${unknownCredential('grantSecret')}`),
          as(
            async ({ issue }) =>
              `Bearer ${unknownCredential('grantSecret', (await issue()).grant_id)}`,
          ),
        ],
        grant_revoked: [
          as(async ({ link, call }) => {
            const grant = await link();
            await call('admin.grants.revoke', { grant_id: grant.grant_id });
            return asBearer(grant);
          }),
          as(async ({ account_id, link, call }) => {
            const grant = await link();
            await call('admin.accounts.erase', { account_id });
            return asBearer(grant);
          }),
        ],
        'its application was deleted': as(async (context) => {
          const grant = await context.link();
          await end(context, 'disable', 'delete');
          return asBearer(grant);
        }),
        grant_idle: as(async ({ link, application_id, call, server }) => {
          const grant = await link();
          await call('admin.applications.update', { application_id, idle_days: 1 });
          server.advance(2 * 86_400_000 + 1);
          return asBearer(grant);
        }),
        grant_secret_wrong: as(async ({ link, bearer, server }) => {
          const grant = await link();
          await invoke(server, 'REST', 'grants.recover', { grant_id: grant.grant_id }, bearer);
          return asBearer(grant);
        }),
      },
      application_disabled: {
        application_disabled: [asBearer, asBasic].map((header) =>
          as(async (context) => {
            const grant = await context.link();
            await end(context, 'disable');
            return header(grant);
          }),
        ),
      },
      internal_error: {
        'the account of the grant was deleted by hand': as(async ({ account_id, link, server }) => {
          const grant = await link();
          await server.database.deleteAccount(account_id);
          return asBearer(grant);
        }),
      },
    },
  ],
  [
    'admin.applications.list',
    {
      credentials_missing,
      credentials_invalid: {
        header_unreadable: as(''),
        scheme_wrong: as(`Basic ${btoa('operator:secret')}`),
        credential_ill_formed: as('Bearer lk_key_x'),
        admin_secret_wrong: [as(`${operator}x`), as(({ bearer }) => bearer)],
        key_unknown: [
          as(`Bearer ${unknownCredential('key')}`),
          as(async (context) => `Bearer ${unknownCredential('key', (await newKey(context)).id)}`),
          as(async (context) => {
            const { id, secret } = await newKey(context);
            await context.call('admin.keys.delete', { key_id: id });
            return `Bearer ${secret}`;
          }),
        ],
        key_expired: as(async (context) => {
          const expires_at = new Date(context.server.now() + 1_000).toISOString();
          const { secret } = await newKey(context, { expires_at });
          context.server.advance(1_000);
          return `Bearer ${secret}`;
        }),
      },
    },
  ],
  [
    'admin.accounts.get',
    {
      parameter_invalid: {
        'the identifier in the path is no UUID': () => ({
          input: { account_id: '1 or 1=1' },
          members: issue(
            'account_id',
            'Must be a UUID, such as 0193aa00-0000-7000-8000-000000000001.',
          ),
        }),
      },
    },
  ],
  [
    'admin.applications.create',
    {
      right_missing: {
        'the role of the key lacks the operation': async (context) => ({
          input: { name: 'Acme' },
          as: `Bearer ${(await newKey(context)).secret}`,
        }),
      },
    },
  ],
];

/** Makes room for it where there are 50. */
async function newKey({ call }: Context, members: object = {}) {
  const { data } = await call('admin.keys.list', {});
  const live = data.filter(({ expires_at }: { expires_at: string | null }) => expires_at === null);
  if (live.length === 50) await call('admin.keys.delete', { key_id: live[0].id });
  return call('admin.keys.create', { ...readKey, ...members });
}

const issue = (member: string, message: string) => ({ issues: [{ path: [member], message }] });
const refusedInput = (input: Record<string, unknown>, message: string) => ({
  ...{ input, members: issue('code', `Invalid input: ${message}`) },
});
