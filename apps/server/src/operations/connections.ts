import { isUtf8 } from 'node:buffer';
import { DomainError } from '@latchkey/domain/domain-error';
import {
  type ConnectionPlace,
  listConnections,
} from '@latchkey/rules/connections/list-connections';
import { revokeAll } from '@latchkey/rules/grants/revoke-all';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import { toCompleteList, toConnection } from './linking-wire.ts';
import { noteMark, stateOf } from './note-mark.ts';
import type { OperationRows } from './row.ts';
import { toRevokedGrant } from './wire.ts';

export const connectionRows: OperationRows<'admin.connections'> = {
  'admin.connections.list': {
    audited: 'refusals',
    ids: { account_id: 'input.account_id' },
    async handle(service, { account_id, limit, cursor }) {
      const after = cursor === undefined ? null : placeOf(cursor);
      const { connections, next } = await listConnections(service, {
        ...{ account_id, limit, after, inTurn: false },
      });
      return { object: 'list', data: connections.map(toConnection), next_cursor: cursorOf(next) };
    },
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

/** A cursor is the id and the name of the last application that was shown. */
export const cursorOf = (place: ConnectionPlace | null): string | null =>
  place &&
  Buffer.concat([uuidToBytes(place.application_id), Buffer.from(place.name)]).toString('base64url');

/** Null if it is no cursor. */
export function placeIn(cursor: string | null): ConnectionPlace | null {
  const bytes = Buffer.from(cursor ?? '', 'base64url');
  const [id, rest] = [bytes.subarray(0, ID_BYTES), bytes.subarray(ID_BYTES)];
  const isPlace = rest.length > 0 && isUtf8(rest) && bytes.toString('base64url') === cursor;
  return isPlace ? { application_id: uuidFromBytes(id), name: rest.toString() } : null;
}

const ID_BYTES = 16;

function placeOf(cursor: string): ConnectionPlace {
  const place = placeIn(cursor);
  if (place !== null) return place;
  throw DomainError.invalid(['cursor'], 'Must be the next_cursor of the previous page.');
}
