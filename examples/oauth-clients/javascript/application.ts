/**
 * The common part of the applications here: settings, sessions, and the routes `/connect`,
 * `/callback`, `/account`, `/introspect` and `/revoke`.
 *
 * Reads LATCHKEY_URL, CLIENT_ID and CLIENT_SECRET from the environment, and the port from PORT, by
 * default a free one. Register `http://127.0.0.1/callback` at Latchkey: it matches on any port.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express, { type Request } from 'express';
import session from 'express-session';

const { LATCHKEY_URL = 'http://127.0.0.1:3000', PORT = '0' } = process.env;

export const latchkeyUrl = LATCHKEY_URL;
export const { CLIENT_ID: clientId = '', CLIENT_SECRET: clientSecret = '' } = process.env;
export const scope = 'profile.read';

/** The values that the callback has to match. The session keeps them. */
export interface Expected {
  state: string;
  codeVerifier: string;
}

declare module 'express-session' {
  interface SessionData {
    expected: Expected;
    accessToken: string;
  }
}

/** The part that differs between the libraries. */
export interface OAuthClient {
  /** Begins a link. Returns the address for the browser, and the values to expect in the callback. */
  connect(): Promise<Expected & { url: URL | string }>;
  /** Finishes it. Returns the access token. */
  callback(url: URL, expected: Expected): Promise<string>;
  /** Reads the account, by default without the library. */
  account?(accessToken: string): Promise<Response>;
  introspect?(accessToken: string): Promise<object>;
  revoke?(accessToken: string): Promise<unknown>;
}

/** A request that this browser should not have made. */
class Refused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export const app = express();
// The callback comes from Latchkey's site, so SameSite=Strict would lose the session. If the
// application has https, add `secure: true`.
const cookie = { httpOnly: true, sameSite: 'lax' } as const;
const secret = randomBytes(32).toString('hex');
app.use(session({ secret, resave: false, saveUninitialized: false, cookie }));

const server = app.listen(Number(PORT), '127.0.0.1');
await once(server, 'listening');
const applicationUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
export const redirectUri = `${applicationUrl}/callback`;

/** Refuses the callback of another issuer, for libraries that leave this to the application. */
export function checkIssuer({ searchParams }: URL): void {
  if (searchParams.get('iss') !== latchkeyUrl) throw new Refused(400, 'Another issuer.');
}

/** The code of a callback, for libraries that leave every check to the application. */
export function checkCallback(url: URL, { state }: Expected): string {
  checkIssuer(url);
  if (url.searchParams.get('state') !== state) throw new Refused(400, 'Another state.');
  const code = url.searchParams.get('code');
  const reason = url.searchParams.get('error_description');
  if (code === null) throw new Refused(400, `Not linked: ${reason}`);
  return code;
}

/** Adds the routes, and prints the address of the application. */
export function serve(client: OAuthClient): void {
  app.get('/connect', async ({ session }, response) => {
    const { url, state, codeVerifier } = await client.connect();
    session.expected = { state, codeVerifier };
    response.redirect(`${url}`);
  });
  app.get('/callback', async ({ originalUrl, session }, response) => {
    const { expected } = session;
    if (expected === undefined) throw new Refused(400, 'Begin at /connect.');
    delete session.expected;
    session.accessToken = await client.callback(new URL(originalUrl, applicationUrl), expected);
    response.redirect('/account');
  });
  const { introspect, revoke } = client;
  if (introspect) {
    app.post('/introspect', async ({ session }, response) => {
      response.json(await introspect(linked(session.accessToken)));
    });
  }
  if (revoke) {
    app.post('/revoke', async ({ session }, response) => {
      await revoke(linked(session.accessToken));
      response.json({});
    });
  }
  serveAccount(({ session }) => session.accessToken, client.account);
}

/** Adds `/account`, and prints the address of the application. */
export function serveAccount(
  accessToken: (request: Request) => string | undefined | Promise<string | undefined>,
  read = readAccount,
): void {
  app.get('/account', async (request, response) => {
    const account = await read(linked(await accessToken(request)));
    response.status(account.status).json(await account.json());
  });
  process.stdout.write(`Open ${applicationUrl}/connect\n`);
}

/** Reads the account as it is now. The status is 401 after the link has ended. */
function readAccount(accessToken: string): Promise<Response> {
  const headers = { Authorization: `Bearer ${accessToken}` };
  return fetch(`${latchkeyUrl}/v1/account`, { headers });
}

function linked(accessToken: string | undefined): string {
  if (accessToken === undefined) throw new Refused(401, 'Begin at /connect.');
  return accessToken;
}
