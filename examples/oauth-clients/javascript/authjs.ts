import { randomBytes } from 'node:crypto';
import { getToken } from '@auth/core/jwt';
import { ExpressAuth, type ExpressAuthConfig } from '@auth/express';
import { app, clientId, clientSecret, latchkeyUrl, scope, serveAccount } from './application.ts';

const secret = randomBytes(32).toString('hex');

// Register `http://127.0.0.1/auth/callback/latchkey` for it.
const config: ExpressAuthConfig = {
  secret,
  trustHost: true,
  providers: [
    {
      id: 'latchkey',
      name: 'Latchkey',
      type: 'oauth',
      // Without the issuer, it refuses every callback that names one.
      issuer: latchkeyUrl,
      clientId,
      clientSecret,
      checks: ['pkce', 'state'],
      authorization: { url: `${latchkeyUrl}/oauth/authorize`, params: { scope } },
      token: `${latchkeyUrl}/oauth/token`,
      userinfo: `${latchkeyUrl}/v1/account`,
      profile: ({ id, display_name }) => ({ id, name: display_name }),
    },
  ],
  callbacks: {
    // In the encrypted cookie, and not in the session, which scripts of the page can read.
    jwt: ({ token, account }) =>
      account ? { ...token, accessToken: account.access_token } : token,
  },
};

// Without a wildcard, which it cannot read on Express 5.
app.use('/auth', ExpressAuth(config));
app.get('/connect', (_request, response) => {
  response.redirect('/auth/signin?callbackUrl=/account');
});
serveAccount(async ({ headers }) => {
  const token = await getToken({ req: { headers: headers as Record<string, string> }, secret });
  return token?.accessToken as string | undefined;
});
