import { setImmediate as nextTick } from 'node:timers/promises';
import { deliveries, endpoints } from '@latchkey/store/kinds';
import { HOST_OWNER } from '@latchkey/store/records';
import { calls } from '@latchkey/store-suite/calls';
import {
  aCode,
  aLink,
  anAccount,
  anApplication,
  anEndpoint,
  anId,
  anInitiator,
  aPage,
  aPing,
  aSecret,
  redemptionOf,
} from '@latchkey/store-suite/records';
import { Binary, type Document, Timestamp } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { documentOf } from '../src/encoding.ts';
import { indexesOf } from '../src/indexes.ts';
import { fromId, toDate, toHash, toId } from '../src/values.ts';
import {
  applicationDocument,
  documentOfAccount,
  linkDocument,
  pageDocument,
  pendingDocument,
} from './documents.ts';
import { batch, failure, unmarked } from './scripted-server.ts';
import { scripted, scriptedServer, storeOn } from './scripted-store.ts';

const durable = { w: 'majority', j: true, wtimeout: 2_000 };

/** Options of a connection string that would weaken a store. */
const weakening =
  '?w=1&journal=false&wtimeoutMS=1&readConcernLevel=local&readPreference=secondary&readPreferenceTags=dc:east';

const writes = [
  'createApplication',
  'addSecret',
  'removeSecret',
  'updateApplication',
  'setApplicationDisabled',
  'putAccount',
  'putScope',
  'deleteScope',
  'createResource',
  'createKey',
  'createLink',
  'identifyLink',
  'switchLink',
  'decideLink',
  'createPage',
  'issueCode',
  'cancelCode',
  'redeemCode',
  'revokeGrant',
  'recoverGrant',
  'noteUse',
  'keepRefusals',
  'createEndpoint',
  'updateEndpoint',
  'rotateEndpoint',
  'deleteEndpoint',
  'createPing',
  'claimDeliveries',
  'endTries',
  'releaseDeliveries',
  'retryDelivery',
  'replayDeliveries',
] as const;

const decisions = [
  'findApplication',
  'findDocumented',
  'authenticateApplication',
  'findAccount',
  'findLink',
  'findPage',
  'findCode',
  'findGrantHistory',
  'authenticateGrant',
  'listActiveGrants',
  'doStep',
  'findDescriptionIds',
  'listResources',
  'findKey',
  'listKeys',
  'findEndpoint',
  'findDelivery',
] as const;

const lists = [
  'listApplications',
  'listScopes',
  'listScopeNames',
  'listGrants',
  'listGrantHistories',
  'findRefusals',
  'findFirstRefusal',
  'listEndpoints',
  'listDeliveries',
] as const;

const endpointDocument = () => {
  const { application_id: _, ...endpoint } = anEndpoint();
  return documentOf(endpoints)({ ...endpoint, owner: HOST_OWNER });
};

const isFence = ({ update }: Document) => update === 'fences';

const isWrite = (command: Document) =>
  ['insert', 'update', 'delete', 'findAndModify'].includes(Object.keys(command)[0] ?? '') &&
  !isFence(command);

const fenceTime = new Timestamp({ t: 1_700_000_000, i: 7 });
const fenced = { n: 1, nModified: 1, operationTime: fenceTime };

describe('on a replica set, whatever the URL says', () => {
  test.each(writes)('%s waits until it is on the disks of a majority', async (method) => {
    const { server, store } = await scripted({ is: 'primary', query: weakening });
    // Some read first, and write only if there is something to change.
    const secret = aSecret();
    const application = anApplication({ secrets: [secret] });
    const found: Document = {
      ...(method !== 'createApplication' && { applications: applicationDocument(application) }),
      accounts: documentOfAccount(anAccount()),
      grants: { ...pendingDocument(aCode()), created_at: new Date(1), revoked_at: new Date(2) },
      links: linkDocument(aLink()),
      scopes: { _id: 'read', title: 'Read', texts: {} },
      resources: { list: [] },
      keys: { list: [] },
      pages: pageDocument(aPage()),
      deliveries: documentOf(deliveries)({
        ...aPing({ status: 'failed', ended_at: 1 }),
      }),
      endpoints: endpointDocument(),
    };
    // Every endpoint is one of the host.
    let ownIds: string[] = [];
    server.on('aggregate', (command) => {
      const { aggregate, pipeline } = command;
      if (aggregate !== 'endpoints') return batch(...unmarked(command));
      const { _id } = pipeline[0].$match;
      const ids = _id.$in ?? [_id];
      ownIds = ids.map(fromId);
      const joined = { joined_ownership: [{ ids: ownIds }], joined_application: [] };
      return batch({ ...found.endpoints, _id: ids[0], ...joined });
    });
    server.on('find', ({ find, filter }) => {
      // Nothing is to be told.
      if ('marks.at' in filter) return batch();
      // Nothing is left to be dropped.
      if (find === 'deliveries' && filter.status === 'pending') return batch();
      if (find === 'endpoint_owners') return batch({ _id: filter._id, ids: ownIds });
      return batch(
        ...(find in found
          ? [{ ...found[find], ...(filter._id && { _id: filter._id.$in?.[0] ?? filter._id }) }]
          : []),
      );
    });
    server.script('update', { n: 1, nModified: 1 });
    server.on('findAndModify', ({ findAndModify }) => ({ value: found[findAndModify] ?? null }));
    await (method === 'removeSecret'
      ? store.removeSecret(application.id, secret.id)
      : calls[method](store));
    const sent = server.received.filter(isWrite);
    expect(sent).not.toEqual([]);
    for (const write of sent) {
      expect(write).toMatchObject({ writeConcern: durable, maxTimeMS: 2_000 });
    }
  });

  test('the note of a use of a secret waits for no majority', async () => {
    const { server, store } = await scripted({ is: 'primary', query: weakening });
    const secret = aSecret();
    const application = anApplication({ secrets: [secret] });
    server.on('find', () => batch(applicationDocument(application)));
    server.script('update', { n: 1, nModified: 1 });
    await store.noteSecretUse(application.id, secret.id, 5_000);
    const notes = server.received.filter(isWrite);
    expect(notes.map(({ update, writeConcern }) => [update, writeConcern])).toEqual([
      ['applications', { w: 1 }],
    ]);
  });

  test.each(decisions)('%s is one read behind a fence', async (method) => {
    const { server, store } = await scripted({ is: 'primary', query: weakening });
    server.script('update', fenced);
    await calls[method](store);
    expect(server.received).toHaveLength(2);
    const [fence, read] = server.received;
    expect(fence).toMatchObject({
      update: 'fences',
      updates: [{ u: { $inc: { writes: 1 } }, multi: true, upsert: true }],
      writeConcern: durable,
      maxTimeMS: 2_000,
    });
    // The driver would write the retries of the fence to the oplog, too.
    expect(fence).not.toHaveProperty('txnNumber');
    expect(read?.readConcern).toEqual({ level: 'majority', afterClusterTime: fenceTime });
    // Without it a read would wait forever for a majority.
    expect(read?.maxTimeMS).toBe(2_000);
    // Commands without a read preference go to the primary.
    expect(read).not.toHaveProperty('$readPreference');
  });

  test('reads that may be stale have no fence', async () => {
    const { server, store } = await scripted({ is: 'primary', query: weakening });
    await store.findApplication(anId(), { mayBeStale: true });
    await store.authenticateApplication(anId(), { mayBeStale: true });
    await store.authenticateGrant(anId(), { currentAccount: false, mayBeStale: true });
    expect(server.received.map(({ readConcern }) => readConcern)).toEqual([
      { level: 'local' },
      { level: 'local' },
      { level: 'local' },
    ]);
    for (const read of server.received) expect(read).not.toHaveProperty('$readPreference');
  });

  test('the reads of one tick share a fence, and a later one has its own', async () => {
    const { server, store } = await scripted({ is: 'primary' });
    server.script('update', fenced);
    const read = () =>
      store.listActiveGrants({ application_id: anId() }, { limit: 1, before: null });
    const reads = [read(), read()];
    await nextTick();
    reads.push(read());
    await Promise.all(reads);
    expect(server.sent('update')).toHaveLength(2);
    expect(server.sent('find')).toHaveLength(3);
  });

  test('all that requests look up in one tick is a read for each kind, behind one fence', async () => {
    const { server, store } = await scripted({ is: 'primary' });
    server.script('update', fenced);
    const ids = [anId(), anId()] as const;
    const authenticate = (id: string) => store.authenticateGrant(id, { currentAccount: true });
    const find = (id: string) => store.findApplication(id);
    await Promise.all([...ids.map(find), ...ids.map(authenticate)]);
    expect(server.sent('update')).toHaveLength(1);
    const _id = { $in: ids.map(toId) };
    expect(server.sent('find').map(({ filter }) => filter)).toEqual([
      { _id, deleted_at: { $exists: false } },
    ]);
    expect(server.sent('aggregate').map(({ pipeline }) => pipeline[0].$match)).toEqual([
      { _id, created_at: { $exists: true } },
    ]);
  });

  test('what is looked up while a look-up is under way has a later fence', async () => {
    const { server, store } = await scripted({ is: 'primary' });
    server.script('update', fenced);
    const [first, ...later] = [anId(), anId(), anId()];
    const finding = store.findApplication(first);
    while (server.sent('update').length === 0) await nextTick();
    await Promise.all([finding, ...later.map((id) => store.findApplication(id))]);
    expect(server.sent('update')).toHaveLength(2);
    const asked = server.sent('find').map(({ filter }) => filter._id);
    expect(asked).toEqual(expect.arrayContaining([toId(first), { $in: later.map(toId) }]));
  });

  test.each([
    ['is refused', failure(13, 'Unauthorized')],
    ['meets an election', failure(10107, 'NotWritablePrimary', { operationTime: fenceTime })],
    ['loses its response', 'close' as const],
    ['has no time', { n: 1, nModified: 1 }],
  ])('a fence that %s leaves linearizable reads', async (_, reply) => {
    const { server, store } = await scripted({ is: 'primary' });
    server.script('update', reply);
    const ids = [anId(), anId()];
    await Promise.all([
      ...ids.map((id) => store.findDelivery(id)),
      ...ids.map((id) => store.findApplication(id)),
    ]);
    const reads = server.sent('find');
    // Of one document each, which is all that linearizable reads are for.
    expect(reads.map(({ filter }) => filter._id)).toEqual([...ids.map(toId), ...ids.map(toId)]);
    for (const read of reads) expect(read.readConcern).toEqual({ level: 'linearizable' });
  });

  test('a list that decides is behind a linearizable read if its fence fails', async () => {
    const { server, store } = await scripted({ is: 'primary' });
    server.script('update', failure(13, 'Unauthorized'));
    server.script('find', { ...batch(), operationTime: fenceTime }, batch());
    await calls.listActiveGrants(store);
    // Linearizable reads are of one document.
    expect(server.sent('find').map(({ readConcern }) => readConcern)).toEqual([
      { level: 'linearizable' },
      { level: 'majority', afterClusterTime: fenceTime },
    ]);
  });

  test('a list that decides stays behind its fence while its index is missing', async () => {
    const { server, store } = await scripted({ is: 'primary' });
    server.script('update', fenced);
    const errmsg = 'hint provided does not correspond to an existing index';
    server.script('find', failure(2, 'BadValue', { errmsg }), batch());
    await calls.listActiveGrants(store);
    const reads = server.sent('find');
    expect(reads.map(({ hint }) => hint)).toEqual(['unrevoked_by_account', undefined]);
    for (const read of reads) {
      expect(read.readConcern).toEqual({ level: 'majority', afterClusterTime: fenceTime });
    }
  });

  test('a fence that no majority confirms in time fails its reads', async () => {
    const { server, store } = await scripted({ is: 'primary' });
    const writeConcernError = { code: 64, codeName: 'WriteConcernTimeout', errmsg: 'timed out' };
    server.script('update', { ...fenced, writeConcernError });
    await expect(store.findDelivery(anId())).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(server.sent('find')).toEqual([]);
  });

  test('a retry of a read is behind the same fence, and what its error has seen', async () => {
    const { server, store } = await scripted({ is: 'primary' });
    server.script('update', fenced);
    const later = { operationTime: new Timestamp({ t: 1_800_000_000, i: 1 }) };
    server.script('find', failure(11600, 'InterruptedAtShutdown', later), batch());
    await store.findDelivery(anId());
    expect(server.sent('find').map(({ readConcern }) => readConcern)).toEqual([
      { level: 'majority', afterClusterTime: fenceTime },
      { level: 'majority', afterClusterTime: later.operationTime },
    ]);
  });

  test.each(lists)('%s reads what a majority has, from the primary', async (method) => {
    const { server, store } = await scripted({ is: 'primary', query: weakening });
    await calls[method](store);
    expect(server.received).not.toEqual([]);
    for (const read of server.received) {
      expect(read.readConcern).toEqual({ level: 'majority' });
      expect(read).not.toHaveProperty('$readPreference');
    }
  });

  test('the names of the scopes are read without their texts', async () => {
    const { server, store } = await scripted({ is: 'primary' });
    server.script('find', batch({ _id: 'posts:read' }, { _id: 'posts:write' }));
    expect(await store.listScopeNames()).toEqual(['posts:read', 'posts:write']);
    expect(server.received.map(({ projection }) => projection)).toEqual([{ _id: 1 }]);
  });

  test('a read after a write that matched nothing has a fence after that write', async () => {
    const { server, store } = await scripted({ is: 'primary', query: weakening });
    server.on('update', ({ update }) => (update === 'fences' ? fenced : { n: 0, nModified: 0 }));
    await store.revokeGrant({
      grant_id: anId(),
      application_id: null,
      now: 0,
      initiator: anInitiator(),
    });
    const sent = server.received.map((command) => Object.keys(command)[0]);
    expect(sent).toEqual(['update', 'aggregate', 'findAndModify', 'update', 'aggregate']);
  });

  test('the indexes are created and read on the primary', async () => {
    const server = await scriptedServer('primary');
    server.script('listIndexes', failure(26, 'NamespaceNotFound'));
    await storeOn(server, { query: weakening });
    const made = server.sent('createIndexes');
    const collections = Object.keys(indexesOf()).sort();
    expect(made.map(({ createIndexes }) => createIndexes).sort()).toEqual(collections);
    for (const one of made) {
      expect(one.writeConcern).toEqual(durable);
      expect(one.commitQuorum).toBe('majority');
    }
    const read = server.sent('listIndexes');
    expect(read.map(({ listIndexes }) => listIndexes).sort()).toEqual(collections);
    for (const one of read) expect(one).not.toHaveProperty('$readPreference');
  });
});

describe('a server is only asked for what it supports', () => {
  test('a sharded cluster has linearizable reads, each for itself', async () => {
    const { server, store } = await scripted({ is: 'mongos' });
    await Promise.all([store.findDelivery(anId()), store.findDelivery(anId())]);
    expect(server.received.map(({ readConcern }) => readConcern)).toEqual([
      { level: 'linearizable' },
      { level: 'linearizable' },
    ]);
  });

  test('a sharded cluster has no linearizable lists', async () => {
    const { server, store } = await scripted({ is: 'mongos' });
    await calls.listActiveGrants(store);
    expect(server.received.map(({ readConcern }) => readConcern)).toEqual([{ level: 'majority' }]);
  });

  test('a standalone server has neither linearizable nor majority reads', async () => {
    const { server, store } = await scripted({ is: 'standalone', query: weakening });
    await store.findDelivery(anId());
    await store.listApplications({ limit: 1, before: null });
    await store.redeemCode(redemptionOf(aCode()));
    const [decision, list] = server.received;
    const [redemption] = server.sent('findAndModify');
    expect(decision?.readConcern).toEqual({ level: 'local' });
    expect(list?.readConcern).toEqual({ level: 'local' });
    expect(redemption?.writeConcern).toEqual(durable);
  });
});

describe('the command of a redemption', () => {
  test('has all conditions and all changes', async () => {
    const { server, store } = await scripted({ is: 'primary' });
    const redemption = redemptionOf(aCode());
    expect(await store.redeemCode(redemption)).toBeNull();
    // Behind the fence, whether a mark has ended it; then the write.
    expect(server.received.map((command) => Object.keys(command)[0])).toEqual([
      ...['update', 'aggregate', 'findAndModify'],
    ]);
    const [command] = server.sent('findAndModify');
    expect(command).toMatchObject({ findAndModify: 'grants', new: true, upsert: false });
    expect(command?.query).toEqual({
      _id: toId(redemption.grant_id),
      application_id: toId(redemption.application_id),
      code_hash: toHash(redemption.code_hash),
      created_at: { $exists: false },
      code_expires_at: { $gt: toDate(redemption.now) },
      generation: { $not: { $lt: redemption.disabled_generation } },
      code_challenge: redemption.code_challenge,
      redirect_uri: { $in: [redemption.redirect_uri, null] },
    });
    expect(command?.update).toEqual({
      $set: {
        created_at: toDate(redemption.now),
        secret_hash: toHash(redemption.secret_hash),
        redeemed_by: redemption.initiator,
      },
      $unset: { code_expires_at: '' },
    });
  });

  test('has ids as UUIDs and hashes as bytes', async () => {
    const { server, store } = await scripted({ is: 'primary' });
    await store.redeemCode(redemptionOf(aCode()));
    const { query, update } = server.sent('findAndModify')[0] as Document;
    for (const id of [query._id, query.application_id]) {
      expect(id.sub_type).toBe(Binary.SUBTYPE_UUID);
    }
    for (const hash of [query.code_hash, update.$set.secret_hash]) {
      expect(hash.sub_type).toBe(Binary.SUBTYPE_DEFAULT);
      expect(hash.length()).toBe(32);
    }
  });
});
