import { defaultTimeouts } from '@latchkey/store/server-store';
import {
  aHash,
  anAccount,
  anId,
  anInitiator,
  granted,
  issued,
  redemptionOf,
} from '@latchkey/store-suite/records';
import type {} from '@latchkey/test-kit/global-setup';
import {
  dropDatabase,
  freshName,
  urlOf,
  withOptions,
} from '@latchkey/test-kit/mongodb/test-databases';
import type { CommandStartedEvent, Document } from 'mongodb';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createClient } from '../src/client.ts';
import { Database } from '../src/database.ts';
import { operations } from '../src/mongo-store.ts';
import { toDate, toHash, toId } from '../src/values.ts';

// The commands that a real database gets. `concerns.test.ts` has the same for other kinds of server.

const server = inject('mongodbUrl');

const title = `the commands for MongoDB${server ? '' : ' (not run: there is none)'}`;

describe.skipIf(!server)(title, () => {
  const name = freshName();
  const { client } = createClient(
    withOptions(urlOf(server ?? 'mongodb://none', name), { monitorCommands: 'true' }),
    defaultTimeouts,
  );
  const database = new Database(client, name, defaultTimeouts);
  const store = operations(database, Date.now);
  let sent: CommandStartedEvent[] = [];
  client.on('commandStarted', (event) => sent.push(event));

  beforeAll(async () => {
    await database.prepare();
  });
  afterAll(async () => {
    await database.close();
    await dropDatabase(server ?? '', name);
  });

  /** The commands of one call. */
  async function commandsOf<T>(call: () => Promise<T>) {
    sent = [];
    const result = await call();
    return { result, commands: sent.map(({ command }) => command) };
  }

  const durable = { w: 'majority', j: true, wtimeout: defaultTimeouts.operation };

  test('a redemption is one look behind a fence, and one command with all conditions, on the disks of a majority', async () => {
    const code = await issued(store);
    const redemption = redemptionOf(code, { initiator: anInitiator() });
    const { result, commands } = await commandsOf(() => store.redeemCode(redemption));
    expect(result?.grant_id).toBe(code.grant_id);
    const [fence, look, command, ...others] = commands;
    expect(others).toEqual([]);
    expect(fence).toMatchObject({ update: 'fences', writeConcern: durable });
    expect(look).toMatchObject({ aggregate: 'grants', readConcern: { level: 'majority' } });
    expect(command).toMatchObject({ findAndModify: 'grants', writeConcern: durable });
    expect(command?.query).toEqual({
      _id: toId(code.grant_id),
      application_id: toId(code.application_id),
      code_hash: toHash(code.code_hash),
      created_at: { $exists: false },
      code_expires_at: { $gt: toDate(redemption.now) },
      generation: { $not: { $lt: redemption.disabled_generation } },
      code_challenge: code.code_challenge,
      redirect_uri: { $in: [code.redirect_uri, null] },
    });
  });

  test('a revocation is one look behind a fence, and one command, on the disks of a majority', async () => {
    const { grant } = await granted(store);
    const { grant_id } = grant;
    const revocation = {
      grant_id,
      application_id: null,
      now: Date.now(),
      initiator: anInitiator(),
    };
    const { commands } = await commandsOf(() => store.revokeGrant(revocation));
    expect(commands).toHaveLength(3);
    expect(commands[0]).toMatchObject({ update: 'fences', writeConcern: durable });
    expect(commands[1]).toMatchObject({ aggregate: 'grants', readConcern: { level: 'majority' } });
    expect(commands[2]).toMatchObject({ findAndModify: 'grants', writeConcern: durable });
  });

  test('authenticating a grant is one command behind a fence, with its application and account', async () => {
    const { grant } = await granted(store);
    const { grant_id } = grant;
    const { commands } = await commandsOf(() =>
      store.authenticateGrant(grant_id, { currentAccount: true }),
    );
    expect(commands).toHaveLength(2);
    expect(commands[0]).toMatchObject({ update: 'fences', writeConcern: durable });
    expect(commands[1]).toMatchObject({ aggregate: 'grants', readConcern: { level: 'majority' } });
    expect(commands[1]?.readConcern).toHaveProperty('afterClusterTime');
  });

  const writesIn = (commands: readonly Document[]) =>
    commands.filter((command) => 'update' in command || 'findAndModify' in command).length;

  // Without pauses they all read, and write, again after each success: about 40² / 2 = 800 writes. On a busy
  // machine, calls wake up late and meet more often.
  describe('40 calls that change one document at once need a few writes each', () => {
    const atOnce = <T>(call: () => Promise<T>) =>
      commandsOf(() => Promise.all(Array.from({ length: 40 }, call)));

    test('when they put an account', async () => {
      const account = anAccount();
      await store.putAccount(account);
      const { commands } = await atOnce(() => store.putAccount(account));
      expect(writesIn(commands)).toBeLessThan(500);
    });

    test('when they recover a grant', async () => {
      const { grant } = await granted(store);
      const { grant_id, application_id } = grant;
      const { result, commands } = await atOnce(() =>
        store.recoverGrant({
          ...{ grant_id, application_id, secret_hash: aHash() },
          ...{ redeemed_after: 0, now: Date.now() },
          initiator: anInitiator(),
        }),
      );
      expect(result.every((recovered) => recovered !== null)).toBe(true);
      expect(writesIn(commands)).toBeLessThan(500);
    });
  });

  test('a count is one command, also in a new window', async () => {
    const [key, now, duration] = [anId(), Date.now(), 1_000];
    for (const at of [now, now, now + duration]) {
      const { commands } = await commandsOf(() =>
        store.addToCount({ key, points: 1, now: at, duration }),
      );
      expect(commands).toHaveLength(1);
    }
  });
});
