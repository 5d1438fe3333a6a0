import { createHash, randomBytes } from 'node:crypto';
import type { Hosts } from './hosts.ts';
import { Browser } from './http/browser.ts';
import {
  type Connection,
  NoResponse,
  openConnection,
  type Response,
  send,
} from './http/connection.ts';
import { jsonOf, kindOf } from './http/json.ts';
import type { Login } from './login/login.ts';
import type { Secrets } from './secrets.ts';
import { type Answer, type Attempt, type Check, type Code, NoCode, type Server } from './server.ts';

export interface Client {
  id: string;
  secret: string | null;
}

/** How a client authenticates (RFC 6749, 2.3.1). */
export type ClientAuth = 'basic' | 'post' | 'none';

/** All that is needed of a server that speaks OAuth 2.0. */
export interface OAuthSettings {
  authorizationEndpoint: URL;
  tokenEndpoints: readonly URL[];
  introspectionEndpoint: URL | null;
  revocationEndpoint: URL | null;
  resource: URL | null;
  client: Client;
  otherClient: Client | null;
  clientAuth: ClientAuth;
  redirectUri: string;
  scope: string | null;
  login: Login;
  hosts: Hosts;
  /** In milliseconds, for one response. */
  timeout: number;
  secrets: Secrets;
}

const randomText = () => randomBytes(32).toString('base64url');

/** A server that is called as RFC 6749 says, by its token endpoints. */
export function oauthServer(settings: OAuthSettings): Server {
  const { client, otherClient, clientAuth, introspectionEndpoint, resource, secrets } = settings;
  const { revocationEndpoint, timeout, tokenEndpoints } = settings;
  for (const one of [client, otherClient]) secrets.add(one?.secret);

  const checks: Check[] = [];
  if (introspectionEndpoint) {
    checks.push({
      name: 'introspection',
      async passes(token) {
        const response = await postToken(introspectionEndpoint, token);
        const active = response.status === 200 ? jsonOf(response)?.active : undefined;
        if (typeof active === 'boolean') return active;
        throw new Error(`The introspection endpoint responded with ${kindOf(response)}.`);
      },
    });
  }
  if (resource) {
    checks.push({
      name: 'resource',
      async passes(token) {
        const headers = { authorization: `Bearer ${token}` };
        const response = await send({ url: resource, headers }, timeout);
        if (response.status >= 200 && response.status < 300) return true;
        if ([400, 401, 403].includes(response.status)) return false;
        throw new Error(`The resource responded with ${kindOf(response)}.`);
      },
    });
  }

  function postToken(url: URL, token: string): Promise<Response> {
    const { headers, fields } = authentication(client, clientAuth);
    return send({ url, headers, form: new URLSearchParams({ token, ...fields }) }, timeout);
  }

  function tokenRequest({ code, verifier }: Code, attempt: Attempt) {
    const by = attempt.client === 'own' ? client : (otherClient as Client);
    const secret = attempt.secret === 'wrong' ? randomText() : by.secret;
    const auth = attempt.secret === 'none' ? 'none' : clientAuth;
    const { headers, fields } = authentication({ id: by.id, secret }, auth);
    const sent = { right: verifier, wrong: randomText(), none: null }[attempt.verifier];
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri:
        attempt.redirectUri === 'right' ? settings.redirectUri : `${settings.redirectUri}/other`,
      ...(sent !== null && { code_verifier: sent }),
      ...fields,
    });
    return { headers, form };
  }

  function answerOf(response: Response): Answer {
    const { status, milliseconds, headers } = response;
    const body = jsonOf(response);
    if (status === 200 && typeof body?.access_token === 'string') {
      const { access_token: token, refresh_token, id_token } = body;
      for (const secret of [token, refresh_token, id_token]) {
        if (typeof secret === 'string') secrets.add(secret);
      }
      return { kind: 'token', token, milliseconds };
    }
    if (status === 429 || status === 503) {
      return { kind: 'busy', status, retryAfter: retryAfterOf(headers), milliseconds };
    }
    if (status >= 400 && status < 500 && typeof body?.error === 'string') {
      const error = secrets.clean(body.error);
      const isCode = /^[\w.-]{1,60}$/.test(error);
      return { kind: 'refused', status, error: isCode ? error : 'no error code', milliseconds };
    }
    return { kind: 'broken', status, reason: kindOf(response), milliseconds };
  }

  return {
    routes: tokenEndpoints.length,
    hasSecret: clientAuth !== 'none',
    hasOtherClient: otherClient !== null,
    checks,
    async issue({ challenge }) {
      const verifier = challenge ? randomText() : null;
      const state = randomText();
      const url = new URL(settings.authorizationEndpoint);
      const query = {
        response_type: 'code',
        client_id: client.id,
        redirect_uri: settings.redirectUri,
        state,
        ...(settings.scope !== null && { scope: settings.scope }),
        ...(verifier !== null && {
          code_challenge: createHash('sha256').update(verifier).digest('base64url'),
          code_challenge_method: 'S256',
        }),
      };
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
      secrets.add(verifier, state);
      const browser = new Browser(settings);
      const returned = await settings.login(url.href, browser).catch((error) => {
        if (error instanceof NoResponse) throw error;
        throw new NoCode(`The login failed: ${error instanceof Error ? error.message : error}`);
      });
      const code = codeIn(String(returned), state, settings.redirectUri);
      secrets.add(code);
      return { code, verifier };
    },
    async connect(route) {
      const url = tokenEndpoints[route] as URL;
      let connection: Connection;
      try {
        connection = await openConnection(url, timeout);
      } catch (error) {
        return async () => unanswered(error);
      }
      return (code, attempt) =>
        connection.send({ url, ...tokenRequest(code, attempt) }).then(answerOf, unanswered);
    },
    revoke:
      revocationEndpoint &&
      (async (token) => {
        const response = await postToken(revocationEndpoint, token);
        if (response.status === 200) return;
        throw new Error(`The revocation endpoint responded with ${kindOf(response)}.`);
      }),
  };
}

/** The client's credentials, as a header or as fields of a form. */
function authentication(
  { id, secret }: Client,
  auth: ClientAuth,
): Record<'headers' | 'fields', Record<string, string>> {
  if (auth === 'basic') {
    // RFC 6749, 2.3.1, has both encoded as in a form.
    const encoded = [id, secret ?? ''].map((part) =>
      new URLSearchParams([['', part]]).toString().slice(1),
    );
    const basic = Buffer.from(encoded.join(':')).toString('base64');
    return { headers: { authorization: `Basic ${basic}` }, fields: {} };
  }
  const fields = { client_id: id, ...(auth === 'post' && { client_secret: secret ?? '' }) };
  return { headers: {}, fields };
}

/** Seconds or a date (RFC 9110, 10.2.3). */
function retryAfterOf({ 'retry-after': value }: Response['headers']): string | null {
  if (value === undefined) return null;
  return /^[\w ,:]{1,30}$/.test(value) ? value : 'unreadable';
}

function unanswered(error: unknown): Answer {
  if (!(error instanceof NoResponse)) throw error;
  const { message: reason, milliseconds } = error;
  return { kind: 'broken', status: null, reason, milliseconds };
}

/**
 * The code in what a login returned: a URL, or the code alone.
 *
 * @throws NoCode
 */
function codeIn(returned: string, state: string, redirectUri: string): string {
  const text = returned.trim();
  const url = URL.canParse(text) ? new URL(text) : null;
  // Codes, too, may begin with a word and a colon.
  const isUrl = /^[a-z\d+.-]+:\/\//i.test(text) || url?.protocol === new URL(redirectUri).protocol;
  if (url === null || !isUrl) {
    if (text === '') throw new NoCode('The login returned nothing.');
    return text;
  }
  const { searchParams, pathname, protocol } = url;
  const error = searchParams.get('error');
  if (error !== null) throw new NoCode(`The server refused the authorization request: ${error}.`);
  const code = searchParams.get('code');
  if (code === null) {
    const where = /^https?:$/.test(protocol) ? `, at ${pathname}` : '';
    throw new NoCode(`The login ended without a code${where}.`);
  }
  const returnedState = searchParams.get('state');
  if (returnedState !== null && returnedState !== state) {
    throw new NoCode('The login ended with the state of another request.');
  }
  return code;
}
