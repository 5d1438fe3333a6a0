import { randomBytes } from 'node:crypto';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node';
import { genericOAuth } from 'better-auth/plugins';
import {
  app,
  clientId,
  clientSecret,
  latchkeyUrl,
  redirectUri,
  scope,
  serveAccount,
} from './application.ts';

// Register `http://127.0.0.1/api/auth/callback/latchkey` for it.
const auth = betterAuth({
  baseURL: new URL(redirectUri).origin,
  secret: randomBytes(32).toString('hex'),
  // Use your database. Without one, it keeps the token for five minutes.
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
  account: { encryptOAuthTokens: true },
  plugins: [
    genericOAuth({
      config: [
        {
          providerId: 'latchkey',
          discoveryUrl: `${latchkeyUrl}/.well-known/oauth-authorization-server`,
          userInfoUrl: `${latchkeyUrl}/v1/account`,
          clientId,
          clientSecret,
          authentication: 'basic',
          scopes: [scope],
          // Its users have an email, and Latchkey's accounts have none.
          mapProfileToUser: ({ id, display_name }) => ({
            name: `${display_name}`,
            email: `${id}@latchkey.invalid`,
          }),
        },
      ],
    }),
  ],
});

app.all('/api/auth/{*path}', toNodeHandler(auth));
// A page would call `authClient.signIn.social` instead.
app.get('/connect', async (_request, response) => {
  const { headers, response: started } = await auth.api.signInSocial({
    body: { provider: 'latchkey', callbackURL: '/account' },
    returnHeaders: true,
  });
  response.setHeaders(headers).redirect(started.url ?? '/');
});
serveAccount(async (request) => {
  const headers = fromNodeHeaders(request.headers);
  const [account] = await auth.api.listUserAccounts({ headers });
  if (account === undefined) return undefined;
  const body = { accountId: account.id };
  const { accessToken } = await auth.api.getAccessToken({ body, headers });
  return accessToken;
});
