import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { freePort } from '../../packages/test-kit/src/free-port.ts';
import {
  dropDatabase,
  freshName,
  urlOf,
} from '../../packages/test-kit/src/mongodb/test-databases.ts';
import * as postgresql from '../../packages/test-kit/src/postgresql/test-databases.ts';
import { Browser } from '../../tests/clients/browser.ts';
import {
  type CoveredProgram,
  namesByFile,
  TIMES,
  WARM_UPS,
  withCoveredProgram,
} from './coverage.ts';

/** How much of the service runs for something. */
export type Size = { files: number; functions: number };

export interface Way extends Size {
  /** What its functions are called, by their file. */
  names: ReadonlyMap<string, readonly string[]>;
}

const COMMAND = 'apps/server/src/cli/latchkey.ts';
const SQLITE = 'file:./latchkey.db';
const adminSecret = randomBytes(32).toString('hex');

function wayOf(functions: Set<string>): Way {
  const names = namesByFile(functions);
  return { files: names.size, functions: functions.size, names };
}

type Json = Record<string, string>;
type Call = (path: string, bearer: string, input: object, method?: string) => Promise<Json>;

/** Sends a request on a connection of its own, which is measured too. */
const callerOf =
  (url: string): Call =>
  async (path, bearer, input, method = 'POST') => {
    const headers = { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' };
    const sent = request(url + path, { method, headers, agent: false }).end(JSON.stringify(input));
    const [response]: [IncomingMessage] = (await once(sent, 'response')) as [IncomingMessage];
    const body = await text(response);
    if (response.statusCode === 200) return JSON.parse(body);
    throw new Error(`${path} responded with ${response.statusCode}: ${body}`);
  };

/** Starts `latchkey serve` with an application and an account. */
function withService<T>(
  settings: { DATABASE_URL: string; [name: string]: string },
  use: (service: {
    program: CoveredProgram;
    url: string;
    call: Call;
    application: Json;
    account_id: string;
  }) => Promise<T>,
): Promise<T> {
  const environment = { PORT: '0', ADMIN_SECRET: adminSecret, ...settings };
  return withCoveredProgram([COMMAND, 'serve'], environment, async (program) => {
    const [, url = ''] = await program.printed(/^Latchkey listens on (\S+),/m);
    const call = callerOf(url);
    const account_id = randomUUID();
    await call(`/admin/accounts/${account_id}`, adminSecret, { username: 'ada' }, 'PUT');
    const input = { name: 'Acme', redirect_uris: [CALLBACK] };
    const application = await call('/admin/applications', adminSecret, input);
    return use({ program, url, call, application, account_id });
  });
}

/** What runs for one `POST /oauth/convert` on SQLite. */
export const convertOnSqlite = (): Promise<Way> => convert(SQLITE);

/** The same on a MongoDB server, in a database of its own. */
export async function convertOnMongodb(server: string): Promise<Way> {
  const database = freshName();
  try {
    return await convert(urlOf(server, database));
  } finally {
    await dropDatabase(server, database);
  }
}

/** The same on a PostgreSQL server. */
export async function convertOnPostgresql(server: string): Promise<Way> {
  const url = await postgresql.createDatabase(server);
  try {
    return await convert(url);
  } finally {
    await postgresql.dropDatabase(url);
  }
}

function convert(databaseUrl: string): Promise<Way> {
  return withService({ DATABASE_URL: databaseUrl }, async (service) => {
    const { program, call, application, account_id } = service;
    const codes: string[] = [];
    for (let time = 0; time < WARM_UPS + TIMES; time++) {
      const input = { application_id: application.id, account_id, scope: 'profile.read' };
      const { code = '' } = await call('/admin/codes', adminSecret, input);
      codes.push(code);
    }
    return wayOf(
      await program.runningFor(() =>
        call('/oauth/convert', application.secret ?? '', { code: codes.pop() }),
      ),
    );
  });
}

const CALLBACK = 'https://application.example/callback';
const SIGN_IN_URL = 'https://host.example/sign-in';

/** What runs from the authorization request over the consent page to the convert, on SQLite. */
export async function linkingFlow(): Promise<Way> {
  const PORT = String(await freePort());
  const settings = {
    DATABASE_URL: SQLITE,
    PORT,
    PUBLIC_URL: `http://127.0.0.1:${PORT}`,
    SIGN_IN_URL,
  };
  return withService(settings, async ({ program, url, call, application, account_id }) => {
    await call('/admin/scopes/profile.read', adminSecret, { title: 'Read your profile' }, 'PUT');
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      client_id: application.id ?? '',
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'profile.read',
      state: 'state',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    return wayOf(
      await program.runningFor(async () => {
        const browser = new Browser(({ href }) => !href.startsWith(url));
        const signIn = await browser.open(`${url}/oauth/authorize?${query}`);
        const link = signIn.url.searchParams.get('link');
        const identify = await call('/admin/links/identify', adminSecret, { link, account_id });
        const consent = await browser.open(identify.redirect_to ?? '');
        const callback = await browser.press(consent, 'Allow');
        const code = callback.url.searchParams.get('code');
        const proof = { code, redirect_uri: CALLBACK, code_verifier: verifier };
        await call('/oauth/convert', application.secret ?? '', proof);
      }),
    );
  });
}

/** What runs for `latchkey app create`, on SQLite. */
export function createApp(): Promise<Way> {
  return withCoveredProgram(
    ['scripts/measure/create-app.ts'],
    { DATABASE_URL: SQLITE },
    async (program) => wayOf(await program.runningFor(() => program.ask('create'))),
  );
}
