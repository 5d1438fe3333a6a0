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

/** Latchkey with its default settings, its access log in a file. */
async function start(
  place: Place,
  databaseUrl: string,
  wire: (applicationSecret: string) => Wire,
): Promise<Running> {
  const adminSecret = randomBytes(32).toString('hex');
  const server = new ServerProcess([...place.nodeArguments, PROGRAM, 'serve'], {
    folder: place.folder,
    env: { PORT: '0', DATABASE_URL: databaseUrl, ADMIN_SECRET: adminSecret, RATE_LIMIT },
  });
  const [, address = ''] = await server.printed(/^Latchkey listens on (\S+),/m);
  const url = new URL(address);
  await (await fetch(new URL('/healthz', url))).text();
  const startMilliseconds = performance.now() - server.startedAt;

  const administer = (method: string, path: string, body: object): HttpRequest => ({
    method,
    path,
    headers: { Authorization: `Bearer ${adminSecret}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  /** Sends an operator's requests, all of which have to succeed. */
  const administerAll = (requests: HttpRequest[]): Promise<Record<string, string>[]> =>
    withConnections(url, Math.min(32, requests.length), async (connections) => {
      const { answers } = await load(url, connections, requests);
      return answers.map((answer) => {
        if (answer.status !== 200) throw wrongAnswer('An operator', answer);
        return JSON.parse(answer.body);
      });
    });

  const account_id = randomUUID();
  const [application] = await administerAll([
    administer('POST', '/admin/applications', { name: 'Application' }),
  ]);
  await administerAll([administer('PUT', `/admin/accounts/${account_id}`, { username: USERNAME })]);
  const wanted = administer('POST', '/admin/codes', {
    application_id: application?.id,
    account_id,
    scope: 'profile.read',
  });

  return {
    server,
    url,
    wire: wire(application?.secret ?? ''),
    async issue(count) {
      const issued = await administerAll(Array.from({ length: count }, () => wanted));
      return issued.map(({ code }) => code ?? '');
    },
    startMilliseconds,
  };
}

const SQLITE_URL = 'file:./latchkey.db';

export const latchkey: Contender = {
  name: 'Latchkey on SQLite, REST',
  share: 1,
  start: (place) => start(place, SQLITE_URL, restWire),
};

export const latchkeyTrpc: Contender = {
  name: 'Latchkey on SQLite, tRPC',
  share: 1,
  start: (place) => start(place, SQLITE_URL, trpcWire),
};

export const latchkeyMongodb: Contender = {
  name: 'Latchkey on MongoDB, REST',
  share: 0.2,
  start: (place) => start(place, place.mongodbUrl ?? '', restWire),
};
