import type { Cases } from './case.ts';

export const linkCases: Cases<'admin.links.'> = {
  'admin.links.read': { input: ({ link }) => ({ link }) },
  'admin.links.identify': {
    input: ({ link, account_id }) => ({ link, account_id, locale: 'de', own_page: false }),
  },
  'admin.links.approve': {
    input: ({ link, account_id }) => ({ link, account_id, scope: 'profile.read' }),
  },
  'admin.links.deny': { input: ({ link }) => ({ link }) },
};
