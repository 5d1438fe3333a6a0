import { randomBytes, randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { HttpRequest } from '../connection.ts';
import { type Contender, type Place, type Running, type Wire, wrongAnswer } from '../contender.ts';
import { load, withConnections } from '../load.ts';
import { ServerProcess } from '../server-process.ts';
import { restWire, USERNAME } from '../wires/rest.ts';
import { trpcWire } from '../wires/trpc.ts';

/** The service as it is built: what users start. */
const PROGRAM = fileURLToPath(new URL('../../../apps/server/dist/latchkey.js', import.meta.url));

// Above any load of a benchmark; each request is still counted.
const RATE_LIMIT = ['authentications', 'exchanges', 'requests']
  .map((name) => `${name}=100000000/60`)
  .join(',');

/** For whom codes are issued, and about whom. */
export interface Parties {
  application: { id: string; secret: string };
  /** The codes are about one after the other. */
  accountIds: readonly string[];
}

/** Latchkey that runs, with what its operator can do. */
export interface RunningLatchkey extends Running {
  administer(method: string, path: string, body?: object): HttpRequest;
}

/**
 * Latchkey with its default settings, its access log in a file.
 *
 * @param parties - those that are in the database already; made where left out
 */
export async function startLatchkey<W extends Wire>(
  place: Place,
  databaseUrl: string,
  wire: (applicationSecret: string) => W,
  parties?: Parties,
): Promise<RunningLatchkey & { wire: W }> {
  const adminSecret = randomBytes(32).toString('hex');
  const server = new ServerProcess([...place.nodeArguments, PROGRAM, 'serve'], {
    folder: place.folder,
    env: { PORT: '0', DATABASE_URL: databaseUrl, ADMIN_SECRET: adminSecret, RATE_LIMIT },
  });
  const [, address = ''] = await server.printed(/^Latchkey listens on (\S+),/m);
  const url = new URL(address);
  await (await fetch(new URL('/healthz', url))).text();
  const startMilliseconds = performance.now() - server.startedAt;

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
  /** Sends an operator's requests, all of which have to succeed. */
  const administerAll = (requests: HttpRequest[]): Promise<Record<string, string>[]> =>
    withConnections(url, Math.min(32, requests.length), async (connections) => {
      const { answers } = await load(url, connections, requests);
      return answers.map((answer) => {
        if (answer.status !== 200) throw wrongAnswer('An operator', answer);
        return JSON.parse(answer.body);
      });
    });

  async function makeParties(): Promise<Parties> {
    const account_id = randomUUID();
    const [application] = await administerAll([
      administer('POST', '/admin/applications', { name: 'Application' }),
      administer('PUT', `/admin/accounts/${account_id}`, { username: USERNAME }),
    ]);
    const { id = '', secret = '' } = application ?? {};
    return { application: { id, secret }, accountIds: [account_id] };
  }
  const { application, accountIds } = parties ?? (await makeParties());
  let issued = 0;
  const wanted = () =>
    administer('POST', '/admin/codes', {
      application_id: application.id,
      account_id: accountIds[issued++ % accountIds.length],
      scope: 'profile.read',
    });

  return {
    server,
    url,
    wire: wire(application.secret),
    async issue(count) {
      const codes = await administerAll(Array.from({ length: count }, wanted));
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
  start: (place) => startLatchkey(place, SQLITE_URL, restWire),
};

export const latchkeyTrpc: Contender = {
  name: 'Latchkey on SQLite, tRPC',
  share: 1,
  start: (place) => startLatchkey(place, SQLITE_URL, trpcWire),
};

export const latchkeyMongodb: Contender = {
  name: 'Latchkey on MongoDB, REST',
  share: 0.2,
  start: (place) => startLatchkey(place, place.mongodbUrl ?? '', restWire),
};

export const latchkeyMongodbTrpc: Contender = {
  name: 'Latchkey on MongoDB, tRPC',
  share: 0.2,
  start: (place) => startLatchkey(place, place.mongodbUrl ?? '', trpcWire),
};
