import type { Document } from 'mongodb';
import { describe, expect, test } from 'vitest';
import type { DomainError } from '../../domain-error.ts';
import type { Redemption } from '../store.ts';
import {
  aCode,
  aHash,
  anAccount,
  anApplication,
  anId,
  aSecret,
  redemptionOf,
} from '../suite-records.ts';
import { toApplicationDocument, toDate, toHash, toId, toPendingDocument } from './documents.ts';
import { batch, failure, type ScriptedServer } from './scripted-server.ts';
import { impatience, type ScriptedOptions, scripted } from './scripted-store.ts';

const kinds = ['standalone', 'primary'] as const;

/** The error of a call. */
async function refusal(call: Promise<unknown>): Promise<DomainError> {
  return call.then(
    (value) => expect.fail(`answered ${JSON.stringify(value)}`),
    (error) => error,
  );
}

/** The grant as the last redemption that the server got makes it. */
function redeemedBy(server: ScriptedServer, code = aCode(), change: Document = {}): Document {
  const { code_expires_at, ...rest } = toPendingDocument(code);
  return { ...rest, ...server.sent('findAndModify').at(-1)?.update.$set, ...change };
}

describe.each(kinds)('a redemption whose answer is lost, on a %s', (is) => {
  const setUp = async (options: ScriptedOptions = {}) => {
    const code = aCode();
    const redemption: Redemption = redemptionOf(code);
    return { code, redemption, ...(await scripted({ is, ...options })) };
  };

  test('was made: the grant is read back', async () => {
    const { server, store, code, redemption } = await setUp();
    server.script('findAndModify', 'close');
    server.on('find', () => batch(redeemedBy(server, code)));
    expect(await store.redeemCode(redemption)).toMatchObject({
      grant_id: code.grant_id,
      created_at: redemption.now,
      account: code.account,
    });
  });

  test("was another's: null, and nothing more is sent", async () => {
    const { server, store, code, redemption } = await setUp();
    server.script('findAndModify', 'close');
    server.on('find', () => batch(redeemedBy(server, code, { redemption_id: toId(anId()) })));
    expect(await store.redeemCode(redemption)).toBeNull();
    // The driver's own repetition is one more, where the server takes them.
    expect(server.sent('findAndModify')).toHaveLength(is === 'primary' ? 2 : 1);
  });

  test('was made, and revoked or recovered since: null, for the secret is dead', async () => {
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

  test('was not made: it is sent again, the same', async () => {
    const { server, store, code, redemption } = await setUp();
    let looked = 0;
    server.on('find', () => {
      looked++;
      return batch(toPendingDocument(code));
    });
    server.on('findAndModify', () =>
      looked === 0 ? 'close' : { value: redeemedBy(server, code) },
    );
    expect(await store.redeemCode(redemption)).not.toBeNull();
    const updates = server.sent('findAndModify').map(({ query, update }) => ({ query, update }));
    expect(updates.length).toBeGreaterThan(1);
    for (const update of updates) expect(update).toEqual(updates[0]);
  });

  test('arrives between the look and the repetition: the grant is read back', async () => {
    const { server, store, code, redemption } = await setUp();
    let looked = 0;
    server.on('find', () =>
      batch(looked++ === 0 ? toPendingDocument(code) : redeemedBy(server, code)),
    );
    server.on('findAndModify', () => (looked === 0 ? 'close' : { value: null }));
    expect(await store.redeemCode(redemption)).toMatchObject({ grant_id: code.grant_id });
  });

  test('was not made and the code has expired: its outcome is unknown, not sent again', async () => {
    let now = 0;
    const { server, store, code, redemption } = await setUp({ clock: () => now });
    now = code.code_expires_at;
    server.script('findAndModify', 'close');
    server.on('find', () => batch(toPendingDocument(code)));
    const { code: error, members } = await refusal(store.redeemCode(redemption));
    expect({ error, members }).toEqual({
      error: 'outcome_unknown',
      members: { grant_id: code.grant_id },
    });
    expect(server.sent('findAndModify')).toHaveLength(is === 'primary' ? 2 : 1);
  });

  test('and its code is gone: null', async () => {
    const { server, store, redemption } = await setUp();
    server.script('findAndModify', 'close');
    expect(await store.redeemCode(redemption)).toBeNull();
  });

  test('can not be read back: its outcome is unknown', async () => {
    const { server, store, code, redemption } = await setUp({ patience: impatience });
    server.script('findAndModify', 'close');
    server.script('find', failure(50, 'MaxTimeMSExpired'));
    const { code: error, members, cause } = await refusal(store.redeemCode(redemption));
    expect({ error, members }).toEqual({
      error: 'outcome_unknown',
      members: { grant_id: code.grant_id },
    });
    expect(String(cause)).toContain('MongoNetworkError');
  });

  test('is given up when the store is closed: nobody waits for it any more', async () => {
    const { server, store, redemption } = await setUp({
      patience: { ...impatience, outcome: 600_000 },
    });
    server.script('findAndModify', 'close');
    server.on('find', () => {
      void store.close();
      return failure(50, 'MaxTimeMSExpired');
    });
    expect(await refusal(store.redeemCode(redemption))).toMatchObject({ code: 'outcome_unknown' });
  });

  // The driver's error is then that of the search for a server to repeat it on, and reads as if
  // nothing had been sent.
  test('with the server: its outcome is unknown, though the server is not to be found', async () => {
    const { server, store, redemption } = await setUp({ patience: impatience });
    server.on('findAndModify', () => {
      void server.stop();
      return 'close';
    });
    expect(await refusal(store.redeemCode(redemption))).toMatchObject({ code: 'outcome_unknown' });
  });

  test('each time it is sent: its outcome is unknown, in the end', async () => {
    const { server, store, code, redemption } = await setUp({ patience: impatience });
    server.script('findAndModify', 'close');
    server.on('find', () => batch(toPendingDocument(code)));
    expect(await refusal(store.redeemCode(redemption))).toMatchObject({ code: 'outcome_unknown' });
  });
});

describe('a redemption', () => {
  const concern = { code: 64, codeName: 'WriteConcernTimeout', errmsg: 'waiting timed out' };

  test('that no majority confirmed is read back, and is no success by itself', async () => {
    const { server, store } = await scripted({ is: 'primary', patience: impatience });
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

  // The server keeps the outcome of a transaction number, and answers a repetition with it.
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

  test('that meets a primary which is none any more is sent again', async () => {
    const { server, store } = await scripted({ is: 'standalone' });
    const code = aCode();
    server.on('findAndModify', () =>
      server.sent('findAndModify').length === 1
        ? failure(10107, 'NotWritablePrimary')
        : { value: redeemedBy(server, code) },
    );
    server.on('find', () => batch(toPendingDocument(code)));
    expect(await store.redeemCode(redemptionOf(code))).not.toBeNull();
  });

  test('that the server refuses changed nothing, and is not read back', async () => {
    const { server, store } = await scripted({ is: 'primary' });
    server.script('findAndModify', failure(13, 'Unauthorized'));
    const error = await refusal(store.redeemCode(redemptionOf(aCode())));
    expect(error).toMatchObject({ code: 'store_unavailable' });
    expect(server.sent('find')).toEqual([]);
  });

  test('that was lost before is unknown, though its repetition is refused', async () => {
    const { server, store } = await scripted({ is: 'primary', patience: impatience });
    server.on('findAndModify', () =>
      server.sent('findAndModify').length === 1 ? 'close' : failure(13, 'Unauthorized'),
    );
    server.script('find', failure(13, 'Unauthorized'));
    const error = await refusal(store.redeemCode(redemptionOf(aCode())));
    expect(error).toMatchObject({ code: 'outcome_unknown' });
  });

  test('that was never sent changed nothing', async () => {
    const { server, store } = await scripted({ is: 'primary', patience: impatience });
    await server.stop();
    // The client may only now see that its connection is gone, and has sent something on it.
    await refusal(store.ping());
    const error = await refusal(store.redeemCode(redemptionOf(aCode())));
    expect(error).toMatchObject({ code: 'store_unavailable', members: {} });
    expect(server.received).toEqual([]);
  });
});

describe('other writes whose answer is lost', () => {
  const pending = aCode();
  const grant = {
    ...toPendingDocument(pending),
    code_expires_at: undefined,
    created_at: new Date(1),
  };
  const { grant_id } = pending;

  test('a revocation that was made is read back', async () => {
    const { server, store } = await scripted();
    server.script('findAndModify', 'close');
    server.script('find', batch({ ...grant, revoked_at: new Date(5) }));
    const call = store.revokeGrant({ grant_id, application_id: null, now: 9 });
    expect(await call).toMatchObject({ grant_id, revoked_at: 5 });
  });

  test('a revocation that was not made is sent again', async () => {
    const { server, store } = await scripted();
    server.script('findAndModify', 'close', { value: { ...grant, revoked_at: new Date(9) } });
    const call = store.revokeGrant({ grant_id, application_id: null, now: 9 });
    expect(await call).toMatchObject({ grant_id, revoked_at: 9 });
    const [first, second] = server.sent('findAndModify').map(({ update }) => update);
    expect(second).toEqual(first);
  });

  test('a revocation that can not be read back says whose it is', async () => {
    const { server, store } = await scripted({ patience: impatience });
    server.on('findAndModify', () => {
      void server.stop();
      return 'close';
    });
    const error = await refusal(store.revokeGrant({ grant_id, application_id: null, now: 9 }));
    expect(error).toMatchObject({ code: 'outcome_unknown', members: { grant_id } });
  });

  test('a recovery that was made is read back by its secret', async () => {
    const { server, store } = await scripted();
    const secret_hash = aHash();
    server.script('findAndModify', 'close');
    server.on('find', ({ filter }) => {
      expect(filter).toEqual({ _id: toId(grant_id) });
      return batch({ ...grant, secret_hash: toHash(secret_hash) });
    });
    const { application_id } = pending;
    const recovery = { grant_id, application_id, secret_hash, exchanged_after: 0, now: 3 };
    expect(await store.recoverGrant(recovery)).toMatchObject({ grant_id });
    expect(server.sent('findAndModify')).toHaveLength(1);
  });

  test('a first use that was noted is read back', async () => {
    const { server, store } = await scripted();
    const secret_hash = aHash();
    server.script('findAndModify', 'close');
    server.script('find', batch({ ...grant, first_used_at: new Date(3) }));
    expect(await store.noteFirstUse({ grant_id, secret_hash, now: 3 })).toBe(true);
  });

  test('a first use that was not noted is sent again', async () => {
    const { server, store } = await scripted();
    server.script('findAndModify', 'close', { value: { ...grant, first_used_at: new Date(3) } });
    expect(await store.noteFirstUse({ grant_id, secret_hash: aHash(), now: 3 })).toBe(true);
    expect(server.sent('findAndModify')).toHaveLength(2);
  });

  test('a recovery that another overtook is unknown, and kills no other secret', async () => {
    const { server, store } = await scripted();
    server.script('findAndModify', 'close');
    server.script('find', batch({ ...grant, secret_hash: toHash(aHash()), revision: 1 }));
    const { application_id } = pending;
    const recovery = { grant_id, application_id, secret_hash: aHash(), exchanged_after: 0, now: 3 };
    const error = await refusal(store.recoverGrant(recovery));
    expect(error).toMatchObject({ code: 'outcome_unknown', members: { grant_id } });
    expect(server.sent('findAndModify')).toHaveLength(1);
  });

  test('a code that was issued is read back', async () => {
    const { server, store } = await scripted();
    server.script('insert', 'close');
    server.script('find', batch(toPendingDocument(pending)));
    await store.issueCode(pending);
    expect(server.sent('insert')).toHaveLength(1);
  });

  test('a code that was not issued is not sent again', async () => {
    const { server, store } = await scripted();
    server.script('insert', 'close');
    const error = await refusal(store.issueCode(pending));
    expect(error).toMatchObject({ code: 'outcome_unknown', members: { grant_id } });
    expect(server.sent('insert')).toHaveLength(1);
  });

  test('an application that was created is not created twice', async () => {
    const { server, store } = await scripted();
    server.script('insert', 'close', {
      n: 0,
      writeErrors: [{ index: 0, code: 11000, errmsg: 'E11000 duplicate key error' }],
    });
    await store.createApplication(anApplication());
    const [first, second] = server.sent('insert').map(({ documents }) => documents);
    expect(second).toEqual(first);
  });

  test('an id that is taken before the first try is not taken for ours', async () => {
    const { server, store } = await scripted();
    server.script('insert', {
      n: 0,
      writeErrors: [{ index: 0, code: 11000, errmsg: 'E11000 duplicate key error' }],
    });
    await refusal(store.issueCode(pending));
  });

  test('a code that is gone: nobody can tell whether it was cancelled or swept', async () => {
    const { server, store } = await scripted();
    server.script('findAndModify', 'close');
    const error = await refusal(store.cancelCode(grant_id));
    expect(error).toMatchObject({ code: 'outcome_unknown', members: { grant_id } });
  });

  test('a code that was exchanged meanwhile is not cancelled', async () => {
    const { server, store } = await scripted();
    server.script('findAndModify', 'close');
    server.script('find', batch({ ...grant }));
    expect(await store.cancelCode(grant_id)).toBeNull();
  });

  test('a secret that was added is read back, and would not be added twice', async () => {
    const { server, store } = await scripted();
    const application = anApplication();
    const secret = aSecret();
    const added = { ...application, secrets: [...application.secrets, secret] };
    server.script('update', 'close');
    server.script(
      'find',
      batch(toApplicationDocument(application)),
      batch({ ...toApplicationDocument(added), revision: 1 }),
    );
    expect(await store.addSecret(application.id, secret, { most: 5, now: 0 })).toBe('added');
    expect(server.sent('update')[0]?.updates[0]).toMatchObject({
      q: { revision: { $exists: false } },
      u: { $inc: { revision: 1 } },
    });
  });

  test('a secret that is gone was removed', async () => {
    const { server, store } = await scripted();
    const application = anApplication();
    server.script('findAndModify', 'close');
    server.on('find', ({ filter }) =>
      batch(...('secrets.id' in filter ? [] : [toApplicationDocument(application)])),
    );
    expect(await store.removeSecret(application.id, anId())).toEqual(application);
  });

  test('an account that another inserts at the same time is replaced', async () => {
    const { server, store } = await scripted();
    const duplicate = [{ index: 0, code: 11000, errmsg: 'E11000 duplicate key error' }];
    server.script('update', { n: 0, writeErrors: duplicate }, { n: 1, nModified: 1 });
    await store.putAccount(anAccount());
    expect(server.sent('update')).toHaveLength(2);
  });
});

test('dates and hashes survive the way there and back', () => {
  expect(toDate(1_795_000_000_123).getTime()).toBe(1_795_000_000_123);
  const hash = aHash();
  expect(Uint8Array.from(toHash(hash).value())).toEqual(hash);
});
