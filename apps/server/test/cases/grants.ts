import { ADDRESS, type Cases, page, SINCE } from './case.ts';
import type { World } from './world.ts';

const tokenOf = ({ grant }: World) => ({
  ...{ token: grant.grant_secret, token_type_hint: 'access_token' },
});
const idOf = ({ grant: { grant_id } }: World) => ({ grant_id });

type Named = 'grants.' | 'account.' | 'admin.grants.' | 'admin.codes.' | 'admin.refusals.';

export const grantCases: Cases<Named> = {
  'grants.convert': {
    input: ({ pending: { grant_id: _, ...input } }) => input,
  },
  'grants.revokeToken': { input: tokenOf },
  'grants.introspect': { input: tokenOf },
  'grants.revoke': { input: idOf },
  'grants.recover': { input: idOf },
  'account.get': { input: () => ({}) },
  'account.grant': { input: () => ({}) },
  'admin.codes.issue': {
    input: ({ application_id, account_id, resource }) => ({
      ...{ application_id, account_id, resource, scope: 'all', redirect_uri: ADDRESS },
      code_challenge: 'c'.repeat(43),
    }),
  },
  'admin.codes.cancel': { input: ({ pending: { grant_id } }) => ({ grant_id }) },
  'admin.grants.list': { input: ({ account_id }) => ({ account_id, ...page }) },
  'admin.grants.revoke': { input: idOf },
  'admin.grants.revokeAll': { input: ({ account_id }) => ({ account_id }) },
  'admin.grants.history': { input: idOf },
  'admin.refusals.list': { input: ({ account_id }) => ({ account_id, since: SINCE, ...page }) },
};
