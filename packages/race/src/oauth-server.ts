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
import { placeOf } from './http/place.ts';
import type { Login } from './login/login.ts';
import type { Secrets } from './secrets.ts';
import { type Answer, type Attempt, type Check, type Code, NoCode, type Server } from './server.ts';

/** How a client authenticates (RFC 6749, 2.3.1). */
export type ClientAuth = 'basic' | 'post' | 'none';

export interface Client {
  id: string;
  secret: string | null;
  auth: ClientAuth;
}

/** All that is needed of a server that speaks OAuth 2.0. */
export interface OAuthSettings {
  authorizationEndpoint: URL;
  tokenEndpoints: readonly URL[];
  introspectionEndpoint: URL | null;
  /** It is of the metadata, and was not asked for. */
  isIntrospectionPublished: boolean;
  revocationEndpoint: URL | null;
  resource: URL | null;
  client: Client;
  otherClient: Client | null;
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
  const { client, otherClient, introspectionEndpoint, resource, secrets } = settings;
  const { authorizationEndpoint, revocationEndpoint, timeout, tokenEndpoints } = settings;
  for (const one of [client, otherClient]) secrets.add(one?.secret);

  const codes = new Set<string>();
  const checks: Check[] = [];
  if (introspectionEndpoint) {
    checks.push({
      name: 'introspection',
      isPublished: settings.isIntrospectionPublished,
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
    const { headers, fields } = authentication(client);
    return send({ url, headers, form: new URLSearchParams({ token, ...fields }) }, timeout);
  }

  function tokenRequest({ code, verifier }: Code, attempt: Attempt) {
    const by = attempt.client === 'own' ? client : (otherClient as Client);
    const secret = attempt.secret === 'wrong' ? randomText() : by.secret;
    const auth = attempt.secret === 'none' ? 'none' : by.auth;
    const { headers, fields } = authentication({ id: by.id, secret, auth });
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

  /** The server found the request itself wrong. Other pages may be of a login that failed. */
  const isRefusalPage = ({ url, status }: Browser) =>
    status === 400 && placeOf(url) === placeOf(authorizationEndpoint.href);

  function answerOf(response: Response): Answer {
    const { status, milliseconds, headers } = response;
    const body = jsonOf(response);
    if (status === 200 && typeof body?.access_token === 'string' && body.access_token !== '') {
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
    hasSecret: client.auth !== 'none',
    hasOtherClient: otherClient !== null,
    checks,
    async issue({ challenge }) {
      const verifier = challenge ? randomText() : null;
      const state = randomText();
      const url = new URL(authorizationEndpoint);
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
      const returned: unknown = await settings.login(url.href, browser).catch((error) => {
        // A server that refuses at once leaves the rest of a login without a page.
        if (browser.isDone || isRefusalPage(browser)) return browser.url;
        if (error instanceof NoResponse) throw error;
        throw new Error(`The login failed: ${error instanceof Error ? error.message : error}`);
      });
      if (String(returned) === browser.url && isRefusalPage(browser)) {
        throw new NoCode('The authorization endpoint showed a page with status 400.', 'page');
      }
      const code = codeIn(returned, { state, redirectUri: settings.redirectUri });
      secrets.add(code);
      if (codes.has(code)) throw new Error('The login returned the same code again.');
      codes.add(code);
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
function authentication({
  id,
  secret,
  auth,
}: Client): Record<'headers' | 'fields', Record<string, string>> {
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

/** They say that the server could not decide now (RFC 6749, 4.1.2.1). */
const UNDECIDED = new Set(['server_error', 'temporarily_unavailable']);

/**
 * The code in what a login returned: a URL, or the code alone.
 *
 * @throws NoCode if it is a refusal at the redirect URI
 */
function codeIn(returned: unknown, request: { state: string; redirectUri: string }): string {
  if (typeof returned !== 'string' && !(returned instanceof URL)) {
    throw new Error(
      `The login returned ${returned === null ? 'null' : typeof returned}, not a URL.`,
    );
  }
  const text = String(returned).trim();
  if (text === '') throw new Error('The login returned nothing.');
  const url = URL.canParse(text) ? new URL(text) : null;
  // Codes, too, may begin with a word and a colon.
  const isUrl =
    /^[a-z\d+.-]+:\/\//i.test(text) || url?.protocol === new URL(request.redirectUri).protocol;
  if (url === null || !isUrl) return text;
  const { searchParams, pathname, protocol } = url;
  const state = searchParams.get('state');
  if (state !== null && state !== request.state) {
    throw new Error('The login ended with the state of another request.');
  }
  const error = searchParams.get('error');
  if (error !== null && placeOf(text) === placeOf(request.redirectUri)) {
    const message = `The server refused the authorization request: ${error}.`;
    throw UNDECIDED.has(error) ? new Error(message) : new NoCode(message);
  }
  const code = searchParams.get('code');
  if (code === null) {
    // The path may have a code, where it is not one of HTTP.
    const where = /^https?:$/.test(protocol) ? `, at ${pathname}` : '';
    throw new Error(`The login ended without a code${where}.`);
  }
  return code;
}
