import type { Collection, Db } from 'mongodb';
import type { Adapter, AdapterPayload } from 'oidc-provider';

interface Document {
  _id: string;
  payload: AdapterPayload;
  expiresAt?: Date;
}

/**
 * Keeps the records of one model of `oidc-provider` in a MongoDB collection. Written for this package, with
 * the same calls and indexes as the project's example, `example/adapters/mongodb.js`.
 */
export class MongodbAdapter implements Adapter {
  readonly #collection: Collection<Document>;

  constructor(database: Db, model: string) {
    this.#collection = database.collection<Document>(model);
  }

  /** For the models that the race needs. */
  static async createIndexes(database: Db): Promise<void> {
    for (const model of ['AccessToken', 'AuthorizationCode', 'RefreshToken']) {
      await database.collection(model).createIndex({ 'payload.grantId': 1 });
    }
    await database.collection('Session').createIndex({ 'payload.uid': 1 }, { unique: true });
  }

  async upsert(_id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    const expiresAt = expiresIn ? { expiresAt: new Date(Date.now() + expiresIn * 1000) } : {};
    const fields = { payload, ...expiresAt };
    await this.#collection.updateOne({ _id }, { $set: fields }, { upsert: true });
  }

  find(_id: string): Promise<AdapterPayload | undefined> {
    return this.#payload({ _id });
  }

  findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.#payload({ 'payload.uid': uid });
  }

  findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return this.#payload({ 'payload.userCode': userCode });
  }

  async consume(_id: string): Promise<void> {
    const consumed = Math.floor(Date.now() / 1000);
    await this.#collection.findOneAndUpdate({ _id }, { $set: { 'payload.consumed': consumed } });
  }

  async destroy(_id: string): Promise<void> {
    await this.#collection.deleteOne({ _id });
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await this.#collection.deleteMany({ 'payload.grantId': grantId });
  }

  async #payload(filter: Record<string, string>): Promise<AdapterPayload | undefined> {
    return (await this.#collection.findOne(filter))?.payload;
  }
}
