import type { CommandStartedEvent } from 'mongodb';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { aCode, anOrigin, exchanged, redemptionOf } from '../suite-records.ts';
import { codes } from './codes.ts';
import { Connection } from './connection.ts';
import { toDate, toHash, toId } from './documents.ts';
import { grants } from './grants.ts';
import { dropDatabase, freshName, urlOf } from './mongo-harness.ts';
import { clientFor, defaultPatience } from './settings.ts';

// What the driver tells of the commands that it sends to a real database. `concerns.test.ts` has
// the same for servers that are not at hand, such as a replica set.

const server = inject('mongodbUrl');

describe.skipIf(server === undefined)('what is sent to MongoDB', () => {
  const name = freshName();
  const { client } = clientFor(
    `${urlOf(server ?? 'mongodb://none', name)}?monitorCommands=true`,
    defaultPatience,
  );
  const connection = new Connection(client, name, defaultPatience);
  const store = { ...codes(connection, Date.now), ...grants(connection) };
  let sent: CommandStartedEvent[] = [];
  client.on('commandStarted', (event) => sent.push(event));

  beforeAll(async () => {
    await connection.prepare();
  });
  afterAll(async () => {
    await connection.close();
    await dropDatabase(server ?? '', name);
  });

  /** The commands of one call. */
  async function commandsOf<T>(call: () => Promise<T>) {
    sent = [];
    const result = await call();
    return { result, commands: sent.map(({ command }) => command) };
  }

  const durable = { w: 'majority', j: true, wtimeout: defaultPatience.operation };

  test('a redemption is one command, with all conditions, on the disks of a majority', async () => {
    const code = aCode();
    await store.issueCode(code);
    const redemption = redemptionOf(code, { origin: anOrigin() });
    const { result, commands } = await commandsOf(() => store.redeemCode(redemption));
    expect(result?.grant_id).toBe(code.grant_id);
    expect(commands).toHaveLength(1);
    expect(commands[0]).toMatchObject({ findAndModify: 'grants', writeConcern: durable });
    expect(commands[0]?.query).toEqual({
      _id: toId(code.grant_id),
      application_id: toId(code.application_id),
      code_hash: toHash(code.code_hash),
      created_at: { $exists: false },
      code_expires_at: { $gt: toDate(redemption.now) },
    });
  });

  test('a revocation is one command, on the disks of a majority', async () => {
    const { grant } = await exchanged(store);
    const { grant_id } = grant;
    const revocation = { grant_id, application_id: null, now: Date.now(), origin: anOrigin() };
    const { commands } = await commandsOf(() => store.revokeGrant(revocation));
    expect(commands).toHaveLength(1);
    expect(commands[0]).toMatchObject({ findAndModify: 'grants', writeConcern: durable });
  });

  test('authenticating a grant is one command, with its application and account', async () => {
    const { grant } = await exchanged(store);
    const { grant_id } = grant;
    const { commands } = await commandsOf(() =>
      store.authenticateGrant(grant_id, { currentAccount: true }),
    );
    expect(commands).toHaveLength(1);
    expect(commands[0]).toMatchObject({ aggregate: 'grants' });
    expect(commands[0]?.readConcern).toHaveProperty('level');
  });
});
