import { describeWithMongod } from '@latchkey/test-kit/mongodb/describe';
import { ReplicaSet } from '@latchkey/test-kit/mongodb/replica-set';
import { freshName, urlOf, withOptions } from '@latchkey/test-kit/mongodb/test-databases';
import { Collection } from 'mongodb';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { invoke } from '../http/call.ts';
import { operator, startTestServer, type TestServer } from '../http/running-server.ts';
import { LINKING, type LinkingApplication, linkingApplication } from '../linking/link-flow.ts';

/** The driver itself gives nothing up, so only the deadline of a request can end it. */
const PATIENCE = String(10 * 60_000);
const patient = {
  serverSelectionTimeoutMS: PATIENCE,
  connectTimeoutMS: PATIENCE,
  socketTimeoutMS: PATIENCE,
};

describeWithMongod('a replica set that hangs in the middle of an approval', (mongod) => {
  let set: ReplicaSet;
  let server: TestServer;
  let app: LinkingApplication;
  beforeAll(async () => {
    set = await ReplicaSet.start(mongod, { members: 3 });
    server = await startTestServer(withOptions(urlOf(set.url, freshName()), patient), LINKING);
    app = await linkingApplication(server);
  });
  afterAll(async () => {
    await server?.close();
    await set?.stop();
  });

  /** The approval of a new link, held before a command on its link request. */
  async function heldAt(method: 'findOne' | 'findOneAndUpdate') {
    const { link } = await app.begin();
    const approve = () =>
      invoke(server, 'REST', 'admin.links.approve', { link, account_id: app.account_id }, operator);
    const reached = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const original = Collection.prototype[method] as (...input: unknown[]) => Promise<unknown>;
    const spy = vi.spyOn(Collection.prototype, method);
    spy.mockImplementation(async function (this: Collection, ...input: unknown[]) {
      if (this.collectionName === 'links') {
        reached.resolve();
        await go.promise;
      }
      return original.apply(this, input) as never;
    });
    const response = approve();
    await reached.promise;
    spy.mockRestore();
    return { approve, response, go: () => go.resolve() };
  }

  test('is no change before it, in doubt behind it, and either is found out later', async () => {
    const [reading, deciding] = [await heldAt('findOne'), await heldAt('findOneAndUpdate')];
    await Promise.all(set.members.map((member) => member.pause()));
    reading.go();
    deciding.go();
    const responses = await Promise.all([reading.response, deciding.response]);
    // Nothing moved before both had their response.
    expect(set.members.map(({ state }) => state)).toEqual(['paused', 'paused', 'paused']);
    expect(responses.map(({ status, body }) => [status, body.error_code])).toEqual([
      [503, 'store_unavailable'],
      [503, 'outcome_unknown'],
    ]);

    await Promise.all(set.members.map((member) => member.resume()));
    await set.settled();
    for (const { approve } of [reading, deciding]) {
      const { redirect_to } = await vi.waitUntil(
        async () => {
          const { status, body } = await approve();
          return status === 200 && body;
        },
        { timeout: 60_000, interval: 100 },
      );
      expect(new URL(redirect_to).searchParams.has('code')).toBe(true);
    }
  });
});
