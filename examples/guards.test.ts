import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Latchkey } from '@latchkey/client';
import { expressGuard, fastifyGuard, honoGuard } from '@latchkey/client/guards';
import express from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { INSTALL_TIMEOUT_MS } from '../apps/server/test/tools-from-lockfile.ts';
import { buildNextApplication, type NextApplication } from './test/next/next.ts';
import { ADMIN_SECRET, operator } from './test/operator.ts';
import { environment, type ServiceProcess, startService } from './test/service.ts';

// The five programs of examples/guards, each as its framework runs it, with the service itself. That
// of Next.js is built for production first: only that shows that its handler is of the right type,
// and that the packed SDK survives being bundled.

const ACCOUNT = '0193aa00-0000-7000-8000-0000000000a1';
const REALM = 'Bearer realm="latchkey"';

interface Program {
  /** Asks for what its guard lets in only with `photos.read`. */
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

/** Links the account, as an application would that is then to be let in. */
async function link(scope: string) {
  const about = { application_id: applicationId, account_id: ACCOUNT, scope };
  const { code } = await operator<{ code: string }>(service, 'POST', '/codes', about);
  const { grant_id, grant_secret } = await latchkey.convert(code);
  return { grant_id, bearer: `Bearer ${grant_secret}`, secret: grant_secret };
}

const headersWith = (authorization?: string) =>
  authorization === undefined ? {} : { authorization };

/** A program that listens, and prints where. */
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

/** A program that is a function: what runs it hands it a `Request`. */
function called(handle: (request: Request) => Response | Promise<Response>): Program {
  return {
    ask: async (authorization) =>
      handle(new Request('https://api.example/photos', { headers: headersWith(authorization) })),
  };
}

const file = (name: string) => join(import.meta.dirname, 'guards', name);

const programs: Record<string, () => Promise<Program>> = {
  'fetch.ts': async () => called((await import('./guards/fetch.ts')).default.fetch),
  'next.ts': async () => {
    nextApplication = await buildNextApplication(file('next.ts'), 'app/albums/[album]/route.ts');
    const { start, folder: cwd } = nextApplication;
    return listening(start, '/albums/summer', { cwd });
  },
  'hono.ts': async () => called((await import('./guards/hono.ts')).default.fetch),
  'express.ts': () => listening([file('express.ts')], '/photos'),
  'fastify.ts': () => listening([file('fastify.ts')], '/photos'),
};

/** Each is started once: that of Next.js is built first. */
const started = new Map<string, Promise<Program>>();
function start(name: string): Promise<Program> {
  const program = started.get(name) ?? (programs[name] as () => Promise<Program>)();
  started.set(name, program);
  return program;
}

describe.each(Object.keys(programs))('%s', (name) => {
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

  test('lets a grant in, and knows whose it is', async () => {
    const { bearer, grant_id, secret } = await link('profile.read photos.read');
    const basic = `Basic ${btoa(`${grant_id}:${secret}`)}`;
    for (const authorization of [bearer, basic]) {
      const response = await program.ask(authorization);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ owner: ACCOUNT, photos: ['harbour.jpg'] });
    }
  });

  test('refuses who sends nothing, or no grant', async () => {
    expect(await refusal()).toEqual([401, 'invalid_token', 'credentials_missing', REALM]);
    expect(await refusal('Bearer nothing')).toEqual(REVOKED);
  });

  test('refuses a grant without the scope', async () => {
    const { bearer } = await link('profile.read');
    const challenge = `${REALM}, error="insufficient_scope", scope="photos.read"`;
    const answer = [403, 'insufficient_scope', 'scope_insufficient', challenge];
    expect(await refusal(bearer)).toEqual(answer);
  });

  test('refuses a grant that was revoked since its last request', async () => {
    const { bearer, grant_id } = await link('photos.read');
    expect((await program.ask(bearer)).status).toBe(200);
    await latchkey.revoke(grant_id);
    expect(await refusal(bearer)).toEqual(REVOKED);
  });
});

test('fetch.ts lets in any live grant where it asks for no scope', async () => {
  const { bearer } = await link('profile.read');
  const { default: program } = await import('./guards/fetch.ts');
  const profile = new Request('https://api.example/profile', { headers: headersWith(bearer) });
  expect(await (await program.fetch(profile)).json()).toEqual({ owner: ACCOUNT, name: 'ada' });
});

describe('what a guard refuses does not reach the handler', () => {
  const handled = vi.fn();
  const options = () => ({ latchkey, scope: 'photos.read' });

  test('of Express', async () => {
    const app = express().get('/', expressGuard(options()), handled);
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(401);
    server.close();
    expect(handled).not.toHaveBeenCalled();
  });

  test('of Fastify, where an answer still takes a while', async () => {
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

// The last test: it ends the service.
test('with Latchkey away, none of them lets a live grant in', async () => {
  const { bearer } = await link('photos.read');
  const all = await Promise.all(Object.keys(programs).map(start));
  await service.stop();
  const answers = await Promise.all(all.map(({ ask }) => ask(bearer)));
  for (const response of answers) {
    expect(response.status).toBe(503);
    expect(response.headers.get('Retry-After')).toBe('5');
    expect(response.headers.get('WWW-Authenticate')).toBeNull();
    expect(await response.json()).toMatchObject({
      error: 'temporarily_unavailable',
      error_code: 'grant_unverifiable',
    });
  }
  expect(answers).toHaveLength(5);
});
