import { randomBytes } from 'node:crypto';
import { oauthProvider } from '@better-auth/oauth-provider';
import { type BetterAuthOptions, betterAuth, type DBAdapter } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { getAuthTables } from 'better-auth/db';
import { toNodeHandler } from 'better-auth/node';
import { jwt } from 'better-auth/plugins';
import { Browser } from './browser.ts';
import type { Contender } from './contender.ts';
import { distant, type Latency } from './latency.ts';
import { listen } from './listen.ts';
import { oauthApplications, REDIRECT_URI, type Registration } from './oauth-application.ts';

/** The adapter over a network, in a transaction too. */
function distantAdapter(adapter: DBAdapter, latency: Latency): DBAdapter {
  return distant(
    {
      ...adapter,
      transaction: (steps) =>
        adapter.transaction((transaction) => steps(distant(transaction, latency))),
    },
    latency,
  );
}

/**
 * `better-auth` with its OAuth provider plugin as its documentation sets it up, on its memory
 * adapter: e-mail and password, the JWT plugin, two confidential clients, everything else by
 * default. The clients are trusted ones, for which no consent is asked.
 */
export async function startBetterAuth({ latency }: { latency: Latency }): Promise<Contender> {
  const server = await listen();
  const auth = betterAuth({
    baseURL: server.url,
    secret: randomBytes(32).toString('hex'),
    database(options: BetterAuthOptions) {
      const tables = Object.keys(getAuthTables(options)).map((name) => [name, []]);
      return distantAdapter(memoryAdapter(Object.fromEntries(tables))(options), latency);
    },
    emailAndPassword: { enabled: true },
    disabledPaths: ['/token'],
    plugins: [jwt(), oauthProvider({ loginPage: '/sign-in', consentPage: '/consent' })],
  });
  server.handle(toNodeHandler(auth));

  const user = { name: 'Ada', email: 'ada@example.com', password: randomBytes(16).toString('hex') };
  const signedUp = await auth.api.signUpEmail({ body: user, returnHeaders: true });
  const browser = new Browser();
  browser.keepCookies(signedUp.headers.getSetCookie());

  const register = async (): Promise<Registration> => {
    const { client_id, client_secret } = await auth.api.adminCreateOAuthClient({
      headers: { cookie: browser.cookie },
      body: { redirect_uris: [REDIRECT_URI], skip_consent: true },
    });
    if (client_secret === undefined) throw new Error('A client was registered without a secret.');
    return { client_id, client_secret };
  };
  const application = await register();
  const other = await register();

  return {
    ...oauthApplications({
      token: `${server.url}/api/auth/oauth2/token`,
      userinfo: `${server.url}/api/auth/oauth2/userinfo`,
      application,
      other,
      authorize: (query) =>
        browser.visit(new URL(`${server.url}/api/auth/oauth2/authorize?${query}`)),
    }),
    close: server.close,
  };
}
