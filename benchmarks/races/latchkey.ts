import { randomBytes, randomUUID } from 'node:crypto';
import { mintCredential } from '../../apps/server/src/credentials/credentials.ts';
import { createLog } from '../../apps/server/src/log.ts';
import { loadSettings } from '../../apps/server/src/settings.ts';
import { startServer } from '../../apps/server/src/start-server.ts';
import type { Store } from '../../apps/server/src/store/store.ts';
import { accepted, type Contender, type Redeemer } from './contender.ts';
import { distant, type Latency } from './latency.ts';

/**
 * Latchkey as `latchkey serve` starts it, over its real store. Applications, account and codes are
 * made over its REST interface.
 *
 * @param options.changed - the store that the server gets in place of the one it opened
 */
export async function startLatchkey(options: {
  databaseUrl: string;
  latency: Latency;
  changed?: (store: Store) => Store;
}): Promise<Contender> {
  const { databaseUrl, latency, changed = (store) => store } = options;
  const adminSecret = randomBytes(32).toString('hex');
  const settings = loadSettings({
    PORT: '0',
    DATABASE_URL: databaseUrl,
    ADMIN_SECRET: adminSecret,
    LOG_LEVEL: 'silent',
    // Every call of a race comes from one address and one application.
    RATE_LIMIT: 'off',
  });
  const { log, close: closeLog } = createLog(settings);
  const server = await startServer(settings, log);
  // The handlers take the store from the service with each request, and none has come yet.
  server.service.store = changed(distant(server.service.store, latency));

  function call(method: string, path: string, secret: string | null, body?: object) {
    return fetch(server.url + path, {
      method,
      headers: {
        ...(secret !== null && { authorization: `Bearer ${secret}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  }

  async function administer(method: string, path: string, body: object) {
    const answer = await accepted(await call(method, path, adminSecret, body));
    if (answer === null) throw new Error(`${method} ${path} was refused.`);
    return answer as Record<'id' | 'secret' | 'code', string>;
  }

  const account_id = randomUUID();
  await administer('PUT', `/admin/accounts/${account_id}`, { username: 'ada' });
  const application = await administer('POST', '/admin/applications', { name: 'Application' });
  const other = await administer('POST', '/admin/applications', { name: 'Other application' });
  const secrets: Record<Redeemer, string | null> = {
    application: application.secret,
    // Right in form and checksum, so that it is the store that doesn't know it.
    'wrong secret': mintCredential('applicationSecret', application.id).credential,
    'other application': other.secret,
    nobody: null,
  };
  const wanted = { application_id: application.id, account_id, scope: 'profile.read' };

  return {
    issue: async () => (await administer('POST', '/admin/codes', wanted)).code,
    async redeem(code, by) {
      const answer = await accepted(await call('POST', '/oauth/convert', secrets[by], { code }));
      return answer?.grant_secret ?? null;
    },
    admits: async (grant) => (await accepted(await call('GET', '/v1/account', grant))) !== null,
    async close() {
      await server.close();
      await closeLog();
    },
  };
}
