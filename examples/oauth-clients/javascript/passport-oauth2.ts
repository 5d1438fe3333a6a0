import type { Request } from 'express';
import passport from 'passport';
import { Strategy, type VerifyCallback } from 'passport-oauth2';
import {
  app,
  checkIssuer,
  clientId,
  clientSecret,
  latchkeyUrl,
  redirectUri,
  scope,
  serveAccount,
} from './application.ts';

/** After `authorize`. */
type Linked = Request & { account?: { accessToken: string } };

passport.use(
  new Strategy(
    {
      authorizationURL: `${latchkeyUrl}/oauth/authorize`,
      tokenURL: `${latchkeyUrl}/oauth/token`,
      clientID: clientId,
      clientSecret,
      callbackURL: redirectUri,
      scope,
      state: true,
      pkce: true,
    },
    (accessToken: string, _refreshToken: string, _profile: unknown, done: VerifyCallback) =>
      done(null, { accessToken }),
  ),
);

app.get('/connect', passport.authorize('oauth2'));
// The library does not compare the issuer.
app.get('/callback', ({ originalUrl }, _response, next) => {
  checkIssuer(new URL(originalUrl, redirectUri));
  next();
});
// `authorize` links an account to the user who is signed in. To sign in with it, use `authenticate`.
app.get('/callback', passport.authorize('oauth2'), (request: Linked, response) => {
  request.session.accessToken = request.account?.accessToken ?? '';
  response.redirect('/account');
});
serveAccount(({ session }) => session.accessToken);
