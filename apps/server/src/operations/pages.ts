import { createConnectionsPage } from '@latchkey/rules/linking/create-connections-page';
import { toPage } from './linking-wire.ts';
import type { OperationRows } from './row.ts';

export const pageRows: OperationRows<'admin.pages'> = {
  'admin.pages.create': {
    audited: 'always',
    ids: { account_id: 'input.account_id' },
    handle: async (service, request, _operator, initiator) => {
      const { account_id, return_url = null, locale = null } = request;
      return toPage(
        await createConnectionsPage(service, { account_id, return_url, locale }, initiator),
      );
    },
  },
  'admin.pages.end': {
    audited: 'always',
    ids: { account_id: 'input.account_id' },
    handle: async ({ store }, { account_id }) => {
      await store.endPages(account_id);
      return { object: 'pages_ended', account_id };
    },
  },
};
