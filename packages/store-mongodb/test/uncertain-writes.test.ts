import type { DomainError } from '@latchkey/domain/domain-error';
import type { PendingRecord } from '@latchkey/store/records';
import type { Redemption } from '@latchkey/store/store';
import {
  aCode,
  aHash,
  anAccount,
  anId,
  newCode,
  redemptionOf,
} from '@latchkey/store-suite/records';
import type { Document } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { toDate, toHash, toId } from '../src/values.ts';
import { documentOfAccount, pendingDocument } from './documents.ts';
import { batch, failure, type ScriptedServer } from './scripted-server.ts';
import { type ScriptedOptions, scripted, shortTimeouts } from './scripted-store.ts';

// By hand: what a real server does not do on demand. What is lost on the way is in `faults/lost-commands.test.ts`.

const kinds = ['standalone', 'primary'] as const;

/** The error of a call. */
async function refusal(call: Promise<unknown>): Promise<DomainError> {
  return call.then(
    (value) => expect.fail(`answered ${JSON.stringify(value)}`),
    (error) => error,
  );
}

/** The grant as the last redemption that the server received makes it. */
function redeemedBy(server: ScriptedServer, code: PendingRecord): Document {
  const { code_expires_at, ...rest } = pendingDocument(code);
  return { ...rest, ...server.sent('findAndModify').at(-1)?.update.$set };
}

describe.each(kinds)('a redemption whose response is lost, on a %s', (is) => {
  const setUp = async (options: ScriptedOptions = {}) => {
    const code = aCode();
    const redemption: Redemption = redemptionOf(code);
    return { code, redemption, ...(await scripted({ is, ...options })) };
  };

  test('was not made, and the code has expired since: is sent again with the time of the call', async () => {
    let now = 0;
    const { server, store, code, redemption } = await setUp({ clock: () => now });
    now = code.code_expires_at;
    let reads = 0;
    server.on('find', () => {
      reads++;
      return batch(pendingDocument(code));
    });
    server.on('findAndModify', () => (reads === 0 ? 'close' : { value: redeemedBy(server, code) }));
    expect(await store.redeemCode(redemption)).not.toBeNull();
    const { query } = server.sent('findAndModify').at(-1) ?? {};
    expect(query.code_expires_at).toEqual({ $gt: new Date(redemption.now) });
  });

  test.each([
    ['the application', { application_id: anId() }],
    ['the challenge', { code_challenge: 'of-another' }],
    ['the redirect URI', { redirect_uri: 'https://acme.example/other', code_challenge: null }],
    ['the time', { now: Number.MAX_SAFE_INTEGER }],
  ])('is known to be refused by %s, which nothing changes', async (_, wrong) => {
    const { server, store, code, redemption } = await setUp();
    server.script('findAndModify', 'close');
    server.on('find', () =>
      batch({ ...pendingDocument(code), redirect_uri: 'https://acme.example/' }),
    );
    expect(await store.redeemCode({ ...redemption, ...wrong })).toBeNull();
  });

  test('can’t be read back: the outcome is unknown', async () => {
    const { server, store, code, redemption } = await setUp({ timeouts: shortTimeouts });
    server.script('findAndModify', 'close');
    server.script('find', failure(50, 'MaxTimeMSExpired'));
    const { code: error, members, cause } = await refusal(store.redeemCode(redemption));
    expect({ error, members }).toEqual({
      error: 'outcome_unknown',
      members: { grant_id: code.grant_id },
    });
    expect(String(cause)).toContain('MongoNetworkError');
  });

  test('is given up when the store is closed', async () => {
    const { server, store, redemption } = await setUp({
      timeouts: { ...shortTimeouts, outcome: 600_000 },
    });
    server.script('findAndModify', 'close');
    server.on('find', () => {
      void store.close();
      return failure(50, 'MaxTimeMSExpired');
    });
    expect(await refusal(store.redeemCode(redemption))).toMatchObject({ code: 'outcome_unknown' });
  });

  // The driver then throws the error of its search for a server, as if nothing had been sent.
  test('with the server: the outcome is unknown, although the driver finds no server', async () => {
    const { server, store, redemption } = await setUp({ timeouts: shortTimeouts });
    server.on('findAndModify', () => {
      void server.stop();
      return 'close';
    });
    expect(await refusal(store.redeemCode(redemption))).toMatchObject({ code: 'outcome_unknown' });
  });

  test('every time: the outcome is unknown after the timeout', async () => {
    const { server, store, code, redemption } = await setUp({ timeouts: shortTimeouts });
    server.script('findAndModify', 'close');
    server.on('find', () => batch(pendingDocument(code)));
    expect(await refusal(store.redeemCode(redemption))).toMatchObject({ code: 'outcome_unknown' });
  });
});

describe('a redemption', () => {
  const concern = { code: 64, codeName: 'WriteConcernTimeout', errmsg: 'waiting timed out' };

  test('that no majority confirmed is read back, and is not a success', async () => {
    const { server, store } = await scripted({ is: 'primary', timeouts: shortTimeouts });
    const code = aCode();
    server.on('findAndModify', () => ({
      value: redeemedBy(server, code),
      writeConcernError: concern,
    }));
    server.script('find', failure(50, 'MaxTimeMSExpired'));
    const error = await refusal(store.redeemCode(redemptionOf(code)));
    expect(error).toMatchObject({ code: 'outcome_unknown', members: { grant_id: code.grant_id } });
    expect(server.sent('find')[0]?.readConcern).toEqual({ level: 'linearizable' });
  });

  test('that a majority confirmed later is a success', async () => {
    const { server, store } = await scripted({ is: 'primary' });
    const code = aCode();
    server.on('findAndModify', () => ({
      value: redeemedBy(server, code),
      writeConcernError: concern,
    }));
    server.on('find', () => batch(redeemedBy(server, code)));
    expect(await store.redeemCode(redemptionOf(code))).toMatchObject({ grant_id: code.grant_id });
    expect(server.sent('findAndModify')).toHaveLength(1);
  });

  // The server keeps the outcome of a transaction number and returns it to a repetition.
  test('is repeated by the driver under the same transaction number', async () => {
    const { server, store } = await scripted({ is: 'primary' });
    const code = aCode();
    server.on('findAndModify', () =>
      server.sent('findAndModify').length === 1 ? 'close' : { value: redeemedBy(server, code) },
    );
    expect(await store.redeemCode(redemptionOf(code))).not.toBeNull();
    const [first, second, ...others] = server.sent('findAndModify');
    expect(others).toEqual([]);
    expect(first?.txnNumber).toBeDefined();
    expect(second).toEqual(first);
    expect(server.sent('find')).toEqual([]);
  });

  test('that reaches a former primary is sent again', async () => {
    const { server, store } = await scripted({ is: 'standalone' });
    const code = aCode();
    server.on('findAndModify', () =>
      server.sent('findAndModify').length === 1
        ? failure(10107, 'NotWritablePrimary')
        : { value: redeemedBy(server, code) },
    );
    server.on('find', () => batch(pendingDocument(code)));
    expect(await store.redeemCode(redemptionOf(code))).not.toBeNull();
  });

  test.each([
    [13, 'Unauthorized', /grant the user the rights/],
    [371, 'UserWritesBlocked', /free disk space/],
    [8000, 'AtlasError', /limits of the cluster/],
    [14031, 'OutOfDiskSpace', /free disk space/],
  ])(
    'that the server refuses (%i) changed nothing, and is not read back',
    async (code, name, remedy) => {
      const { server, store } = await scripted({ is: 'primary' });
      server.script('findAndModify', failure(code, name));
      const error = await refusal(store.redeemCode(redemptionOf(aCode())));
      expect(error).toMatchObject({ code: 'store_unavailable' });
      expect((error.cause as Error).message).toMatch(remedy);
      expect(server.sent('findAndModify')).toHaveLength(1);
      expect(server.sent('find')).toEqual([]);
    },
  );

  test('that is not sent again after its repetition is refused', async () => {
    const { server, store } = await scripted({ is: 'standalone' });
    const code = aCode();
    server.script('findAndModify', 'close', failure(371, 'UserWritesBlocked'));
    server.on('find', () => batch(pendingDocument(code)));
    const error = await refusal(store.redeemCode(redemptionOf(code)));
    expect(error).toMatchObject({ code: 'outcome_unknown' });
    expect(server.sent('findAndModify')).toHaveLength(2);
  });

  test('that was lost is unknown, although its repetition is refused', async () => {
    const { server, store } = await scripted({ is: 'primary', timeouts: shortTimeouts });
    server.on('findAndModify', () =>
      server.sent('findAndModify').length === 1 ? 'close' : failure(13, 'Unauthorized'),
    );
    server.script('find', failure(13, 'Unauthorized'));
    const error = await refusal(store.redeemCode(redemptionOf(aCode())));
    expect(error).toMatchObject({ code: 'outcome_unknown' });
  });

  test('that was never sent changed nothing', async () => {
    const { server, store } = await scripted({ is: 'primary', timeouts: shortTimeouts });
    await server.stop();
    // Lets the client notice that its connection is closed.
    await refusal(store.ping());
    const error = await refusal(store.redeemCode(redemptionOf(aCode())));
    expect(error).toMatchObject({ code: 'store_unavailable', members: {} });
    expect(server.received).toEqual([]);
  });
});

describe('another write', () => {
  const pending = aCode();

  test('a code has no name in it before it is known that the account is there', async () => {
    const { server, store } = await scripted();
    expect(await store.issueCode(newCode(pending))).toBeNull();
    // The username is so short that a random id may contain it.
    expect(JSON.stringify(server.sent('insert'))).not.toContain(pending.account.display_name);
    expect(server.sent('findAndModify')).toEqual([]);
    expect(server.sent('delete')).toHaveLength(1);
  });

  test('an id that was taken before the first send is an error', async () => {
    const { server, store } = await scripted();
    server.script('insert', {
      n: 0,
      writeErrors: [{ index: 0, code: 11000, errmsg: 'E11000 duplicate key error' }],
    });
    await refusal(store.issueCode(newCode(pending)));
  });

  test('an account that another call inserts at the same time is replaced', async () => {
    const { server, store } = await scripted();
    const duplicate = [{ index: 0, code: 11000, errmsg: 'E11000 duplicate key error' }];
    server.script('insert', { n: 0, writeErrors: duplicate });
    const account = anAccount();
    server.script('find', batch(), batch({ ...documentOfAccount(account), revision: 1 }));
    await store.putAccount(account);
    const [replaced, ...others] = server.sent('update');
    expect(replaced?.updates[0].q).toEqual({ _id: toId(account.id), revision: 1 });
    expect(others).toEqual([]);
  });
});

test('dates and hashes are read as they were written', () => {
  expect(toDate(1_795_000_000_123).getTime()).toBe(1_795_000_000_123);
  const hash = aHash();
  expect(Uint8Array.from(toHash(hash).value())).toEqual(hash);
});
