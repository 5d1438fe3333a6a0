import { DomainError } from '@latchkey/domain/domain-error';
import { CLAIM_LASTS } from '@latchkey/domain/lifetimes';
import type { EndpointRecord } from '@latchkey/store/records';
import { defaultTimeouts } from '@latchkey/store/server-store';
import { erase, sweep } from '@latchkey/store-suite/finish';
import {
  anAccount,
  anEndedTry,
  anEndpoint,
  anId,
  anInitiator,
  aPing,
  granted,
} from '@latchkey/store-suite/records';
import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { dropDatabase, freshName, patientUrlOf } from '@latchkey/test-kit/mongodb/test-databases';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClient } from '../src/client.ts';
import { Database } from '../src/database.ts';
import { operations } from '../src/mongo-store.ts';

// What other processes do between two steps of one that makes deliveries.

const MOST = { most: 5 };
const ALL = { limit: 100, before: null };

/** Calls back before its reads that decide, and before its writes. */
class HeldDatabase extends Database {
  beforeRead = async (_nth: number): Promise<void> => {};
  beforeWrite = async (_nth: number): Promise<void> => {};
  #reads = 0;
  #writes = 0;

  override async decide<T>(...read: Parameters<Database['decide']>): Promise<T> {
    this.#reads += 1;
    await this.beforeRead(this.#reads);
    return super.decide(...read) as Promise<T>;
  }

  override async write<T>(write: Parameters<Database['write']>[0]): Promise<T> {
    this.#writes += 1;
    await this.beforeWrite(this.#writes);
    return super.write(write) as Promise<T>;
  }
}

describeOnMongodb('a process that makes deliveries', (server) => {
  let name: string;
  let held: HeldDatabase;
  let database: Database;
  const url = () => patientUrlOf(server, name);
  const storeOn = (one: Database) => operations(one, Date.now, true);
  const ofHeld = () => storeOn(held);
  const store = () => storeOn(database);

  beforeEach(async () => {
    name = freshName();
    held = new HeldDatabase(createClient(url(), defaultTimeouts).client, name, defaultTimeouts);
    database = new Database(createClient(url(), defaultTimeouts).client, name, defaultTimeouts);
    await database.prepare();
  });
  afterEach(async () => {
    await Promise.all([held.close(), database.close()]);
    await dropDatabase(server, name);
  });

  /** By a try: an update by an operator would tell what is marked first. */
  const disable = ({ id: endpoint_id, url }: EndpointRecord) =>
    store().endTries([
      anEndedTry({
        ...{ endpoint_id, url, isGone: true },
        attempt: { at: 1, duration_ms: 1, result: 'refused', status_code: 410 },
      }),
    ]);

  /** Has MongoDB refuse a command on deliveries that often. */
  const refuse = (command: string, errorCode: number, times: number) => {
    const data = { failCommands: [command], namespace: `${name}.deliveries`, errorCode };
    return database.read(({ db }) =>
      db.admin().command({ configureFailPoint: 'failCommand', mode: { times }, data }),
    );
  };

  const isStatus = async (endpoint_id: string) =>
    (await store().listDeliveries({ endpoint_id }, ALL)).map(({ status }) => status);

  test('tells nothing of the past to an endpoint that is created meanwhile', async () => {
    const endpoint = anEndpoint();
    await granted(store());
    // It has read what is to be told, with its records, and reads the endpoints now.
    held.beforeRead = async (nth) => {
      if (nth === 2) expect(await store().createEndpoint(endpoint, MOST)).toBe('created');
    };
    await ofHeld().makeDeliveries(Date.now());
    expect(await isStatus(endpoint.id)).toEqual([]);
    await granted(store());
    await ofHeld().makeDeliveries(Date.now());
    expect(await isStatus(endpoint.id)).toEqual(['pending']);
  });

  test('leaves nothing pending for one that is deleted or disabled meanwhile', async () => {
    const [deleted, disabled, left] = [anEndpoint(), anEndpoint(), anEndpoint()];
    for (const one of [deleted, disabled, left]) await store().createEndpoint(one, MOST);
    await granted(store());
    held.beforeWrite = async (nth) => {
      if (nth > 1) return;
      await store().deleteEndpoint(deleted.id, Date.now());
      await disable(disabled);
    };
    await ofHeld().makeDeliveries(Date.now());
    expect(await isStatus(deleted.id)).toEqual(['pending']);
    await sweep(store(), Date.now());
    expect(await isStatus(deleted.id)).toEqual(['dropped']);
    expect(await isStatus(disabled.id)).toEqual(['dropped']);
    expect(await isStatus(left.id)).toEqual(['pending']);
  });

  test('does not tell what it made for a disabled one once that is enabled', async () => {
    const endpoint = anEndpoint();
    await store().createEndpoint(endpoint, MOST);
    await granted(store());
    held.beforeWrite = async (nth) => {
      if (nth === 1) await disable(endpoint);
    };
    await ofHeld().makeDeliveries(Date.now());
    expect(await isStatus(endpoint.id)).toEqual(['pending']);
    await store().updateEndpoint(endpoint.id, { disabled_reason: null });
    expect(await isStatus(endpoint.id)).toEqual(['dropped']);
  });

  test('a sweep that is held up leaves what was replayed meanwhile', async () => {
    const endpoint = anEndpoint();
    await store().createEndpoint(endpoint, MOST);
    await granted(store());
    await store().makeDeliveries(Date.now());
    // Unauthorized.
    await refuse('update', 13, 1);
    await store().updateEndpoint(endpoint.id, { disabled_reason: 'operator' });
    held.beforeWrite = async () => {
      await store().updateEndpoint(endpoint.id, { disabled_reason: null });
      const replay = { endpoint_id: endpoint.id, since: 0, now: Date.now(), limit: 9 };
      expect(await store().replayDeliveries(replay)).toBe(1);
    };
    await sweep(ofHeld(), Date.now());
    expect(await isStatus(endpoint.id)).toEqual(['pending']);
  });

  /** From the next write on, the database can't be read. */
  const failReadsAfterWrite = () => {
    held.beforeWrite = async () => {
      held.beforeRead = async () => {
        throw new DomainError('store_unavailable');
      };
    };
  };

  test('a delivery is due again although nothing can be read after its retry', async () => {
    const endpoint = anEndpoint();
    await store().createEndpoint(endpoint, MOST);
    await granted(store());
    await store().makeDeliveries(Date.now());
    await disable(endpoint);
    await store().updateEndpoint(endpoint.id, { disabled_reason: null });
    const [dropped] = await store().listDeliveries({ endpoint_id: endpoint.id }, ALL);
    failReadsAfterWrite();
    const retried = await ofHeld().retryDelivery(dropped?.id ?? '', Date.now());
    expect(retried?.status).toBe('pending');
    expect(retried).toEqual(await store().findDelivery(dropped?.id ?? ''));
  });

  test('a ping was not said to have changed nothing once it was stored', async () => {
    const endpoint = anEndpoint();
    await store().createEndpoint(endpoint, MOST);
    failReadsAfterWrite();
    const pinging = ofHeld().createPing(aPing({ endpoint_id: endpoint.id }));
    await expect(pinging).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(await isStatus(endpoint.id)).toEqual(['pending']);
  });

  test.each([
    ['disabled', (id: string) => store().updateEndpoint(id, { disabled_reason: 'operator' })],
    ['deleted', (id: string) => store().deleteEndpoint(id, Date.now())],
  ])('an endpoint is %s although what is pending can’t be dropped', async (_, end) => {
    const endpoint = anEndpoint();
    await store().createEndpoint(endpoint, MOST);
    await granted(store());
    await store().makeDeliveries(Date.now());
    // Unauthorized.
    await refuse('update', 13, 1);
    expect(await end(endpoint.id)).toMatchObject({ id: endpoint.id });
    expect(await isStatus(endpoint.id)).toEqual(['pending']);
    await sweep(store(), Date.now());
    expect(await isStatus(endpoint.id)).toEqual(['dropped']);
  });

  // Regression: the driver's error was taken for one of duplicates alone, and the event was lost.
  test('tells what it could not store, as soon as the database takes writes', async () => {
    const endpoint = anEndpoint();
    await store().createEndpoint(endpoint, MOST);
    await granted(store());
    await held.prepare();
    // NotWritablePrimary, to the command and to the driver's repetition of it.
    await refuse('insert', 10107, 2);
    await ofHeld().makeDeliveries(Date.now());
    expect(await isStatus(endpoint.id)).toEqual(['pending']);
  });

  test('claims a share of what is due while another one claims as well', async () => {
    const endpoint = anEndpoint();
    await store().createEndpoint(endpoint, MOST);
    for (let made = 0; made < 64; made++) await granted(store());
    while (await store().makeDeliveries(Date.now())) {}
    const claim = (by: typeof store) => {
      const endpoints = [{ id: endpoint.id, most: 16 }];
      return by().claimDeliveries({ now: Date.now() + 5, claim: anId(), endpoints });
    };
    let writes = 0;
    held.beforeWrite = async (nth) => {
      writes = nth;
      if (nth === 1) expect(await claim(store)).toHaveLength(16);
    };
    const claimed = await claim(ofHeld);
    expect(claimed.length).toBeGreaterThan(0);
    // One command was enough, although it had read before the other one wrote.
    expect(writes).toBe(1);
  });

  test('takes off what it has told for good, whoever puts the account meanwhile', async () => {
    const account = anAccount();
    await store().putAccount(account);
    const changed = { ...account, username: 'ada2' };
    await store().putAccount(changed);
    held.beforeWrite = async (nth) => {
      if (nth === 1) await store().makeDeliveries(Date.now());
    };
    await ofHeld().putAccount({ ...changed, external_id: 'u-1' });
    expect(await store().countEvents(9)).toMatchObject({ pending: 0 });
  });

  test('may stop before it has written a message: a claim writes it, and never one of an erased account', async () => {
    const endpoint = anEndpoint();
    await store().createEndpoint(endpoint, MOST);
    const [account, erased] = [anAccount(), anAccount()];
    for (const one of [account, erased]) {
      await store().putAccount(one);
      await store().putAccount({ ...one, username: `of-${one.id}` });
    }
    held.beforeWrite = async (nth) => {
      if (nth === 2) throw new Error('It stops.');
    };
    const now = Date.now();
    await expect(ofHeld().makeDeliveries(now)).rejects.toThrow('It stops.');
    await erase(store(), { account_id: erased.id, now, initiator: anInitiator() });
    const claim = (at: number) =>
      store().claimDeliveries({
        ...{ now: at, claim: anId(), endpoints: [{ id: endpoint.id, most: 9 }] },
      });
    expect(await claim(now)).toEqual([]);
    const claimed = await claim(now + CLAIM_LASTS);
    expect(claimed.map(({ delivery }) => JSON.parse(delivery.body).data.username)).toEqual([
      `of-${account.id}`,
    ]);
    const all = await store().listDeliveries({ endpoint_id: endpoint.id }, ALL);
    expect(all.map(({ account_id, status, body }) => [account_id, status, body]).sort()).toEqual(
      [
        [account.id, 'pending', claimed[0]?.delivery.body],
        [erased.id, 'dropped', null],
      ].sort(),
    );
    // A process that goes on, late, changes nothing of it.
    await store().makeDeliveries(now);
    expect(await store().findDelivery(claimed[0]?.delivery.id ?? '')).toEqual(claimed[0]?.delivery);
  });

  test('tells of an account that changes again after its mark was read', async () => {
    const endpoint = anEndpoint({ types: ['account.updated'] });
    await store().createEndpoint(endpoint, MOST);
    const account = anAccount({ username: 'ada' });
    for (const username of ['ada', 'ada2']) await store().putAccount({ ...account, username });
    const changesAgain = async () => {
      await store().putAccount({ ...account, username: 'ada3' });
      return true;
    };
    await ofHeld().makeDeliveries(Date.now(), changesAgain);
    const deliveries = await store().listDeliveries({ endpoint_id: endpoint.id }, ALL);
    expect(deliveries.map(({ body }) => JSON.parse(body ?? '').data.username)).toEqual(['ada3']);
  });
});
