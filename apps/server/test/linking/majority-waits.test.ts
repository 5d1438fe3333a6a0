import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { MongodbProxy, urlThrough } from '@latchkey/test-kit/mongodb/proxy';
import { nameOf } from '@latchkey/test-kit/mongodb/wire-messages';
import type { Document } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { succeed } from '../http/call.ts';
import { mongoDatabase } from '../http/databases.ts';
import { operator, startTestServer, type TestServer } from '../http/running-server.ts';
import {
  addedTo,
  authorize,
  CALLBACK,
  LINKING,
  type LinkingApplication,
  linkingApplication,
  VERIFIER,
} from './link-flow.ts';

// What makes a request slow where the members of a replica set are far apart: each of these waits
// until a majority has it. Decision 54 has the list.
const waits = ({ writeConcern, readConcern }: Document) =>
  writeConcern?.w === 'majority' || readConcern?.level === 'linearizable';

describeOnMongodb('waits for a majority', (mongodb) => {
  const commands: string[] = [];
  let database: Awaited<ReturnType<typeof mongoDatabase>>;
  let proxy: MongodbProxy;
  let server: TestServer;
  let app: LinkingApplication;

  beforeAll(async () => {
    database = await mongoDatabase(mongodb);
    proxy = await MongodbProxy.start(mongodb);
    proxy.hold(
      (command) => {
        if (waits(command)) commands.push(`${nameOf(command)} ${command[nameOf(command)]}`);
        return false;
      },
      () => undefined,
    );
    server = await startTestServer(urlThrough(proxy, database.url), LINKING);
    app = await linkingApplication(server);
  });
  afterAll(async () => {
    await server.close();
    await proxy.stop();
    await database.remove();
  });
  beforeEach(async () => {
    // The uses of secrets are noted behind the requests.
    await server.service.useNotes.flush();
    commands.length = 0;
  });

  async function waitsOf<T>(call: () => Promise<T>): Promise<{ result: T; waited: string[] }> {
    commands.length = 0;
    const result = await call();
    return { result, waited: commands.splice(0) };
  }

  const step = (name: 'identify' | 'approve' | 'deny', link: string) =>
    succeed(server, `admin.links.${name}`, { link, account_id: app.account_id }, operator);

  async function link(): Promise<string> {
    const { headers } = await authorize(server, app.request);
    return new URL(headers.get('location') ?? '').searchParams.get('link') ?? '';
  }

  async function grant() {
    const { redirect_to } = await step('approve', await link());
    const { code } = addedTo(`${CALLBACK}&`, redirect_to);
    const redemption = { code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
    return succeed(server, 'grants.convert', redemption, app.bearer);
  }

  test('ten, from the authorization request to the grant', async () => {
    const begun = await waitsOf(link);
    const identified = await waitsOf(() => step('identify', begun.result));
    const approved = await waitsOf(() => step('approve', begun.result));
    const { code } = addedTo(`${CALLBACK}&`, approved.result.redirect_to);
    const redemption = { code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
    const converted = await waitsOf(() =>
      succeed(server, 'grants.convert', redemption, app.bearer),
    );
    expect([begun, identified, approved, converted].map(({ waited }) => waited)).toEqual([
      ['insert links'],
      ['update fences', 'insert pages', 'findAndModify links'],
      ['update fences', 'insert grants', 'update grants', 'findAndModify links'],
      ['update fences', 'findAndModify grants'],
    ]);
  });

  test('two in a revocation, and one in an authentication', async () => {
    const { grant_id, grant_secret } = await grant();
    const use = () => succeed(server, 'account.get', {}, `Bearer ${grant_secret}`);
    // The first use is noted before the response.
    await use();
    expect((await waitsOf(use)).waited).toEqual(['update fences']);
    const revoke = () => succeed(server, 'grants.revoke', { grant_id }, app.bearer);
    expect((await waitsOf(revoke)).waited).toEqual(['update fences', 'findAndModify grants']);
  });
});
