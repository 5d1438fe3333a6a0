import { ADDRESS, type Cases, page } from './case.ts';

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
  },
  'admin.applications.list': { input: () => page },
  'admin.applications.get': { input: ({ application_id }) => ({ application_id }) },
  'admin.applications.secrets.create': {
    input: ({ application_id }) => ({ application_id, expires_at: '2999-01-01T00:00:00Z' }),
  },
  'admin.applications.secrets.revoke': {
    input: ({ application_id, secret_id }) => ({ application_id, secret_id }),
  },
  'admin.applications.disable': { input: ({ application_id }) => ({ application_id }) },
  'admin.applications.enable': { input: ({ application_id }) => ({ application_id }) },
  'admin.applications.delete': { input: ({ application_id }) => ({ application_id }) },
};
