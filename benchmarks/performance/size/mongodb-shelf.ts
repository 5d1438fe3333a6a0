import {
  type GrantDocument,
  mark,
  toDate,
  toHash,
  toId,
  toPendingDocument,
} from '../../../apps/server/src/store/mongodb/documents.ts';
import { clientFor, defaultPatience } from '../../../apps/server/src/store/mongodb/settings.ts';
import type { Shelf } from './shelf.ts';
import type { StoredGrant } from './stored-grants.ts';

function toDocument(grant: StoredGrant): GrantDocument {
  const { code_expires_at: _, ...document } = toPendingDocument({
    ...grant,
    code_expires_at: 0,
    origin: grant.issued_by,
  });
  return {
    ...document,
    created_at: toDate(grant.created_at),
    ...(grant.secret_hash && { secret_hash: toHash(grant.secret_hash) }),
    redemption_id: toId(crypto.randomUUID()),
    ...mark('exchanged_by', grant.exchanged_by),
    first_used_at: toDate(grant.first_used_at),
    ...mark('first_used_by', grant.first_used_by),
    ...(grant.revoked_at !== null && { revoked_at: toDate(grant.revoked_at) }),
    ...mark('revoked_by', grant.revoked_by ?? undefined),
  };
}

/** The grants in a database that has Latchkey's indexes. */
export async function mongodbShelf(url: string): Promise<Shelf> {
  // A deletion or a batch takes longer than a request may.
  const { client, name } = clientFor(url, { ...defaultPatience, operation: 60_000 });
  await client.connect();
  const grants = client.db(name).collection<GrantDocument>('grants');

  async function add(stored: readonly StoredGrant[]): Promise<void> {
    await grants.insertMany(stored.map(toDocument), { ordered: false });
  }

  return {
    add,
    async restore(stored) {
      await grants.deleteMany({ _id: { $in: stored.map(({ grant_id }) => toId(grant_id)) } });
      await add(stored);
    },
    async removeAfter(grant_id) {
      await grants.deleteMany({ _id: { $gt: toId(grant_id) } });
    },
    close: () => client.close(),
  };
}
