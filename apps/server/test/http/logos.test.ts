import { StatementSync } from 'node:sqlite';
import { isKnownApplicationSecret } from '@latchkey/rules/applications/authenticate-application';
import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { MongodbProxy, urlThrough } from '@latchkey/test-kit/mongodb/proxy';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { succeed } from './call.ts';
import { mongoDatabase, sqliteDatabase } from './databases.ts';
import { asBearer, linkedApplication } from './linked-application.ts';
import { operator, startTestServer, type TestServer } from './running-server.ts';

// About as long as a logo may be.
const LOGO = `data:image/png;base64,${'A'.repeat(8_000)}`;

/** @param seen - what the database has answered since it was last emptied */
async function authenticateAll(server: TestServer, seen: string[]) {
  const { service } = server;
  const { application_id, bearer, secret, account_id, ...linked } = await linkedApplication(server);
  await succeed(server, 'admin.applications.update', { application_id, logo_uri: LOGO }, operator);
  const codes = await Promise.all([linked.issue(), linked.issue()]);

  // Once a minute, the note of a use reads the whole record.
  const noted = vi.spyOn(service.useNotes, 'write').mockImplementation(() => {});
  seen.length = 0;
  const grants = await Promise.all(codes.map(({ code }) => linked.convert(code)));
  for (const grant of grants) await succeed(server, 'account.get', {}, asBearer(grant));
  await Promise.all(grants.map((grant) => succeed(server, 'account.get', {}, asBearer(grant))));
  const [{ grant_id, grant_secret: token } = expect.fail('none')] = grants;
  await succeed(server, 'grants.introspect', { token }, bearer);
  await isKnownApplicationSecret(service, secret);
  await service.store.authenticateGrant(grant_id, { currentAccount: true, mayBeStale: true });
  const authenticated = seen.splice(0);
  noted.mockRestore();

  const get = { application_id };
  expect(await succeed(server, 'admin.applications.get', get, operator)).toMatchObject({
    logo_uri: LOGO,
  });
  return { authenticated, shown: seen.splice(0) };
}

function expectNoLogo({ authenticated, shown }: Awaited<ReturnType<typeof authenticateAll>>) {
  const withLogo = (answers: string[]) =>
    answers.filter((answer) => answer.includes('A'.repeat(500)));
  expect(authenticated.length).toBeGreaterThan(5);
  expect(withLogo(authenticated)).toEqual([]);
  expect(withLogo(shown)).toHaveLength(1);
}

test('no statement that authenticates reads the logo of an application from SQLite', async () => {
  const database = await sqliteDatabase();
  const server = await startTestServer(database.url);
  onTestFinished(async () => {
    vi.restoreAllMocks();
    await server.close();
    await database.remove();
  });
  const rows: string[] = [];
  for (const name of ['get', 'all'] as const) {
    const run = StatementSync.prototype[name] as (...given: unknown[]) => unknown;
    vi.spyOn(StatementSync.prototype, name).mockImplementation(function (
      this: StatementSync,
      ...given: unknown[]
    ) {
      const found = run.apply(this, given);
      rows.push(JSON.stringify(found) ?? '');
      return found;
    } as never);
  }
  expectNoLogo(await authenticateAll(server, rows));
});

describeOnMongodb('the logo of an application', (mongodb) => {
  const answers: string[] = [];
  let database: Awaited<ReturnType<typeof mongoDatabase>>;
  let proxy: MongodbProxy;
  let server: TestServer;

  beforeAll(async () => {
    database = await mongoDatabase(mongodb);
    proxy = await MongodbProxy.start(mongodb);
    proxy.watchAnswers((answer) => answers.push(answer.toString('latin1')));
    server = await startTestServer(urlThrough(proxy, database.url));
  });
  afterAll(async () => {
    await server.close();
    await proxy.stop();
    await database.remove();
  });

  test('is in no answer of the database to a request that authenticates', async () => {
    expectNoLogo(await authenticateAll(server, answers));
  });
});
