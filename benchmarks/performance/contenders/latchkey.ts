import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { nodeArgumentsFor } from '../../../packages/test-kit/src/mongodb/test-databases.ts';
import { pkce, REDIRECT_URI } from '../../peers/oauth-client.ts';
import type { HttpRequest, HttpResponse } from '../connection.ts';
import {
  type Contender,
  type Endpoint,
  type RunningServer,
  type StartOptions,
  unexpectedResponse,
  type Wire,
} from '../contender.ts';
import { load, withConnections } from '../load.ts';
import { ServerProcess } from '../server-process.ts';
import { codeWithVerifier, oauthWire } from '../wires/oauth.ts';
import { restWire, USERNAME } from '../wires/rest.ts';
import { trpcWire } from '../wires/trpc.ts';

/** This repository. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

// Above the load of any benchmark. Requests are still counted.
const RATE_LIMIT = ['authentications', 'exchanges', 'requests']
  .map((name) => `${name}=100000000/60`)
  .join(',');

/** How the application calls, and what its codes are bound to. */
interface Client<W extends Wire> {
  wire(applicationSecret: string, applicationId: string): W;
  /** What a code is bound to, and the code as the wire takes it. Default: nothing, and as it is. */
  bind?(): { binding: object; toInput(code: string): string };
}

export interface RunningLatchkey<W extends Wire> extends RunningServer {
  wire: W;
  /** Issues a code with a binding. */
  issuing: Endpoint<object, string>;
  /** Sends requests of the operator. All have to succeed. */
  administer(
    requests: readonly { method: string; path: string; body: object }[],
  ): Promise<Record<string, string>[]>;
  /** A request of the operator. */
  asOperator(method: string, path: string, body?: object): HttpRequest;
  /** The id of the application that has its grants. */
  application_id: string;
  /** Starts another process on its database, beside the load. Default: another server. */
  startAnother(command?: readonly string[]): ServerProcess;
}

/**
 * Latchkey with its default settings, as built in a checkout. Its access log goes to a file.
 *
 * @param tree - the checkout
 */
export async function startLatchkey<W extends Wire>(
  options: StartOptions & { settings?: Record<string, string> },
  { wire, bind = () => ({ binding: {}, toInput: (code) => code }) }: Client<W>,
  tree = ROOT,
): Promise<RunningLatchkey<W>> {
  const databaseUrl = options.databaseUrl ?? 'file:./latchkey.db';
  const adminSecret = randomBytes(32).toString('hex');
  const testKit = pathToFileURL(join(tree, 'packages/test-kit/src/mongodb/'));
  const node = [...options.nodeArguments, ...nodeArgumentsFor(databaseUrl, testKit)];
  const run = (command: readonly string[], besideLoad: boolean) =>
    new ServerProcess([...node, join(tree, 'apps/server/dist/latchkey.js'), ...command], {
      folder: options.folder,
      env: {
        ...{ PORT: '0', DATABASE_URL: databaseUrl, ADMIN_SECRET: adminSecret, RATE_LIMIT },
        ...options.settings,
      },
      besideLoad,
    });
  const child = run(['serve'], false);
  const [, address = ''] = await child.waitForOutput(/^Latchkey listens on (\S+),/m);
  const url = new URL(address);
  await (await fetch(new URL('/healthz', url))).text();
  const startMilliseconds = performance.now() - child.startedAt;

  const headers = {
    Authorization: `Bearer ${adminSecret}`,
    'Content-Type': 'application/json',
  };
  const asOperator = (method: string, path: string, body?: object): HttpRequest => ({
    method,
    path,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  const created = (response: HttpResponse): Record<string, string> => {
    if (response.status !== 200) throw unexpectedResponse('The admin API', response);
    return JSON.parse(response.body);
  };
  const administerAll = (requests: HttpRequest[]): Promise<Record<string, string>[]> =>
    withConnections(url, Math.min(32, requests.length), async (connections) => {
      const { responses } = await load(url, connections, requests);
      return responses.map(created);
    });

  const account_id = randomUUID();
  const [application] = await administerAll([
    asOperator('POST', '/admin/applications', { name: 'Application' }),
    asOperator('PUT', `/admin/accounts/${account_id}`, { username: USERNAME }),
  ]);
  const { id: application_id = '', secret = '' } = application ?? {};
  const parties = { application_id, account_id, scope: 'profile.read' };
  const issuing: Endpoint<object, string> = {
    request: (binding) => asOperator('POST', '/admin/codes', { ...parties, ...binding }),
    result: (response) => created(response).code ?? '',
  };

  return {
    process: child,
    url,
    wire: wire(secret, application_id),
    async issue(count) {
      const bound = Array.from({ length: count }, bind);
      const codes = await administerAll(bound.map(({ binding }) => issuing.request(binding)));
      return codes.map(({ code = '' }, index) => bound[index]?.toInput(code) ?? code);
    },
    startMilliseconds,
    application_id,
    issuing,
    administer: (requests) =>
      administerAll(requests.map(({ method, path, body }) => asOperator(method, path, body))),
    asOperator,
    startAnother: (command = ['serve']) => run(command, true),
  };
}

const rest = { wire: restWire };
const trpc = { wire: trpcWire };

/** As the other OAuth servers are called: a form, `client_secret_basic`, a redirect URI and PKCE. */
const oauth: Client<Wire> = {
  wire: (client_secret, client_id) => ({
    ...oauthWire(
      { client_id, client_secret },
      { token: '/oauth/token', revocation: '/oauth/revoke' },
    ),
    authenticate: restWire(client_secret).authenticate,
  }),
  bind() {
    const { verifier, challenge } = pkce();
    return {
      binding: { redirect_uri: REDIRECT_URI, code_challenge: challenge.code_challenge },
      toInput: (code) => codeWithVerifier(code, verifier),
    };
  },
};

export const latchkey: Contender = {
  name: 'Latchkey on SQLite, REST',
  share: 1,
  start: (options) => startLatchkey(options, rest),
};

/** On the MongoDB of the options, or else on SQLite. */
export const startLatchkeyOauth = (options: StartOptions): Promise<RunningServer> =>
  startLatchkey(options, oauth);

export const latchkeyOauth: Contender = {
  name: 'Latchkey on SQLite, /oauth/token',
  share: 1,
  start: startLatchkeyOauth,
};

export const latchkeyTrpc: Contender = {
  name: 'Latchkey on SQLite, tRPC',
  share: 1,
  start: (options) => startLatchkey(options, trpc),
};

export const latchkeyMongodb: Contender = {
  name: 'Latchkey on MongoDB, REST',
  share: 0.2,
  start: (options) => startLatchkey(options, rest),
};
