import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { oauthProvider } from '@better-auth/oauth-provider';
import { type BetterAuthOptions, betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { getAuthTables } from 'better-auth/db';
import { getMigrations } from 'better-auth/db/migration';
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

/** An adapter that keeps every table in an array. */
export function inMemory(options: BetterAuthOptions) {
  const tables = Object.keys(getAuthTables(options)).map((name) => [name, []]);
  return memoryAdapter(Object.fromEntries(tables))(options);
}

/**
 * `better-auth` with its OAuth provider plugin, set up as in its documentation: e-mail and password, the JWT plugin, two confidential clients. The clients are trusted, so that
 * no consent is needed. Everything else is the default.
 *
 * @param options.database - by default in memory
 */
export async function createBetterAuth(options: {
  url: string;
  database?: BetterAuthOptions['database'];
}): Promise<BetterAuth> {
  const { url, database = inMemory } = options;
  const settings = {
    baseURL: url,
    secret: randomBytes(32).toString('hex'),
    database,
    emailAndPassword: { enabled: true },
    disabledPaths: ['/token'],
    plugins: [jwt(), oauthProvider({ loginPage: '/sign-in', consentPage: '/consent' })],
  } satisfies BetterAuthOptions;
  // An adapter creates its own tables. Those of a database are created as `auth migrate` does.
  if (typeof database !== 'function') await (await getMigrations(settings)).runMigrations();
  const auth = betterAuth(settings);

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
