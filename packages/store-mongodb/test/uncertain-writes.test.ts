import type { DomainError } from '@latchkey/domain/domain-error';
import type { Redemption } from '@latchkey/store/store';
import {
  aCode,
  aHash,
  anAccount,
  anApplication,
  anId,
  anInitiator,
  aSecret,
  newCode,
  redemptionOf,
} from '@latchkey/store-suite/records';
import type { Document } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { toDate, toHash, toId, toInitiator } from '../src/values.ts';
import {
  applicationDocument,
  documentOfAccount,
  newDocument,
  pendingDocument,
} from './documents.ts';
import { batch, failure, type ScriptedServer, unmarked } from './scripted-server.ts';
import { type ScriptedOptions, scripted, shortTimeouts } from './scripted-store.ts';

const kinds = ['standalone', 'primary'] as const;

/** The error of a call. */
async function refusal(call: Promise<unknown>): Promise<DomainError> {
  return call.then(
    (value) => expect.fail(`answered ${JSON.stringify(value)}`),
    (error) => error,
  );
}

/** The grant as the last redemption that the server received makes it. */
function redeemedBy(server: ScriptedServer, code = aCode(), change: Document = {}): Document {
  const { code_expires_at, ...rest } = pendingDocument(code);
  return { ...rest, ...server.sent('findAndModify').at(-1)?.update.$set, ...change };
}

describe.each(kinds)('a redemption whose response is lost, on a %s', (is) => {
  const setUp = async (options: ScriptedOptions = {}) => {
    const code = aCode();
    const redemption: Redemption = redemptionOf(code);
    return { code, redemption, ...(await scripted({ is, ...options })) };
  };

  test('was made: returns the grant that is read back', async () => {
    const { server, store, code, redemption } = await setUp();
    server.script('findAndModify', 'close');
    server.on('find', () => batch(redeemedBy(server, code)));
    expect(await store.redeemCode(redemption)).toMatchObject({
      grant_id: code.grant_id,
      created_at: redemption.now,
      account: code.account,
    });
  });

  test("was another call's: returns null and sends nothing more", async () => {
    const { server, store, code, redemption } = await setUp();
    server.script('findAndModify', 'close');
    server.on('find', () => batch(redeemedBy(server, code, { secret_hash: toHash(aHash()) })));
    expect(await store.redeemCode(redemption)).toBeNull();
    // On a replica set the driver itself repeats once.
    expect(server.sent('findAndModify')).toHaveLength(is === 'primary' ? 2 : 1);
  });

  test('was made, and revoked or recovered since: returns null, since the secret is no longer valid', async () => {
    for (const secret_hash of [undefined, toHash(aHash())]) {
      const { server, store, code, redemption } = await setUp();
      server.script('findAndModify', 'close');
      server.on('find', () => {
        const { secret_hash: _, ...rest } = redeemedBy(server, code);
        return batch(secret_hash ? { ...rest, secret_hash } : { ...rest, revoked_at: new Date() });
      });
      expect(await store.redeemCode(redemption)).toBeNull();
    }
  });

  test('was not made: is sent again unchanged', async () => {
    const { server, store, code, redemption } = await setUp();
    let reads = 0;
    server.on('find', () => {
      reads++;
      return batch(pendingDocument(code));
    });
    server.on('findAndModify', () => (reads === 0 ? 'close' : { value: redeemedBy(server, code) }));
    expect(await store.redeemCode(redemption)).not.toBeNull();
    const updates = server.sent('findAndModify').map(({ query, update }) => ({ query, update }));
    expect(updates.length).toBeGreaterThan(1);
    for (const update of updates) expect(update).toEqual(updates[0]);
  });

  test('arrives between the read and the repetition: returns the grant that is read back', async () => {
    const { server, store, code, redemption } = await setUp();
    let reads = 0;
    server.on('find', () =>
      batch(reads++ === 0 ? pendingDocument(code) : redeemedBy(server, code)),
    );
    server.on('findAndModify', () => (reads === 0 ? 'close' : { value: null }));
    expect(await store.redeemCode(redemption)).toMatchObject({ grant_id: code.grant_id });
  });

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

  test('found no code: returns null', async () => {
    const { server, store, redemption } = await setUp();
    server.script('findAndModify', 'close');
    expect(await store.redeemCode(redemption)).toBeNull();
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

describe('other writes whose response is lost', () => {
  const pending = aCode();
  const grant = {
    ...pendingDocument(pending),
    code_expires_at: undefined,
    created_at: new Date(1),
  };
  const { grant_id } = pending;
  const accountDocument = { ...documentOfAccount(pending.account), revision: 1 };

  test('a revocation that was made is read back', async () => {
    const { server, store } = await scripted();
    server.script('findAndModify', 'close');
    server.script('find', batch({ ...grant, revoked_at: new Date(5) }));
    let looks = 0;
    server.on('aggregate', (command) =>
      batch(...unmarked(command, looks++ > 0 ? { revoked_at: new Date(5) } : {})),
    );
    const call = store.revokeGrant({
      grant_id,
      application_id: null,
      now: 9,
      initiator: anInitiator(),
    });
    expect(await call).toMatchObject({ grant_id, revoked_at: 5 });
  });

  test.each([
    ['that was made', { revoked_at: 9, request_id: 'ours' }, { grant_id, revoked_at: 9 }],
    ['after another one', { revoked_at: 5, request_id: 'ours' }, null],
    ['after another request', { revoked_at: 9, request_id: 'other' }, null],
  ])('a revocation of an active grant %s', async (_, { revoked_at, request_id }, expected) => {
    const { server, store } = await scripted();
    const revoked_by = { request_id, by: 'operator', secret_id: null };
    server.script('findAndModify', 'close');
    server.script('find', batch({ ...grant, revoked_at: new Date(revoked_at), revoked_by }));
    const revoked = await store.revokeGrant({
      ...{ grant_id, application_id: null, onlyActive: true, now: 9 },
      initiator: { request_id: 'ours', by: 'operator', secret_id: null },
    });
    if (expected === null) expect(revoked).toBeNull();
    else expect(revoked).toMatchObject(expected);
  });

  test('a revocation that was not made is sent again', async () => {
    const { server, store } = await scripted();
    server.script('findAndModify', 'close', { value: { ...grant, revoked_at: new Date(9) } });
    server.script('find', batch(grant));
    const call = store.revokeGrant({
      grant_id,
      application_id: null,
      now: 9,
      initiator: anInitiator(),
    });
    expect(await call).toMatchObject({ grant_id, revoked_at: 9 });
    const [first, second] = server.sent('findAndModify').map(({ update }) => update);
    expect(second).toEqual(first);
  });

  test('a revocation is unknown if its code is not redeemed, since it may still arrive', async () => {
    const { server, store } = await scripted({ is: 'primary' });
    // The driver sends it again by itself.
    server.script('findAndModify', 'close', { value: null });
    server.script('find', batch(pendingDocument(pending)));
    const error = await refusal(
      store.revokeGrant({ grant_id, application_id: null, now: 9, initiator: anInitiator() }),
    );
    expect(error).toMatchObject({ code: 'outcome_unknown', members: { grant_id } });
    expect(server.sent('findAndModify')).toHaveLength(2);
  });

  test('a revocation that can’t be read back names the grant', async () => {
    const { server, store } = await scripted({ timeouts: shortTimeouts });
    server.on('findAndModify', () => {
      void server.stop();
      return 'close';
    });
    const error = await refusal(
      store.revokeGrant({ grant_id, application_id: null, now: 9, initiator: anInitiator() }),
    );
    expect(error).toMatchObject({ code: 'outcome_unknown', members: { grant_id } });
  });

  test('a recovery that was made is read back by its secret', async () => {
    const { server, store } = await scripted();
    const secret_hash = aHash();
    server.script('findAndModify', 'close');
    server.script(
      'find',
      batch(grant),
      batch({ ...grant, secret_hash: toHash(secret_hash), revision: 1 }),
    );
    const { application_id } = pending;
    const recovery = { grant_id, application_id, secret_hash, redeemed_after: 0, now: 3 };
    expect(await store.recoverGrant({ ...recovery, initiator: anInitiator() })).toMatchObject({
      grant_id,
    });
    expect(server.sent('findAndModify')).toHaveLength(1);
  });

  test('a first use that was noted is read back', async () => {
    const { server, store } = await scripted();
    const secret_hash = aHash();
    server.script('update', 'close');
    const used = { first_used_at: new Date(3), last_used_at: new Date(3) };
    const first_used_by = toInitiator(anInitiator());
    server.script(
      'find',
      batch({ ...grant, ...used, first_used_by, secret_hash: toHash(secret_hash) }),
    );
    expect(await store.noteUse({ grant_id, secret_hash, now: 3, initiator: anInitiator() })).toBe(
      true,
    );
  });

  test('a first use that was not noted is sent again', async () => {
    const { server, store } = await scripted();
    const secret_hash = aHash();
    server.script('update', 'close', { n: 1, nModified: 1 });
    server.script('find', batch({ ...grant, secret_hash: toHash(secret_hash) }));
    expect(
      await store.noteUse({
        grant_id,
        secret_hash,
        now: 3,
        initiator: anInitiator(),
      }),
    ).toBe(true);
    expect(server.sent('update')).toHaveLength(2);
  });

  test('a recovery that another overtook is unknown, and does not replace the other secret', async () => {
    const { server, store } = await scripted();
    server.script('findAndModify', 'close');
    const overtaken = batch({ ...grant, secret_hash: toHash(aHash()), revision: 1 });
    server.script('find', batch(grant), overtaken);
    const { application_id } = pending;
    const recovery = { grant_id, application_id, secret_hash: aHash(), redeemed_after: 0, now: 3 };
    const error = await refusal(store.recoverGrant({ ...recovery, initiator: anInitiator() }));
    expect(error).toMatchObject({ code: 'outcome_unknown', members: { grant_id } });
    expect(server.sent('findAndModify')).toHaveLength(1);
  });

  test('a code that was issued is read back', async () => {
    const { server, store } = await scripted();
    server.script('insert', 'close');
    server.script('find', batch(newDocument(pending)), batch(accountDocument));
    expect(await store.issueCode(newCode(pending))).toEqual(pending);
    expect(server.sent('insert')).toHaveLength(1);
  });

  test('a code has no name in it before it is known that the account is there', async () => {
    const { server, store } = await scripted();
    expect(await store.issueCode(newCode(pending))).toBeNull();
    // The username is so short that a random id may contain it.
    expect(JSON.stringify(server.sent('insert'))).not.toContain(pending.account.display_name);
    expect(server.sent('findAndModify')).toEqual([]);
    expect(server.sent('delete')).toHaveLength(1);
  });

  test('a code gets no account if an erasure deleted it after the account was read', async () => {
    const { server, store } = await scripted();
    server.script('find', batch(accountDocument));
    server.script('update', { n: 0, nModified: 0 });
    expect(await store.issueCode(newCode(pending))).toBeNull();
    expect(server.sent('update')[0]?.updates[0]).not.toHaveProperty('upsert', true);
  });

  test('a code whose account may have been written is read back', async () => {
    const { server, store } = await scripted();
    server.script('update', 'close');
    server.script('find', batch(accountDocument), batch(pendingDocument(pending)));
    expect(await store.issueCode(newCode(pending))).toEqual(pending);
    expect(server.sent('update')).toHaveLength(1);
  });

  test('a code that was not issued is not sent again', async () => {
    const { server, store } = await scripted();
    server.script('insert', 'close');
    const error = await refusal(store.issueCode(newCode(pending)));
    expect(error).toMatchObject({ code: 'outcome_unknown', members: { grant_id } });
    expect(server.sent('insert')).toHaveLength(1);
  });

  test('an application is not created twice', async () => {
    const { server, store } = await scripted();
    server.script('insert', 'close', {
      n: 0,
      writeErrors: [{ index: 0, code: 11000, errmsg: 'E11000 duplicate key error' }],
    });
    const application = anApplication();
    const inserted = { ...applicationDocument(application), revision: 1 };
    // Looked up, read back, and read back after the repetition.
    server.script('find', batch(), batch(), batch(inserted));
    await store.createApplication(application);
    const [first, second] = server.sent('insert').map(({ documents }) => documents);
    expect(second).toEqual(first);
  });

  test('an id that was taken before the first send is an error', async () => {
    const { server, store } = await scripted();
    server.script('insert', {
      n: 0,
      writeErrors: [{ index: 0, code: 11000, errmsg: 'E11000 duplicate key error' }],
    });
    await refusal(store.issueCode(newCode(pending)));
  });

  test('the cancellation of a code that is gone is unknown: it may have expired', async () => {
    const { server, store } = await scripted();
    server.script('findAndModify', 'close');
    const error = await refusal(store.cancelCode(grant_id));
    expect(error).toMatchObject({ code: 'outcome_unknown', members: { grant_id } });
  });

  test('a code that was redeemed meanwhile is not cancelled', async () => {
    const { server, store } = await scripted();
    server.script('findAndModify', 'close');
    server.script('find', batch({ ...grant }));
    expect(await store.cancelCode(grant_id)).toBeNull();
  });

  test('a secret that was added is read back and not added twice', async () => {
    const { server, store } = await scripted();
    const application = anApplication();
    const secret = aSecret();
    const added = { ...application, secrets: [...application.secrets, secret] };
    server.script('update', 'close');
    server.script(
      'find',
      batch(applicationDocument(application)),
      batch({ ...applicationDocument(added), revision: 1 }),
    );
    expect(await store.addSecret(application.id, secret, { most: 5, now: 0 })).toBe('added');
    expect(server.sent('update')[0]?.updates[0]).toMatchObject({
      q: { revision: { $exists: false } },
      u: { $inc: { revision: 1 } },
    });
  });

  test('the removal of a secret that is gone is a success', async () => {
    const { server, store } = await scripted();
    const [application, secret] = [anApplication(), aSecret()];
    const before = { ...application, secrets: [...application.secrets, secret] };
    server.script('update', 'close');
    server.script(
      'find',
      batch(applicationDocument(before)),
      batch({ ...applicationDocument(application), revision: 1 }),
    );
    expect(await store.removeSecret(application.id, secret.id)).toEqual(application);
    expect(server.sent('update')).toHaveLength(1);
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
