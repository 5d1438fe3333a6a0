import { ADDRESS, type Cases, type Faults, page, unknown } from './case.ts';

const account_not_found: Faults = {
  ...unknown('account_id'),
  'it was erased': async ({ account_id, call }) => {
    await call('admin.accounts.erase', { account_id });
    return { input: { account_id } };
  },
};

/** The place behind an application with this name: its id, then its name. */
const BEHIND_A = Buffer.concat([Buffer.alloc(16), Buffer.from('A')]).toString('base64url');

export const accountCases: Cases<'admin.accounts.' | 'admin.connections.' | 'admin.pages.'> = {
  'admin.accounts.put': {
    input: ({ account_id }) => ({
      ...{ account_id, username: 'eve', display_name: 'Eve', twitter: 'eve' },
      ...{ verified: false, supporter: false, external_id: 'user-4711' },
    }),
  },
  'admin.accounts.get': {
    input: ({ account_id }) => ({ account_id }),
    faults: { account_not_found },
  },
  'admin.accounts.list': { input: () => ({ username: 'eve', ...page }) },
  'admin.accounts.erase': { input: ({ account_id }) => ({ account_id }) },
  'admin.accounts.export': {
    input: ({ account_id }) => ({ account_id }),
    faults: { account_not_found },
  },
  'admin.connections.list': {
    input: ({ account_id }) => ({ account_id, limit: 1, cursor: BEHIND_A }),
  },
  'admin.connections.revoke': {
    input: ({ account_id, application_id }) => ({ account_id, application_id }),
  },
  'admin.pages.create': {
    input: ({ account_id }) => ({
      ...{ page: 'connections', account_id, return_url: ADDRESS, locale: 'de' },
    }),
    faults: { account_not_found: unknown('account_id', { page: 'connections' }) },
  },
  'admin.pages.end': { input: ({ account_id }) => ({ account_id }) },
};
