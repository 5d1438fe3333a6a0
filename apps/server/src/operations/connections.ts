import { endConnection } from '@latchkey/rules/connections/end-connection';
import { listConnectionsWithGrants } from '@latchkey/rules/connections/list-connections';
import { toCompleteList, toConnection } from './linking-wire.ts';
import type { OperationRows } from './row.ts';
import { toRevokedGrant } from './wire.ts';

export const connectionRows: OperationRows<'admin.connections'> = {
  'admin.connections.list': {
    audited: 'refusals',
    ids: { account_id: 'input.account_id' },
    handle: async (service, { account_id }) =>
      toCompleteList((await listConnectionsWithGrants(service, account_id)).map(toConnection)),
  },
  'admin.connections.revoke': {
    audited: 'always',
    ids: { account_id: 'input.account_id', application_id: 'input.application_id' },
    handle: async (service, connection, _operator, initiator) =>
      toCompleteList((await endConnection(service, connection, initiator)).map(toRevokedGrant)),
  },
};
