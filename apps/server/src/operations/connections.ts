import { listConnectionsWithGrants } from '@latchkey/rules/connections/list-connections';
import { revokeAll } from '@latchkey/rules/grants/revoke-all';
import { toCompleteList, toConnection } from './linking-wire.ts';
import { noteMark, stateOf } from './note-mark.ts';
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
    handle: async (service, connection, _operator, initiator, { ids }) => {
      const ended = noteMark(ids, await revokeAll(service, connection, initiator));
      return { ...toCompleteList(ended.revoked.map(toRevokedGrant)), state: stateOf(ended) };
    },
  },
};
