import { ADDRESS, type Cases, page } from './case.ts';

export const accountCases: Cases<'admin.accounts.' | 'admin.connections.' | 'admin.pages.'> = {
  'admin.accounts.put': {
    input: ({ account_id }) => ({
      ...{ account_id, username: 'eve', display_name: 'Eve', twitter: 'eve' },
      ...{ verified: false, supporter: false, external_id: 'user-4711' },
    }),
  },
  'admin.accounts.get': { input: ({ account_id }) => ({ account_id }) },
  'admin.accounts.list': { input: () => ({ username: 'eve', ...page }) },
  'admin.accounts.erase': { input: ({ account_id }) => ({ account_id }) },
  'admin.accounts.export': { input: ({ account_id }) => ({ account_id }) },
  'admin.connections.list': { input: ({ account_id }) => ({ account_id }) },
  'admin.connections.revoke': {
    input: ({ account_id, application_id }) => ({ account_id, application_id }),
  },
  'admin.pages.create': {
    input: ({ account_id }) => ({
      ...{ page: 'connections', account_id, return_url: ADDRESS, locale: 'de' },
    }),
  },
  'admin.pages.end': { input: ({ account_id }) => ({ account_id }) },
};
