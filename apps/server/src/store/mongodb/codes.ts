import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import {
  fromGrantDocument,
  fromPendingDocument,
  isExchanged,
  isSame,
  mark,
  toCodeState,
  toDate,
  toHash,
  toId,
  toPendingDocument,
} from './documents.ts';

type Codes = Pick<Store, 'issueCode' | 'cancelCode' | 'redeemCode' | 'findCode'>;

export function codes(connection: Connection, clock: Clock): Codes {
  return {
    async issueCode(code) {
      const document = toPendingDocument(code);
      await connection.write<void>(({ grants, decisive }) => ({
        grant_id: code.grant_id,
        send: async (durable) => void (await grants.insertOne(document, durable)),
        // Not sent again: of two copies one could arrive after the code was cancelled, and bring it
        // back. A code that is never told to anybody expires by itself.
        readBack: async () =>
          (await grants.findOne({ _id: document._id }, decisive))
            ? { result: undefined }
            : ('unknown' as const),
      }));
    },

    async cancelCode(grant_id) {
      const _id = toId(grant_id);
      const document = await connection.write(({ grants, decisive }) => ({
        grant_id,
        send: (durable) =>
          grants.findOneAndDelete({ _id, created_at: { $exists: false } }, durable),
        async readBack() {
          const found = await grants.findOne({ _id }, decisive);
          // Cancelled by us, by another, or expired and swept.
          if (!found) return 'unknown' as const;
          return isExchanged(found) ? { result: null } : ('again' as const);
        },
      }));
      return document && fromPendingDocument(document);
    },

    async redeemCode({ grant_id, application_id, code_hash, secret_hash, now, origin }) {
      const _id = toId(grant_id);
      const redemption_id = toId(randomUUID());
      const secret = toHash(secret_hash);
      const document = await connection.write(({ grants, decisive }) => ({
        grant_id,
        // All conditions and all that makes a grant are in this one command: there is no moment at
        // which the code is spent and the grant does not exist.
        send: (durable) =>
          grants.findOneAndUpdate(
            {
              _id,
              application_id: toId(application_id),
              code_hash: toHash(code_hash),
              created_at: { $exists: false },
              code_expires_at: { $gt: toDate(now) },
            },
            {
              $set: {
                created_at: toDate(now),
                secret_hash: secret,
                redemption_id,
                ...mark('exchanged_by', origin),
              },
              $unset: { code_expires_at: '' },
            },
            { ...durable, returnDocument: 'after' },
          ),
        async readBack() {
          const found = await grants.findOne({ _id }, decisive);
          if (!found) return { result: null };
          if (isExchanged(found)) {
            // Ours, but recovered or revoked since by someone who saw it: then the secret we would
            // hand out is dead, and the caller is better told that the code was used.
            const ours = isSame(found.redemption_id, redemption_id);
            return { result: ours && isSame(found.secret_hash, secret) ? found : null };
          }
          const expired = (found.code_expires_at?.getTime() ?? 0) <= clock();
          return expired ? ('unknown' as const) : ('again' as const);
        },
      }));
      return document && fromGrantDocument(document);
    },

    async findCode(grant_id) {
      const document = await connection.read(({ grants, decisive }) =>
        grants.findOne({ _id: toId(grant_id) }, decisive),
      );
      return document && toCodeState(document);
    },
  };
}
