import { randomBytes, randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { nodeArgumentsFor } from '../../../packages/test-kit/src/mongodb/test-databases.ts';
import type { HttpRequest } from '../connection.ts';
import {
  type Contender,
  type RunningServer,
  type StartOptions,
  unexpectedResponse,
  type Wire,
} from '../contender.ts';
import { load, withConnections } from '../load.ts';
import { ServerProcess } from '../server-process.ts';
import { restWire, USERNAME } from '../wires/rest.ts';
import { trpcWire } from '../wires/trpc.ts';

/** The built service, as users start it. */
const PROGRAM = fileURLToPath(new URL('../../../apps/server/dist/latchkey.js', import.meta.url));

// Above the load of any benchmark. Requests are still counted.
const RATE_LIMIT = ['authentications', 'exchanges', 'requests']
  .map((name) => `${name}=100000000/60`)
  .join(',');

/** The application and the accounts of the issued codes. */
export interface Parties {
  application: { id: string; secret: string };
  /** Used in turn. */
  accountIds: readonly string[];
}

export interface RunningLatchkey extends RunningServer {
  /** Builds a request of the operator. */
  administer(method: string, path: string, body?: object): HttpRequest;
}

/**
 * Latchkey with its default settings. Its access log goes to a file.
 *
 * @param parties - already in the database; created if omitted
 */
export async function startLatchkey<W extends Wire>(
  options: StartOptions,
  databaseUrl: string,
  wire: (applicationSecret: string) => W,
  parties?: Parties,
): Promise<RunningLatchkey & { wire: W }> {
  const adminSecret = randomBytes(32).toString('hex');
  const node = [...options.nodeArguments, ...nodeArgumentsFor(databaseUrl)];
  const child = new ServerProcess([...node, PROGRAM, 'serve'], {
    folder: options.folder,
    env: { PORT: '0', DATABASE_URL: databaseUrl, ADMIN_SECRET: adminSecret, RATE_LIMIT },
  });
  const [, address = ''] = await child.waitForOutput(/^Latchkey listens on (\S+),/m);
  const url = new URL(address);
  await (await fetch(new URL('/healthz', url))).text();
  const startMilliseconds = performance.now() - child.startedAt;

  const authorization = { Authorization: `Bearer ${adminSecret}` };
  const administer = (method: string, path: string, body?: object): HttpRequest =>
    body === undefined
      ? { method, path, headers: authorization }
      : {
          method,
          path,
          headers: { ...authorization, 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        };
  /** Sends requests of the operator. All have to succeed. */
  const administerAll = (requests: HttpRequest[]): Promise<Record<string, string>[]> =>
    withConnections(url, Math.min(32, requests.length), async (connections) => {
      const { responses } = await load(url, connections, requests);
      return responses.map((response) => {
        if (response.status !== 200) throw unexpectedResponse('The admin API', response);
        return JSON.parse(response.body);
      });
    });

  async function createParties(): Promise<Parties> {
    const account_id = randomUUID();
    const [application] = await administerAll([
      administer('POST', '/admin/applications', { name: 'Application' }),
      administer('PUT', `/admin/accounts/${account_id}`, { username: USERNAME }),
    ]);
    const { id = '', secret = '' } = application ?? {};
    return { application: { id, secret }, accountIds: [account_id] };
  }
  const { application, accountIds } = parties ?? (await createParties());
  let issued = 0;
  const codeRequest = () =>
    administer('POST', '/admin/codes', {
      application_id: application.id,
      account_id: accountIds[issued++ % accountIds.length],
      scope: 'profile.read',
    });

  return {
    process: child,
    url,
    wire: wire(application.secret),
    async issue(count) {
      const codes = await administerAll(Array.from({ length: count }, codeRequest));
      return codes.map(({ code }) => code ?? '');
    },
    startMilliseconds,
    administer,
  };
}

const SQLITE_URL = 'file:./latchkey.db';

export const latchkey: Contender = {
  name: 'Latchkey on SQLite, REST',
  share: 1,
  start: (options) => startLatchkey(options, SQLITE_URL, restWire),
};

export const latchkeyTrpc: Contender = {
  name: 'Latchkey on SQLite, tRPC',
  share: 1,
  start: (options) => startLatchkey(options, SQLITE_URL, trpcWire),
};

export const latchkeyMongodb: Contender = {
  name: 'Latchkey on MongoDB, REST',
  share: 0.2,
  start: (options) => startLatchkey(options, options.mongodbUrl ?? '', restWire),
};
