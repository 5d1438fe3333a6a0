import { type Binary, MongoClient, type ReadConcernLike, UUID } from 'mongodb';
import type { AccountRecord, GrantRecord, Records } from '../bare/records.ts';
import { runBare } from '../bare/server.ts';
import type { Contender } from '../contender.ts';
import { startProgram } from '../program.ts';
import { restWire } from '../wires/rest.ts';

interface GrantDocument {
  _id: UUID;
  application_id: UUID;
  account_id: UUID;
  scope: string;
  account: AccountRecord;
  code_hash: Uint8Array;
  code_expires_at?: Date;
  created_at?: Date;
  secret_hash?: Binary;
  first_used_at?: Date;
  revoked_at?: Date;
}

interface ApplicationDocument {
  _id: UUID;
  name: string;
  disabled: boolean;
  secret_hash: Binary;
}

type JoinedDocument = GrantDocument & {
  application: ApplicationDocument[];
  account_now: { _id: UUID; account: AccountRecord }[];
};

const grantOf = (document: GrantDocument): GrantRecord => ({
  grant_id: document._id.toString(),
  application_id: document.application_id.toString(),
  scope: document.scope,
  account: document.account,
  created_at: document.created_at?.getTime() ?? 0,
  revoked_at: document.revoked_at?.getTime() ?? null,
});

/** Records in MongoDB, with Latchkey's queries, write concern and read concern. */
async function mongodbRecords(url: string): Promise<Records> {
  const client = await new MongoClient(url).connect();
  const database = client.db();
  const replicated = typeof (await database.command({ hello: 1 })).setName === 'string';
  const readConcern: ReadConcernLike = { level: replicated ? 'linearizable' : 'local' };
  const reading = { readConcern, maxTimeMS: 5000 };
  const writing = {
    writeConcern: { w: 'majority' as const, j: true, wtimeoutMS: 5000 },
    maxTimeMS: 5000,
  };
  const after = { ...writing, returnDocument: 'after' as const };
  const applications = database.collection<ApplicationDocument>('bare_applications');
  const accounts = database.collection<JoinedDocument['account_now'][number]>('bare_accounts');
  const grants = database.collection<GrantDocument>('bare_grants');

  return {
    async createApplication({ id, name, disabled, secret_hash: hash }) {
      const secret_hash = hash as unknown as Binary;
      await applications.insertOne({ _id: new UUID(id), name, disabled, secret_hash }, writing);
    },
    async putAccount(account) {
      await accounts.insertOne({ _id: new UUID(account.id), account }, writing);
    },
    async findApplication(id) {
      const found = await applications.findOne({ _id: new UUID(id) }, reading);
      if (!found) return null;
      const { name, disabled, secret_hash } = found;
      return { id, name, disabled, secret_hash: secret_hash.value() };
    },
    async issueCode({ grant_id, application_id, account, scope, code_hash, code_expires_at }) {
      await grants.insertOne(
        {
          _id: new UUID(grant_id),
          application_id: new UUID(application_id),
          account_id: new UUID(account.id),
          ...{ scope, account, code_hash },
          code_expires_at: new Date(code_expires_at),
        },
        writing,
      );
    },
    async redeemCode({ grant_id, application_id, code_hash, secret_hash, now }) {
      const document = await grants.findOneAndUpdate(
        {
          _id: new UUID(grant_id),
          application_id: new UUID(application_id),
          code_hash,
          created_at: { $exists: false },
          code_expires_at: { $gt: new Date(now) },
        },
        {
          $set: { created_at: new Date(now), secret_hash: secret_hash as unknown as Binary },
          $unset: { code_expires_at: '' },
        },
        after,
      );
      return document && grantOf(document);
    },
    async authenticateGrant(grant_id) {
      const [found] = await grants
        .aggregate<JoinedDocument>(
          [
            { $match: { _id: new UUID(grant_id), created_at: { $exists: true } } },
            {
              $lookup: {
                from: 'bare_applications',
                localField: 'application_id',
                foreignField: '_id',
                as: 'application',
              },
            },
            {
              $lookup: {
                from: 'bare_accounts',
                localField: 'account_id',
                foreignField: '_id',
                as: 'account_now',
              },
            },
          ],
          reading,
        )
        .toArray();
      if (!found) return null;
      return {
        grant: grantOf(found),
        secret_hash: found.secret_hash?.value() ?? null,
        first_used_at: found.first_used_at?.getTime() ?? null,
        application_disabled: found.application[0]?.disabled ?? true,
        account: found.account_now[0]?.account ?? null,
      };
    },
    async noteFirstUse({ grant_id, secret_hash, now }) {
      const document = await grants.findOneAndUpdate(
        { _id: new UUID(grant_id), secret_hash: secret_hash as unknown as Binary },
        { $set: { first_used_at: new Date(now) } },
        after,
      );
      return document !== null;
    },
    async revokeGrant({ grant_id, application_id, now }) {
      const document = await grants.findOneAndUpdate(
        {
          _id: new UUID(grant_id),
          application_id: new UUID(application_id),
          created_at: { $exists: true },
          revoked_at: { $exists: false },
        },
        { $set: { revoked_at: new Date(now) }, $unset: { secret_hash: '' } },
        after,
      );
      return document && grantOf(document);
    },
  };
}

/** The floor on MongoDB: the same rules over the driver. */
export const mongodb: Contender = {
  name: 'node:http over the MongoDB driver',
  share: 0.2,
  start: (options) => startProgram(import.meta.filename, options, restWire),
};

if (import.meta.main) await runBare(await mongodbRecords(process.env.DATABASE_URL ?? ''));
