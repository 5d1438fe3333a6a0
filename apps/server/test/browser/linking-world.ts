import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
  request as sendRequest,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FullGrant } from '@latchkey/schema';
import { createAuthority } from '@latchkey/test-kit/certificates';
import { freePort } from '@latchkey/test-kit/free-port';
import { afterAll, beforeAll } from 'vitest';
import type { TestOptions } from '../../src/start-server.ts';
import { type Json, succeed } from '../http/call.ts';
import { sqliteDatabase } from '../http/databases.ts';
import { operator, startTestServer, type TestServer } from '../http/running-server.ts';
import { CHALLENGE, SCOPES, VERIFIER } from '../linking/link-flow.ts';

/** What an application has registered, and what it asks for. */
interface ApplicationOptions {
  name?: string;
  redirect_uris?: string[];
  logo_uri?: string;
  homepage_uri?: string;
  policy_uri?: string;
  tos_uri?: string;
  scope?: string;
  optional_scope?: string;
  /** Default: its own callback. */
  redirect_uri?: string;
  /** Where the callback leads on. Default: it says that it is linked. */
  leadsTo?: string;
}

/** An application that listens, with a page that begins a link. */
export interface RunningApplication {
  id: string;
  /** `/` has the link to click, `/callback` takes the code. */
  url: string;
  /** What came to the callback. */
  callbacks: Record<string, string>[];
  /** Converts the code of the latest callback. */
  convert(): Promise<FullGrant>;
}

/** Latchkey, a host with two users, and applications: each at an address of its own. */
export interface LinkingWorld extends TestServer {
  /** PUBLIC_URL. */
  publicUrl: string;
  host: { url: string };
  accounts: Record<'ada' | 'grace', string>;
  addApplication(options?: ApplicationOptions): Promise<RunningApplication>;
  /** The address of a page of connections. */
  connectionsOf(account_id: string): Promise<string>;
  /** Tells of each request that goes through the proxy. */
  received(watch: (path: string, headers: IncomingHttpHeaders) => void): void;
}

export const NAMES = { ada: 'Ada Lovelace', grace: 'Grace Hopper' };

interface FrontOptions {
  tls?: boolean;
  files?: Record<string, string>;
}

/**
 * A world for all tests of a suite.
 *
 * @param options.resolve - leads the names of client documents
 * @param options.tls - whether a proxy with a certificate of its own stands before Latchkey
 * @param options.files - what a proxy before Latchkey has on the same origin: scripts, by their paths
 */
export function useLinkingWorld(
  environment: NodeJS.ProcessEnv = {},
  { tls = false, files, resolve }: FrontOptions & Pick<TestOptions, 'resolve'> = {},
): LinkingWorld {
  const world = {} as LinkingWorld;
  const watches: Parameters<LinkingWorld['received']>[0][] = [];
  world.received = (watch) => void watches.push(watch);
  const servers: Server[] = [];
  const folders: string[] = [];
  let removeDatabase: () => Promise<void>;

  async function serve(handle: RequestListener): Promise<string> {
    const server = createServer(handle).listen(0, 'localhost');
    servers.push(server);
    await once(server, 'listening');
    return `http://localhost:${(server.address() as AddressInfo).port}`;
  }

  async function serveInFront(port: number): Promise<string> {
    const pass: RequestListener = (request, response) => {
      const { method, url = '', headers } = request;
      for (const watch of watches) watch(url, headers);
      const file = files?.[url];
      if (file !== undefined) {
        response.setHeader('Content-Type', url.endsWith('.js') ? 'text/javascript' : 'text/html');
        return response.end(file);
      }
      const onward = sendRequest({ port, method, path: url, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      request.pipe(onward);
    };
    const proxy = (tls ? createTlsServer(await certificate(), pass) : createServer(pass)).listen(
      0,
      '127.0.0.1',
    );
    servers.push(proxy);
    await once(proxy, 'listening');
    return `${tls ? 'https' : 'http'}://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  }

  async function certificate(): Promise<{ key: Buffer; cert: Buffer }> {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-tls-'));
    folders.push(folder);
    const authority = await createAuthority(folder, 'browser');
    const pem = await readFile(await authority.issue('/CN=latchkey'));
    return { key: pem, cert: pem };
  }

  beforeAll(async () => {
    const database = await sqliteDatabase();
    removeDatabase = database.remove;
    const host = { url: await serve(signIn(world)) };
    const port = await freePort();
    const isBehind = tls || files !== undefined;
    const publicUrl = isBehind ? await serveInFront(port) : `http://127.0.0.1:${port}`;
    const settings = {
      PORT: String(port),
      PUBLIC_URL: publicUrl,
      SIGN_IN_URL: `${host.url}/sign-in`,
      PAGE_NAME: 'Example Shop',
      ...environment,
    };
    const server = await startTestServer(database.url, settings, resolve && { resolve });
    const accounts = { ada: randomUUID(), grace: randomUUID() };
    Object.assign(world, server, { publicUrl, host, accounts });
    for (const username of ['ada', 'grace'] as const) {
      const account = { account_id: accounts[username], username, display_name: NAMES[username] };
      await succeed(world, 'admin.accounts.put', account, operator);
    }
    for (const [scope, texts] of Object.entries(SCOPES)) {
      await succeed(world, 'admin.scopes.put', { scope, ...texts }, operator);
    }

    world.addApplication = async ({
      scope = 'profile.read posts.read',
      optional_scope = '',
      leadsTo,
      redirect_uri: own,
      ...profile
    } = {}) => {
      const callbacks: Record<string, string>[] = [];
      let begin = '';
      const url = await serve(application(() => begin, callbacks, leadsTo));
      const redirect_uri = own ?? `${url}/callback`;
      const input = { name: 'Acme Notes', redirect_uris: [redirect_uri], ...profile };
      const created = await succeed(world, 'admin.applications.create', input, operator);
      begin = `${world.publicUrl}/oauth/authorize?${new URLSearchParams({
        client_id: created.id,
        redirect_uri,
        response_type: 'code',
        scope,
        optional_scope,
        state: 'the state',
        code_challenge: CHALLENGE,
        code_challenge_method: 'S256',
      })}`;
      const convert = () =>
        succeed(
          world,
          'grants.convert',
          { code: callbacks.at(-1)?.code, redirect_uri, code_verifier: VERIFIER },
          `Bearer ${created.secret}`,
        );
      return { id: created.id, url, callbacks, convert };
    };
    world.connectionsOf = async (account_id) => {
      const return_url = `${host.url}/settings`;
      const input = { page: 'connections', account_id, return_url };
      return (await succeed(world, 'admin.pages.create', input, operator)).url;
    };
  });

  afterAll(async () => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
    await world.close();
    await removeDatabase();
    for (const folder of folders) await rm(folder, { recursive: true });
  });
  return world;
}

const page = (body: string) => `<!doctype html><html lang="en"><title>A page</title>${body}`;

function application(
  begin: () => string,
  callbacks: Record<string, string>[],
  leadsTo: string | undefined,
): RequestListener {
  return ({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://application');
    if (pathname === '/callback') {
      callbacks.push(Object.fromEntries(searchParams));
      if (leadsTo !== undefined) return response.writeHead(303, { Location: leadsTo }).end();
    }
    response.setHeader('Content-Type', 'text/html');
    const link = `<a href="${begin().replaceAll('&', '&amp;')}">Connect your account</a>`;
    response.end(page(pathname === '/callback' ? '<h1>Back in the application</h1>' : link));
  };
}

/** A host without passwords: Ada is signed in, and somebody else is asked for on request. */
function signIn(world: LinkingWorld): RequestListener {
  return async ({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://host');
    const link = searchParams.get('link');
    response.setHeader('Content-Type', 'text/html');
    if (pathname !== '/sign-in' || link === null) {
      response.end(page('<h1>The host service</h1>'));
      return;
    }
    const user = searchParams.get('user');
    if (user === null && searchParams.get('prompt') === 'select_account') {
      const others = Object.entries(NAMES).map(
        ([one, name]) => `<a href="/sign-in?link=${link}&amp;user=${one}">${name}</a>`,
      );
      response.end(page(others.join(' ')));
      return;
    }
    const account_id = world.accounts[(user ?? 'ada') as 'ada' | 'grace'];
    const identified: Json = await succeed(
      world,
      'admin.links.identify',
      { link, account_id },
      operator,
    );
    response.writeHead(303, { Location: identified.redirect_to }).end();
  };
}
