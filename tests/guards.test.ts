import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Latchkey } from '@latchkey/client';
import {
  expressGuard,
  fastifyGuard,
  type GuardOptions,
  honoGuard,
  latchkeyVerifier,
  requireGrant,
  withGrant,
} from '@latchkey/client/guards';
import { runsAll, slow } from '@latchkey/test-kit/long';
import { INSTALL_TIMEOUT_MS } from '@latchkey/test-kit/tools-from-lockfile';
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import express, { type Express } from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { examplesFolder } from './support/examples-folder.ts';
import { buildNextApplication, type NextApplication } from './support/next/next.ts';
import { ADMIN_SECRET, operator } from './support/operator.ts';
import { environment, type ServiceProcess, startService } from './support/service.ts';

// Runs each of the five programs of examples/guards as its framework runs it, with the real service.
// The one of Next.js is first built for production: only that shows that its handler has the right
// type and that the packed SDK can be bundled.

const ACCOUNT = '0193aa00-0000-7000-8000-0000000000a1';
const REALM = 'Bearer realm="latchkey"';

interface Program {
  /** Requests a resource that requires the scope `photos.read`. */
  ask(authorization?: string): Promise<Response>;
}

let folder: string;
let service: ServiceProcess;
let latchkey: Latchkey;
let applicationId: string;
let nextApplication: NextApplication;
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-guards-'));
  service = await startService({ cwd: folder, env: environment({ ADMIN_SECRET }) });
  const application = { name: 'Acme' };
  type Application = { id: string; secret: string };
  const acme = await operator<Application>(service, 'POST', '/applications', application);
  applicationId = acme.id;
  latchkey = new Latchkey({ baseUrl: service.url, applicationSecret: acme.secret });
  await operator(service, 'PUT', `/accounts/${ACCOUNT}`, { username: 'ada' });
  // For the programs that run in this process.
  vi.stubEnv('LATCHKEY_URL', service.url);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  for (const child of children) child.kill();
  await nextApplication?.remove();
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Links the account, as an application would before it calls the server. */
async function link(scope: string, resource?: string) {
  const about = { application_id: applicationId, account_id: ACCOUNT, scope, resource };
  const { code } = await operator<{ code: string }>(service, 'POST', '/codes', about);
  const { grant_id, grant_secret } = await latchkey.convert(code);
  return { grant_id, bearer: `Bearer ${grant_secret}`, secret: grant_secret };
}

const headersWith = (authorization?: string) =>
  authorization === undefined ? {} : { authorization };

/** A program that listens and prints its port. */
async function listening(words: string[], path: string, options: { cwd?: string } = {}) {
  const child = spawn(process.execPath, words, {
    ...options,
    env: environment({ LATCHKEY_URL: service.url, PORT: '0' }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let printed = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      printed += chunk;
      const [address] = /http:\S+(?=\s)/.exec(printed) ?? [];
      if (address !== undefined) resolve(address);
    });
    child.once('exit', () => reject(new Error(`It ended before it listened: ${printed}`)));
  });
  return {
    ask: (authorization?: string) => fetch(url + path, { headers: headersWith(authorization) }),
  };
}

/** A program that is a function of a `Request`. */
function called(handle: (request: Request) => Response | Promise<Response>): Program {
  return {
    ask: async (authorization) =>
      handle(new Request('https://api.example/photos', { headers: headersWith(authorization) })),
  };
}

const file = (name: string) => join(examplesFolder, 'guards', name);

const programs: Record<string, () => Promise<Program>> = {
  'fetch.ts': async () => called((await import('../examples/guards/fetch.ts')).default.fetch),
  'next.ts': async () => {
    nextApplication = await buildNextApplication(file('next.ts'), 'app/albums/[album]/route.ts');
    const { start, folder: cwd } = nextApplication;
    return listening(start, '/albums/summer', { cwd });
  },
  'hono.ts': async () => called((await import('../examples/guards/hono.ts')).default.fetch),
  'express.ts': () => listening([file('express.ts')], '/photos'),
  'fastify.ts': () => listening([file('fastify.ts')], '/photos'),
};

/** It installs and builds its framework. */
const SLOW = 'next.ts';
const names = Object.keys(programs).filter((name) => runsAll || name !== SLOW);

/** Each program starts once: building the one of Next.js takes a while. */
const started = new Map<string, Promise<Program>>();
function start(name: string): Promise<Program> {
  const program = started.get(name) ?? (programs[name] as () => Promise<Program>)();
  started.set(name, program);
  return program;
}

for (const name of Object.keys(programs)) {
  describe(name, name === SLOW ? slow : {}, () => describeProgram(name));
}

function describeProgram(name: string): void {
  let program: Program;

  beforeAll(async () => {
    program = await start(name);
  }, INSTALL_TIMEOUT_MS);

  const refusal = async (authorization?: string) => {
    const response = await program.ask(authorization);
    const { error, error_code } = (await response.json()) as Record<string, string>;
    expect(response.headers.get('Content-Type')).toBe('application/json; charset=UTF-8');
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    return [response.status, error, error_code, response.headers.get('WWW-Authenticate')];
  };

  const REVOKED = [401, 'invalid_token', 'credentials_invalid', `${REALM}, error="invalid_token"`];

  test('accepts a grant and knows its account', async () => {
    const { bearer, grant_id, secret } = await link('profile.read photos.read');
    const basic = `Basic ${btoa(`${grant_id}:${secret}`)}`;
    for (const authorization of [bearer, basic]) {
      const response = await program.ask(authorization);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ owner: ACCOUNT, photos: ['harbour.jpg'] });
    }
  });

  test('refuses a request without credentials or without a grant', async () => {
    expect(await refusal()).toEqual([401, 'invalid_token', 'credentials_missing', REALM]);
    expect(await refusal('Bearer nothing')).toEqual(REVOKED);
  });

  test('refuses a grant without the scope', async () => {
    const { bearer } = await link('profile.read');
    const challenge = `${REALM}, error="insufficient_scope", scope="profile.read photos.read"`;
    const expected = [403, 'insufficient_scope', 'scope_insufficient', challenge];
    expect(await refusal(bearer)).toEqual(expected);
  });

  test('refuses a grant that was revoked since its last request', async () => {
    const { bearer, grant_id } = await link('photos.read');
    expect((await program.ask(bearer)).status).toBe(200);
    await latchkey.revoke(grant_id);
    expect(await refusal(bearer)).toEqual(REVOKED);
  });

  test('tells the grant of a disabled application apart, and lets it in when enabled', async () => {
    const { bearer } = await link('photos.read');
    await operator(service, 'POST', `/applications/${applicationId}/disable`);
    const answer = [403, 'unauthorized_client', 'application_disabled', null];
    expect(await refusal(bearer)).toEqual(answer);
    await operator(service, 'POST', `/applications/${applicationId}/enable`);
    expect((await program.ask(bearer)).status).toBe(200);
  });
}

test('fetch.ts accepts any live grant if it requires no scope', async () => {
  const { bearer } = await link('profile.read');
  const { default: program } = await import('../examples/guards/fetch.ts');
  const profile = new Request('https://api.example/profile', { headers: headersWith(bearer) });
  expect(await (await program.fetch(profile)).json()).toEqual({ owner: ACCOUNT, name: 'ada' });
});

test('a guard with applications lets in the grants of those alone', async () => {
  const { bearer } = await link('photos.read');
  const request = new Request('https://api.example', { headers: headersWith(bearer) });
  const guard = (...applications: string[]) => requireGrant(request, { latchkey, applications });
  expect(await guard(randomUUID(), applicationId)).toMatchObject({ application_id: applicationId });
  await expect(guard(randomUUID())).rejects.toMatchObject({
    status: 403,
    body: { error_code: 'application_not_accepted' },
  });
});

async function listen(app: Express) {
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

describe('a resource', () => {
  const own = 'https://mcp.example/mcp';
  const other = 'https://notes.example/mcp';
  const METADATA =
    'resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"';

  beforeAll(async () => {
    for (const resource of [own, other]) {
      await operator(service, 'POST', '/resources', { resource, name: 'Notes' });
    }
  });

  /** How each guard responds to a request. */
  const guards: Record<string, (options: GuardOptions, request: Request) => Promise<Response>> = {
    requireGrant: (options, request) =>
      requireGrant(request, options).then(
        () => new Response(),
        (error) => error.toResponse(),
      ),
    withGrant: (options, request) => withGrant(options, () => new Response())(request),
    honoGuard: async (options, request) => {
      const app = new Hono().get('/', honoGuard(options), (context) => context.body(null));
      return app.request('/', request);
    },
    fastifyGuard: async (options, request) => {
      const app = fastify();
      app.get('/', { onRequest: fastifyGuard(options) }, () => '');
      const { statusCode, headers, body } = await app.inject({
        ...{ url: '/', headers: Object.fromEntries(request.headers) },
      });
      return new Response(body, {
        status: statusCode,
        headers: new Headers(headers as Record<string, string>),
      });
    },
    expressGuard: async (options, request) => {
      const app = express().get('/', expressGuard(options), (_, response) => response.end());
      const { url, close } = await listen(app);
      return fetch(url, request).finally(close);
    },
  };

  test.each(Object.keys(guards))('is the only one whose grants %s accepts', async (name) => {
    const grants = new Map<string, string>();
    for (const resource of [own, other]) {
      grants.set(resource, (await link('notes.read', resource)).bearer);
    }
    const ask = (options: Omit<GuardOptions, 'latchkey'>, resource: string) => {
      const headers = headersWith(grants.get(resource));
      const request = new Request('https://mcp.example', { headers });
      return (guards[name] as (typeof guards)[string])({ latchkey, ...options }, request);
    };
    expect((await ask({ resource: own, scope: 'notes.read' }, own)).status).toBe(200);

    const refused = await ask({ resource: own, scope: 'notes.read' }, other);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('WWW-Authenticate')).toBe(
      `${REALM}, error="invalid_token", scope="notes.read", ${METADATA}`,
    );
    expect(await refused.json()).toHaveProperty('error_code', 'resource_mismatch');
    expect((await ask({}, other)).status).toBe(401);
    grants.set('none', (await link('notes.read')).bearer);
    expect((await ask({ resource: own }, 'none')).status).toBe(401);
    expect((await ask({}, 'none')).status).toBe(200);

    const lacking = await ask({ resource: own, scope: 'notes.write' }, own);
    expect(lacking.status).toBe(403);
    expect(lacking.headers.get('WWW-Authenticate')).toBe(
      `${REALM}, error="insufficient_scope", scope="notes.read notes.write", ${METADATA}`,
    );
  });

  // tests/mcp-sdk.test.ts runs the real guards of the MCP SDK.
  test('needs the class and the end that the MCP SDK looks for', async () => {
    const namesake = class InvalidTokenError extends Error {};
    const verifier = (InvalidTokenClass: typeof InvalidTokenError | typeof namesake) =>
      latchkeyVerifier({ latchkey, resource: own, InvalidTokenError: InvalidTokenClass });
    const real = verifier(InvalidTokenError);
    const endless = async (token: string) => {
      const { expiresAt: _, ...grant } = await real.verifyAccessToken(token);
      return grant;
    };
    const app = express();
    app.use('/namesake', requireBearerAuth({ verifier: verifier(namesake) }));
    app.use('/endless', requireBearerAuth({ verifier: { verifyAccessToken: endless } }));
    app.use('/', requireBearerAuth({ verifier: real }), (_, response) => response.end());
    const { url, close } = await listen(app);
    const { bearer } = await link('notes.read', own);
    const statusOf = async (path: string, authorization: string) =>
      (await fetch(url + path, { headers: headersWith(authorization) })).status;
    expect(await statusOf('/', bearer)).toBe(200);
    expect(await statusOf('/endless', bearer)).toBe(401);
    expect(await statusOf('/', 'Bearer nothing')).toBe(401);
    expect(await statusOf('/namesake', 'Bearer nothing')).toBe(500);
    close();
  });
});

describe('what a guard refuses does not reach the handler', () => {
  const handled = vi.fn();
  const options = () => ({ latchkey, scope: 'photos.read' });

  test('of Express', async () => {
    const { url, close } = await listen(express().get('/', expressGuard(options()), handled));
    expect((await fetch(url)).status).toBe(401);
    close();
    expect(handled).not.toHaveBeenCalled();
  });

  test('of Fastify, even if the response takes a while', async () => {
    const app = fastify();
    app.addHook('onSend', async () => setTimeout(50));
    app.get('/', { onRequest: fastifyGuard(options()), handler: handled });
    expect((await app.inject('/')).statusCode).toBe(401);
    expect(handled).not.toHaveBeenCalled();
  });

  test('of Hono', async () => {
    const app = new Hono().get('/', honoGuard(options()), handled);
    expect((await app.request('/')).status).toBe(401);
    expect(handled).not.toHaveBeenCalled();
  });
});

// This test must be the last: it stops the service.
test('without Latchkey, none of them accepts a live grant', async () => {
  const { bearer } = await link('photos.read');
  const all = await Promise.all(names.map(start));
  await service.stop();
  const responses = await Promise.all(all.map(({ ask }) => ask(bearer)));
  for (const response of responses) {
    expect(response.status).toBe(503);
    expect(response.headers.get('Retry-After')).toBe('5');
    expect(response.headers.get('WWW-Authenticate')).toBeNull();
    expect(await response.json()).toMatchObject({
      error: 'temporarily_unavailable',
      error_code: 'grant_unverifiable',
    });
  }
  expect(responses).toHaveLength(runsAll ? 5 : 4);
});
