import { generateKeyPairSync, randomBytes } from 'node:crypto';
import Provider, { type Adapter, type AdapterPayload, type JWK } from 'oidc-provider';
import { Browser } from './browser.ts';
import type { Contender } from './contender.ts';
import { distant, type Latency } from './latency.ts';
import { listen } from './listen.ts';
import { oauthApplications, REDIRECT_URI } from './oauth-application.ts';

/** The records of one model, as the example adapters of the project keep them, in a Map. */
class MapAdapter implements Adapter {
  readonly #records = new Map<string, AdapterPayload>();

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    this.#records.set(id, payload);
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
    for (const [id, record] of this.#records) {
      if (record.grantId === grantId) this.#records.delete(id);
    }
  }
}

/**
 * `oidc-provider` as its documentation sets it up: an adapter, two confidential clients, keys of
 * its own, everything else by default. Users log in and consent on its development pages.
 */
export async function startOidcProvider({ latency }: { latency: Latency }): Promise<Contender> {
  const server = await listen();
  const application = { client_id: 'application', client_secret: randomBytes(32).toString('hex') };
  const other = { client_id: 'other', client_secret: randomBytes(32).toString('hex') };
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

  const provider = new Provider(server.url, {
    adapter: () => distant(new MapAdapter(), latency),
    clients: [application, other].map((client) => ({ ...client, redirect_uris: [REDIRECT_URI] })),
    cookies: { keys: [randomBytes(32).toString('hex')] },
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig' } as JWK] },
  });
  server.handle(provider.callback());

  return {
    ...oauthApplications({
      token: `${server.url}/token`,
      userinfo: `${server.url}/me`,
      application,
      other,
      async authorize(query) {
        // A browser of its own for each code: the codes of one session share a grant.
        const browser = new Browser();
        const login = await browser.visit(new URL(`${server.url}/auth?${query}`));
        const consent = await browser.visit(login, {
          prompt: 'login',
          login: 'ada',
          password: 'any',
        });
        return browser.visit(consent, { prompt: 'consent' });
      },
    }),
    close: server.close,
  };
}
