import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a server does wrong, or differently. Without any, it passes every row. */
export type Fault =
  | 'a window without PKCE'
  | 'a window with PKCE'
  | 'a mark for each route'
  | 'nobody wins a race'
  | 'losers get a 500'
  | 'losers get HTML'
  | 'losers get nothing'
  | 'losers get a redirect'
  | 'losers wait and are busy'
  | 'some losers are busy'
  | 'the same token for a code'
  | 'a race revokes'
  | 'accepts a wrong secret'
  | 'accepts no secret'
  | 'accepts another client'
  | 'calls another client invalid'
  | 'accepts another redirect URI'
  | 'accepts a wrong verifier'
  | 'accepts no verifier'
  | 'accepts a verifier without a challenge'
  | 'a refusal uses the code up'
  | 'accepts a replay of the client'
  | 'accepts a replay with a wrong secret'
  | 'accepts a replay without a secret'
  | 'accepts a replay of another client'
  | 'a replay keeps the token'
  | 'a replay of a stranger revokes'
  | 'introspects from a cache'
  | 'lets revoked tokens pass'
  | 'revokes late'
  | 'refuses to introspect'
  | 'introspects for others'
  | 'demands PKCE'
  | 'demands PKCE by an error page'
  | 'demands PKCE to redeem'
  | 'issues one code without PKCE'
  | 'the login is busy without PKCE'
  | 'the login is undecided without PKCE'
  | 'the metadata is HTML'
  | 'the metadata is of another issuer'
  | 'the login loops'
  | 'the login is a 500'
  | 'the token endpoint is silent'
  | 'the token endpoint echoes the code'
  | 'the token is empty';

export const CLIENT = { id: 'client', secret: 'a-secret/of:the client' };
export const OTHER_CLIENT = { id: 'other', secret: 'a-secret-of-the-other' };
/** A client without a secret. */
export const PUBLIC_CLIENT = { id: 'public' };

/** Of a race. */
export const REQUESTS = 8;

interface Issued {
  client: string;
  redirectUri: string;
  challenge: string | null;
  /** The routes over which it was used. */
  usedOver: Set<string>;
  isUsedUp: boolean;
  requests: number;
  token: string | null;
}

/** An OAuth server with planted faults. Everybody is logged in and has consented. */
export async function startFaultyServer(...planted: readonly Fault[]) {
  const faults = new Set(planted);
  const codes = new Map<string, Issued>();
  const tokens = new Map<string, { isActive: boolean }>();
  let row = '';
  let codesWithoutChallenge = 0;
  const published: Record<string, unknown> = {};
  const isRace = () => row.startsWith('race');
  /** Everything that no output may have. */
  const secrets = new Set([CLIENT.secret, OTHER_CLIENT.secret]);

  const server = createServer((request, response) => {
    handle(request, response).catch((error) => response.destroy(error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = new URL(request.url ?? '/', url);
    const form = new URLSearchParams(await text(request));
    if (form.has('code_verifier')) secrets.add(form.get('code_verifier') as string);
    switch (at.pathname) {
      case '/.well-known/oauth-authorization-server':
        if (faults.has('the metadata is HTML')) return html(response, 200);
        return json(response, 200, metadata());
      case '/authorize':
        return authorize(at, response);
      case '/token':
      case '/token-too':
        return redeem(at.pathname, request, form, response);
      case '/introspect':
        return introspect(form, response);
      case '/revoke':
        return revoke(form, response);
      case '/resource':
        return use(request, response);
      default:
        return html(response, 404);
    }
  }

  const metadata = () => ({
    issuer: faults.has('the metadata is of another issuer') ? 'https://other.example' : url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    introspection_endpoint: `${url}/introspect`,
    revocation_endpoint: `${url}/revoke`,
    ...published,
  });

  function authorize({ searchParams }: URL, response: ServerResponse): void {
    if (faults.has('the login is a 500')) {
      html(response, 500);
      return;
    }
    const parameter = (name: string) => searchParams.get(name) as string;
    const to = new URL(
      faults.has('the login loops') ? '/authorize' : parameter('redirect_uri'),
      url,
    );
    const challenge = searchParams.get('code_challenge');
    to.searchParams.set('state', parameter('state'));
    secrets.add(parameter('state'));
    if (challenge === null) codesWithoutChallenge++;
    const without = (fault: Fault) => challenge === null && faults.has(fault);
    if (without('the login is busy without PKCE')) return void html(response, 429);
    if (without('demands PKCE by an error page')) return void html(response, 400);
    if (without('the login is undecided without PKCE')) {
      to.searchParams.set('error', 'temporarily_unavailable');
    } else if (
      without('demands PKCE') ||
      (without('issues one code without PKCE') && codesWithoutChallenge > 1)
    ) {
      to.searchParams.set('error', 'invalid_request');
    } else {
      const code = randomUUID();
      secrets.add(code);
      to.searchParams.set('code', code);
      const [client, redirectUri] = [parameter('client_id'), parameter('redirect_uri')];
      const start = { usedOver: new Set<string>(), isUsedUp: false, requests: 0, token: null };
      codes.set(code, { client, redirectUri, challenge, ...start });
    }
    response.writeHead(302, { location: to.href }).end();
  }

  async function redeem(
    route: string,
    request: IncomingMessage,
    form: URLSearchParams,
    response: ServerResponse,
  ): Promise<void> {
    if (faults.has('the token endpoint is silent')) return;
    const code = form.get('code') as string;
    const issued = codes.get(code);
    const by = callerOf(request, form);
    const refuse = (status: number, error: string) => json(response, status, { error });
    if (faults.has('the token endpoint echoes the code')) return refuse(400, code);
    if (issued === undefined) {
      return by.isAuthenticated ? refuse(400, 'invalid_grant') : refuse(401, 'invalid_client');
    }
    issued.requests++;
    const isReplay = issued.token !== null;

    if (!by.isAuthenticated) {
      const isAccepted = by.sentSecret
        ? faults.has(isReplay ? 'accepts a replay with a wrong secret' : 'accepts a wrong secret')
        : faults.has(isReplay ? 'accepts a replay without a secret' : 'accepts no secret');
      if (isAccepted) return issue(issued, response);
      if (isReplay) strangerReplays(issued);
      else failed(issued);
      return refuse(401, 'invalid_client');
    }
    if (by.id !== issued.client) {
      const fault = isReplay ? 'accepts a replay of another client' : 'accepts another client';
      if (faults.has(fault)) return issue(issued, response);
      if (isReplay) strangerReplays(issued);
      else failed(issued);
      if (faults.has('calls another client invalid')) return refuse(401, 'invalid_client');
      return refuse(400, 'invalid_grant');
    }
    const isRight =
      (form.get('redirect_uri') === issued.redirectUri ||
        faults.has('accepts another redirect URI')) &&
      isProven(issued, form.get('code_verifier'));
    if (!isRight) {
      failed(issued);
      return refuse(400, 'invalid_grant');
    }
    const fault = issued.challenge === null ? 'a window without PKCE' : 'a window with PKCE';
    const isUsed = faults.has('a mark for each route')
      ? issued.usedOver.has(route)
      : issued.usedOver.size > 0;
    if (faults.has(fault)) {
      while (isRace() && issued.requests < REQUESTS) await sleep(1);
    }
    if (faults.has('nobody wins a race') && isRace()) {
      for (let turn = 0; issued.requests < 2 && turn < 200; turn++) await sleep(1);
      if (issued.requests > 1) return refuse(400, 'invalid_grant');
    }
    if (faults.has('demands PKCE to redeem') && issued.challenge === null) {
      return refuse(400, 'invalid_request');
    }
    if (!isUsed && !issued.isUsedUp) {
      issued.usedOver.add(route);
      return issue(issued, response);
    }
    if (faults.has('accepts a replay of the client')) return issue(issued, response);
    if (faults.has('losers get a 500')) return json(response, 500, { error: 'server_error' });
    if (faults.has('losers get HTML')) return html(response, 400);
    if (faults.has('losers get nothing')) return void response.destroy();
    if (faults.has('losers get a redirect')) {
      return void response.writeHead(302, { location: '/token' }).end();
    }
    const isBusy = faults.has('some losers are busy') && isRace() && issued.requests % 2 === 0;
    if (isBusy || faults.has('losers wait and are busy')) {
      response.setHeader('retry-after', '1');
      return refuse(429, 'slow_down');
    }
    if (isRace() ? faults.has('a race revokes') : !faults.has('a replay keeps the token')) {
      end(issued);
    }
    return refuse(400, 'invalid_grant');
  }

  function isProven({ challenge }: Issued, verifier: string | null): boolean {
    if (challenge === null) {
      return verifier === null || faults.has('accepts a verifier without a challenge');
    }
    if (verifier === null) return faults.has('accepts no verifier');
    const proof = createHash('sha256').update(verifier).digest('base64url');
    return proof === challenge || faults.has('accepts a wrong verifier');
  }

  function failed(issued: Issued): void {
    if (faults.has('a refusal uses the code up')) issued.isUsedUp = true;
  }

  function strangerReplays(issued: Issued): void {
    if (faults.has('a replay of a stranger revokes')) end(issued);
  }

  function end({ token }: Issued): void {
    const found = token === null ? undefined : tokens.get(token);
    if (found) found.isActive = false;
  }

  function issue(issued: Issued, response: ServerResponse): void {
    const access_token = faults.has('the token is empty')
      ? ''
      : ((faults.has('the same token for a code') ? issued.token : null) ?? randomUUID());
    const refresh_token = randomUUID();
    secrets.add(refresh_token);
    if (access_token !== '') secrets.add(access_token);
    issued.token ??= access_token;
    tokens.set(access_token, { isActive: true });
    json(response, 200, { access_token, refresh_token, token_type: 'Bearer' });
  }

  function introspect(form: URLSearchParams, response: ServerResponse): void {
    if (faults.has('refuses to introspect')) return void json(response, 401, {});
    if (faults.has('introspects for others')) return void json(response, 200, { active: false });
    const found = tokens.get(form.get('token') as string);
    const isCached = faults.has('introspects from a cache') && found !== undefined;
    json(response, 200, { active: isCached || found?.isActive === true });
  }

  function revoke(form: URLSearchParams, response: ServerResponse): void {
    const found = tokens.get(form.get('token') as string);
    const end = () => {
      if (found) found.isActive = false;
    };
    if (faults.has('revokes late')) setTimeout(end, 100).unref();
    else end();
    json(response, 200, {});
  }

  function use({ headers }: IncomingMessage, response: ServerResponse): void {
    const found = tokens.get(headers.authorization?.replace('Bearer ', '') ?? '');
    const passes = found?.isActive || (found && faults.has('lets revoked tokens pass'));
    json(response, passes ? 200 : 401, {});
  }

  return {
    url,
    handle,
    secrets,
    /** Changes its metadata. */
    publish: (changes: object) => void Object.assign(published, changes),
    /** Tells the server which row is measured: a race and a replay look the same. */
    playRow: (id: string) => {
      row = id;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function callerOf({ headers }: IncomingMessage, form: URLSearchParams) {
  const [, basic] = /^Basic (.+)$/.exec(headers.authorization ?? '') ?? [];
  const [user = '', password = ''] = Buffer.from(basic ?? '', 'base64')
    .toString()
    .split(':');
  const decode = (part: string) => decodeURIComponent(part.replaceAll('+', ' '));
  const id = basic === undefined ? (form.get('client_id') ?? '') : decode(user);
  const secret = basic === undefined ? form.get('client_secret') : decode(password);
  const registered = [CLIENT, OTHER_CLIENT].find((client) => client.id === id);
  const isAuthenticated = registered ? registered.secret === secret : id === PUBLIC_CLIENT.id;
  return { id, sentSecret: secret !== null, isAuthenticated };
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function html(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>A page</h1>');
}
