import { Binary, type Document } from 'mongodb';
import { describe, expect, test } from 'vitest';
import type { Store } from '../store.ts';
import {
  aCode,
  aHash,
  anAccount,
  anApplication,
  anId,
  aSecret,
  redemptionOf,
} from '../suite-records.ts';
import { toApplicationDocument, toDate, toHash, toId } from './documents.ts';
import { batch, failure } from './scripted-server.ts';
import { scripted, scriptedServer, storeOn } from './scripted-store.ts';

const durable = { w: 'majority', j: true, wtimeout: 2_000 };

/** What a connection string can say to weaken a store. */
const weakening =
  '?w=1&journal=false&wtimeoutMS=1&readConcernLevel=local&readPreference=secondary&readPreferenceTags=dc:east';

const writes: Record<string, (store: Store) => Promise<unknown>> = {
  createApplication: (store) => store.createApplication(anApplication()),
  addSecret: (store) => store.addSecret(anId(), aSecret(), { most: 5, now: 0 }),
  removeSecret: (store) => store.removeSecret(anId(), anId()),
  setApplicationDisabled: (store) => store.setApplicationDisabled(anId(), true),
  putAccount: (store) => store.putAccount(anAccount()),
  issueCode: (store) => store.issueCode(aCode()),
  cancelCode: (store) => store.cancelCode(anId()),
  redeemCode: (store) => store.redeemCode(redemptionOf(aCode())),
  revokeGrant: (store) => store.revokeGrant({ grant_id: anId(), application_id: null, now: 0 }),
  recoverGrant: (store) =>
    store.recoverGrant({
      grant_id: anId(),
      application_id: anId(),
      secret_hash: aHash(),
      exchanged_after: 0,
      now: 0,
    }),
  noteFirstUse: (store) => store.noteFirstUse({ grant_id: anId(), secret_hash: aHash(), now: 0 }),
};

const decisions: Record<string, (store: Store) => Promise<unknown>> = {
  findApplication: (store) => store.findApplication(anId()),
  findAccount: (store) => store.findAccount(anId()),
  findCode: (store) => store.findCode(anId()),
  findGrant: (store) => store.findGrant(anId()),
  findGrantHistory: (store) => store.findGrantHistory(anId()),
  authenticateGrant: (store) => store.authenticateGrant(anId(), { currentAccount: true }),
};

const lists: Record<string, (store: Store) => Promise<unknown>> = {
  listApplications: (store) => store.listApplications({ limit: 1, before: null }),
  listGrants: (store) => store.listGrants({ account_id: anId() }, { limit: 1, before: anId() }),
  findRefusals: (store) => store.findRefusals({ request_id: 'of-nobody' }, 1),
};

const isWrite = (command: Document) =>
  ['insert', 'update', 'findAndModify'].includes(Object.keys(command)[0] ?? '');

describe('what is asked of a replica set, whatever the URL says', () => {
  test.each(Object.entries(writes))('%s waits for the disks of a majority', async (_, call) => {
    const { server, store } = await scripted({ is: 'primary', query: weakening });
    // Some look first, and write only where there is something to change.
    server.on('find', ({ find }) =>
      batch(...(find === 'applications' ? [toApplicationDocument(anApplication())] : [])),
    );
    server.script('update', { n: 1, nModified: 1 });
    server.on('findAndModify', ({ findAndModify }) => ({
      value: findAndModify === 'applications' ? toApplicationDocument(anApplication()) : null,
    }));
    await call(store);
    const [write, ...others] = server.received.filter(isWrite);
    expect(write?.writeConcern).toEqual(durable);
    expect(write?.maxTimeMS).toBe(2_000);
    expect(others).toEqual([]);
  });

  test.each(Object.entries(decisions))('%s reads linearizable, in one command', async (_, call) => {
    const { server, store } = await scripted({ is: 'primary', query: weakening });
    await call(store);
    expect(server.received).toHaveLength(1);
    const [read] = server.received;
    expect(read?.readConcern).toEqual({ level: 'linearizable' });
    // Without it, a read would wait for a majority for ever.
    expect(read?.maxTimeMS).toBe(2_000);
    // The primary is what commands go to that don't say.
    expect(read).not.toHaveProperty('$readPreference');
  });

  test.each(Object.entries(lists))(
    '%s reads what a majority has, of the primary',
    async (_, call) => {
      const { server, store } = await scripted({ is: 'primary', query: weakening });
      await call(store);
      expect(server.received).toHaveLength(1);
      const [read] = server.received;
      expect(read?.readConcern).toEqual({ level: 'majority' });
      expect(read).not.toHaveProperty('$readPreference');
    },
  );

  test('reads that follow a write that matched nothing are linearizable', async () => {
    const { server, store } = await scripted({ is: 'primary', query: weakening });
    await store.revokeGrant({ grant_id: anId(), application_id: null, now: 0 });
    await store.noteFirstUse({ grant_id: anId(), secret_hash: aHash(), now: 0 });
    const reads = server.sent('find');
    expect(reads).toHaveLength(2);
    for (const read of reads) expect(read.readConcern).toEqual({ level: 'linearizable' });
  });

  test('the indexes are made and read of the primary', async () => {
    const server = await scriptedServer('primary');
    await storeOn(server, { query: weakening });
    for (const made of server.sent('createIndexes')) expect(made.writeConcern).toEqual(durable);
    const read = server.sent('listIndexes');
    expect(read.map(({ listIndexes }) => listIndexes)).toEqual([
      'grants',
      'refusals',
      'rate_limit_counts',
    ]);
    for (const one of read) expect(one).not.toHaveProperty('$readPreference');
  });
});

describe('what the server has not is not asked of it', () => {
  test('a sharded cluster has what its shards have', async () => {
    const { server, store } = await scripted({ is: 'mongos' });
    await store.findCode(anId());
    expect(server.received[0]?.readConcern).toEqual({ level: 'linearizable' });
  });

  test('a standalone server has no majority to read of', async () => {
    const { server, store } = await scripted({ is: 'standalone', query: weakening });
    await store.findCode(anId());
    await store.listApplications({ limit: 1, before: null });
    await store.redeemCode(redemptionOf(aCode()));
    const [decision, list, redemption] = server.received;
    expect(decision?.readConcern).toEqual({ level: 'local' });
    expect(list?.readConcern).toEqual({ level: 'local' });
    expect(redemption?.writeConcern).toEqual(durable);
  });

  test('what only says it is a replica set is asked whether it has linearizable', async () => {
    const server = await scriptedServer('primary');
    server.script('find', failure(238, 'NotImplemented'));
    const store = await storeOn(server);
    server.script('find', batch());
    await store.findCode(anId());
    const [probe, decision] = server.sent('find');
    expect(probe?.readConcern).toEqual({ level: 'linearizable' });
    expect(decision?.readConcern).toEqual({ level: 'majority' });
  });
});

describe('what a redemption sends', () => {
  test('is one command with all the conditions and all of the grant', async () => {
    const { server, store } = await scripted({ is: 'primary' });
    const redemption = redemptionOf(aCode());
    expect(await store.redeemCode(redemption)).toBeNull();
    expect(server.received).toHaveLength(1);
    const [command] = server.received;
    expect(command).toMatchObject({ findAndModify: 'grants', new: true, upsert: false });
    expect(command?.query).toEqual({
      _id: toId(redemption.grant_id),
      application_id: toId(redemption.application_id),
      code_hash: toHash(redemption.code_hash),
      created_at: { $exists: false },
      code_expires_at: { $gt: toDate(redemption.now) },
    });
    expect(command?.update).toEqual({
      $set: {
        created_at: toDate(redemption.now),
        secret_hash: toHash(redemption.secret_hash),
        redemption_id: expect.any(Binary),
      },
      $unset: { code_expires_at: '' },
    });
  });

  test('carries an id of its own each time', async () => {
    const { server, store } = await scripted({ is: 'primary' });
    const redemption = redemptionOf(aCode());
    await store.redeemCode(redemption);
    await store.redeemCode(redemption);
    const [one, other] = server.received.map((command) => command.update.$set.redemption_id);
    expect(one).not.toEqual(other);
  });

  test('has ids as UUIDs and hashes as plain bytes', async () => {
    const { server, store } = await scripted({ is: 'primary' });
    await store.redeemCode(redemptionOf(aCode()));
    const { query, update } = server.received[0] as Document;
    for (const id of [query._id, query.application_id, update.$set.redemption_id]) {
      expect(id.sub_type).toBe(Binary.SUBTYPE_UUID);
    }
    for (const hash of [query.code_hash, update.$set.secret_hash]) {
      expect(hash.sub_type).toBe(Binary.SUBTYPE_DEFAULT);
      expect(hash.length()).toBe(32);
    }
  });
});
