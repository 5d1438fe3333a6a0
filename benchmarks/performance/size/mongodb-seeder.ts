import { MongoClient } from 'mongodb';
import { toSnapshot } from '../../../apps/server/src/store/mongodb/documents/accounts.ts';
import {
  type GrantDocument,
  toNewDocument,
} from '../../../apps/server/src/store/mongodb/documents/grants.ts';
import {
  initiatorField,
  toDate,
  toHash,
  toId,
} from '../../../apps/server/src/store/mongodb/documents/values.ts';
import { uuidV7 } from '../credentials.ts';
import { type Seeder, type SeedGrant, unbound } from './seed-data.ts';

function toDocument(grant: SeedGrant): GrantDocument {
  const { code_expires_at: _, ...document } = toNewDocument({
    ...grant,
    ...unbound,
    account_id: grant.account.id,
    code_expires_at: 0,
    initiator: grant.issued_by,
  });
  return {
    ...document,
    account: toSnapshot(grant.account),
    code_hash: toHash(grant.code_hash),
    created_at: toDate(grant.created_at),
    ...(grant.secret_hash && { secret_hash: toHash(grant.secret_hash) }),
    redemption_id: toId(crypto.randomUUID()),
    ...initiatorField('redeemed_by', grant.redeemed_by),
    first_used_at: toDate(grant.first_used_at),
    ...initiatorField('first_used_by', grant.first_used_by),
    ...(grant.revoked_at !== null && { revoked_at: toDate(grant.revoked_at) }),
    ...initiatorField('revoked_by', grant.revoked_by ?? undefined),
  };
}

/** Opens a database that has Latchkey's indexes. */
export async function openMongodbSeeder(url: string): Promise<Seeder> {
  const client = await new MongoClient(url).connect();
  const grants = client.db().collection<GrantDocument>('grants');

  return {
    // The primary alone confirms each: the others follow while the next ones are made. Flow control
    // keeps them from falling far behind.
    async insert(stored) {
      const writeConcern = { w: 1, journal: false };
      await grants.insertMany(stored.map(toDocument), { ordered: false, writeConcern });
    },
    async settle() {
      const { hosts } = await client.db().command({ hello: 1 });
      // A write that changes nothing is confirmed by all members once they have what came before it.
      const writeConcern = { w: hosts?.length ?? 'majority' };
      await grants.updateOne({ _id: toId(uuidV7(0)) }, { $set: { scope: '' } }, { writeConcern });
    },
    async restore(stored) {
      await grants.deleteMany({ _id: { $in: stored.map(({ grant_id }) => toId(grant_id)) } });
      await grants.insertMany(stored.map(toDocument), { ordered: false });
    },
    async deleteAfter(grant_id) {
      await grants.deleteMany({ _id: { $gt: toId(grant_id) } });
    },
    close: () => client.close(),
  };
}
