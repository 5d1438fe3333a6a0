import { MongoClient } from 'mongodb';
import {
  type GrantDocument,
  originField,
  toDate,
  toHash,
  toId,
  toNewDocument,
  toSnapshot,
} from '../../../apps/server/src/store/mongodb/documents.ts';
import { type Seeder, type SeedGrant, unbound } from './seed-data.ts';

function toDocument(grant: SeedGrant): GrantDocument {
  const { code_expires_at: _, ...document } = toNewDocument({
    ...grant,
    ...unbound,
    account_id: grant.account.id,
    code_expires_at: 0,
    origin: grant.issued_by,
  });
  return {
    ...document,
    account: toSnapshot(grant.account),
    code_hash: toHash(grant.code_hash),
    created_at: toDate(grant.created_at),
    ...(grant.secret_hash && { secret_hash: toHash(grant.secret_hash) }),
    redemption_id: toId(crypto.randomUUID()),
    ...originField('redeemed_by', grant.redeemed_by),
    first_used_at: toDate(grant.first_used_at),
    ...originField('first_used_by', grant.first_used_by),
    ...(grant.revoked_at !== null && { revoked_at: toDate(grant.revoked_at) }),
    ...originField('revoked_by', grant.revoked_by ?? undefined),
  };
}

/** Opens a database that has Latchkey's indexes. */
export async function openMongodbSeeder(url: string): Promise<Seeder> {
  const client = await new MongoClient(url).connect();
  const grants = client.db().collection<GrantDocument>('grants');

  async function insert(stored: readonly SeedGrant[]): Promise<void> {
    await grants.insertMany(stored.map(toDocument), { ordered: false });
  }

  return {
    insert,
    async restore(stored) {
      await grants.deleteMany({ _id: { $in: stored.map(({ grant_id }) => toId(grant_id)) } });
      await insert(stored);
    },
    async deleteAfter(grant_id) {
      await grants.deleteMany({ _id: { $gt: toId(grant_id) } });
    },
    close: () => client.close(),
  };
}
