import { randomUUID } from 'node:crypto';
import { ADDRESS, type Cases, page, unknown } from './case.ts';

const application_not_found = unknown('application_id');

const registered = {
  ...{ name: 'Eve', redirect_uris: [ADDRESS], scopes: ['profile.read'] },
  ...{ logo_uri: ADDRESS, homepage_uri: ADDRESS, policy_uri: ADDRESS, tos_uri: ADDRESS },
  ...{ resource_server: false, challenge_required: false, idle_days: 30, grants_per_account: 5 },
  default_scopes: ['profile.read'],
};

export const applicationCases: Cases<'admin.applications.'> = {
  'admin.applications.create': { input: () => ({ ...registered, public: false }) },
  'admin.applications.update': {
    input: ({ application_id }) => ({ application_id, ...registered }),
    faults: { application_not_found },
  },
  'admin.applications.list': { input: () => page },
  'admin.applications.get': {
    input: ({ application_id }) => ({ application_id }),
    faults: { application_not_found },
  },
  'admin.applications.secrets.create': {
    input: ({ application_id }) => ({ application_id, expires_at: '2999-01-01T00:00:00Z' }),
    faults: {
      application_not_found,
      application_public: {
        'it is to get a secret': async ({ call }) => {
          const { id } = await call('admin.applications.create', { name: 'A tool', public: true });
          return { input: { application_id: id } };
        },
      },
      secret_limit_reached: {
        'a sixth is added': async ({ application_id, call }) => {
          for (let have = 1; have < 5; have++) {
            await call('admin.applications.secrets.create', { application_id });
          }
          return { input: { application_id } };
        },
      },
    },
  },
  'admin.applications.secrets.revoke': {
    input: ({ application_id, secret_id }) => ({ application_id, secret_id }),
    faults: {
      application_not_found: unknown('application_id', { secret_id: randomUUID() }),
      secret_not_found: {
        'it is unknown': ({ application_id }) => ({
          input: { application_id, secret_id: randomUUID() },
        }),
      },
    },
  },
  'admin.applications.disable': {
    input: ({ application_id }) => ({ application_id }),
    faults: { application_not_found },
  },
  'admin.applications.enable': {
    input: ({ application_id }) => ({ application_id }),
    faults: { application_not_found },
  },
  'admin.applications.delete': {
    input: ({ application_id }) => ({ application_id }),
    faults: {
      application_not_found: {
        ...application_not_found,
        'it was deleted': async ({ application_id, call }) => {
          await call('admin.applications.disable', { application_id });
          await call('admin.applications.delete', { application_id });
          return { input: { application_id } };
        },
      },
      application_enabled: {
        'it is deleted': ({ application_id }) => ({ input: { application_id } }),
      },
    },
  },
};
