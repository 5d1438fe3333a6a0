import { generateKeyPairSync, randomBytes } from 'node:crypto';
import Provider, { type Adapter, type AdapterPayload, type JWK } from 'oidc-provider';
import { REDIRECT_URI, type Registration } from './oauth-client.ts';

/** Keeps the records of one model in a Map, as the project's example adapters do. */
export class MapAdapter implements Adapter {
  readonly #records = new Map<string, AdapterPayload>();
  /** Record ids by grant, so that revoking a grant does not scan all records. */
  readonly #grants = new Map<string, Set<string>>();

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    this.#records.set(id, payload);
    if (payload.grantId === undefined) return;
    const ids = this.#grants.get(payload.grantId);
    if (ids) ids.add(id);
    else this.#grants.set(payload.grantId, new Set([id]));
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const record = this.#records.get(id);
    return record && { ...record };
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return [...this.#records.values()].find((record) => record.uid === uid);
  }

  async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return [...this.#records.values()].find((record) => record.userCode === userCode);
  }

  async consume(id: string): Promise<void> {
    const record = this.#records.get(id);
    if (record) record.consumed = Math.floor(Date.now() / 1000);
  }

  async destroy(id: string): Promise<void> {
    this.#records.delete(id);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const id of this.#grants.get(grantId) ?? []) this.#records.delete(id);
    this.#grants.delete(grantId);
  }
}

/**
 * `oidc-provider`, set up as in its documentation: an adapter, confidential clients, generated
 * keys, a revocation endpoint. Everything else is the default.
 *
 * @param options.adapter - of a model; by default one in memory
 */
export function createOidcProvider(options: {
  url: string;
  clients: readonly Registration[];
  adapter?: (model: string) => Adapter;
}): Provider {
  const { url, clients, adapter = () => new MapAdapter() } = options;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return new Provider(url, {
    adapter,
    clients: clients.map((client) => ({ ...client, redirect_uris: [REDIRECT_URI] })),
    scopes: ['openid', 'profile.read'],
    features: { revocation: { enabled: true } },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig' } as JWK] },
  });
}
