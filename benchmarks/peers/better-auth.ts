import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { oauthProvider } from '@better-auth/oauth-provider';
import { type BetterAuthOptions, betterAuth, type DBAdapter } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { getAuthTables } from 'better-auth/db';
import { toNodeHandler } from 'better-auth/node';
import { jwt } from 'better-auth/plugins';
import { REDIRECT_URI, type Registration } from './oauth-client.ts';

/** A `better-auth` server with two applications and a signed-in user. */
export interface BetterAuth {
  listener: RequestListener;
  application: Registration;
  other: Registration;
  /** The Set-Cookie headers of the user's session. */
  cookies: string[];
}

/**
 * `better-auth` with its OAuth provider plugin, set up as in its documentation: memory adapter,
 * e-mail and password, the JWT plugin, two confidential clients. The clients are trusted, so that
 * no consent is needed. Everything else is the default.
 *
 * @param options.store - wraps the memory adapter
 */
export async function createBetterAuth(options: {
  url: string;
  store?: (adapter: DBAdapter) => DBAdapter;
}): Promise<BetterAuth> {
  const { url, store = (adapter) => adapter } = options;
  const auth = betterAuth({
    baseURL: url,
    secret: randomBytes(32).toString('hex'),
    database(options: BetterAuthOptions) {
      const tables = Object.keys(getAuthTables(options)).map((name) => [name, []]);
      return store(memoryAdapter(Object.fromEntries(tables))(options));
    },
    emailAndPassword: { enabled: true },
    disabledPaths: ['/token'],
    plugins: [jwt(), oauthProvider({ loginPage: '/sign-in', consentPage: '/consent' })],
  });

  const user = { name: 'Ada', email: 'ada@example.com', password: randomBytes(16).toString('hex') };
  const signedUp = await auth.api.signUpEmail({ body: user, returnHeaders: true });
  const cookies = signedUp.headers.getSetCookie();
  const cookie = cookies.map((line) => line.split(';')[0]).join('; ');

  const register = async (): Promise<Registration> => {
    const { client_id, client_secret } = await auth.api.adminCreateOAuthClient({
      headers: { cookie },
      body: { redirect_uris: [REDIRECT_URI], skip_consent: true },
    });
    if (client_secret === undefined) throw new Error('A client was registered without a secret.');
    return { client_id, client_secret };
  };

  return {
    listener: toNodeHandler(auth),
    application: await register(),
    other: await register(),
    cookies,
  };
}
