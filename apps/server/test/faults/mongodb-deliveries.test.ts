import { MAX_REPLAYED, replayDeliveries } from '@latchkey/rules/events/deliveries';
import { deliveries } from '@latchkey/store/kinds';
import type { EndpointRecord } from '@latchkey/store/records';
import type { ClaimedDelivery, EndedTry, Store } from '@latchkey/store/store';
import type { DeliveryDocument } from '@latchkey/store-mongodb/documents';
import { documentOf } from '@latchkey/store-mongodb/encoding';
import { openMongoStore } from '@latchkey/store-mongodb/mongo-store';
import {
  anAccount,
  anApplication,
  anEndedTry,
  anEndpoint,
  anId,
  aPing,
  granted,
} from '@latchkey/store-suite/records';
import { describeOnEachMongodb } from '@latchkey/test-kit/mongodb/describe';
import { isDurableWrite, lookAtOnce, urlThrough } from '@latchkey/test-kit/mongodb/proxy';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FaultyService, overtaken, startBehindProxy } from './behind-proxy.ts';

// Commands about deliveries whose connection breaks. Those that are late are executed long after the store has
// sent them again, and after what an operator or another process did then.

const MOST = { most: 5 };

describeOnEachMongodb('of deliveries,', (mongodb) => {
  let service: FaultyService;
  /** Its commands can be stopped. */
  let store: Store;
  let other: Store;
  beforeAll(async () => {
    service = await startBehindProxy(mongodb);
    const { proxy, url } = service;
    const open = (url: string) => openMongoStore({ url, clock: Date.now, recordsEvents: true });
    store = await open(urlThrough(proxy, url, { retryWrites: 'false', ...lookAtOnce }));
    other = await open(url);
  });
  afterAll(async () => {
    await Promise.all([store.close(), other.close()]);
    await service.stop();
  });

  const late = <T>(call: () => Promise<T>, which?: number) => overtaken(service.proxy, call, which);

  async function endpointOf(application = anApplication()) {
    await other.createApplication(application);
    const endpoint = anEndpoint({ application_id: application.id });
    expect(await other.createEndpoint(endpoint, MOST)).toBe('created');
    return endpoint;
  }

  async function makeAll() {
    while (await other.makeDeliveries(Date.now())) {}
  }

  /** An endpoint of an application that has an `account.updated` to hear. */
  async function told() {
    const endpoint = await endpointOf();
    const account = anAccount();
    await granted(other, { application_id: endpoint.application_id ?? '', account });
    await other.putAccount({ ...account, username: 'ada2' });
    await makeAll();
    return { endpoint, id: await onlyOf(endpoint) };
  }

  async function onlyOf({ id: endpoint_id }: EndpointRecord) {
    const found = await other.listDeliveries({ endpoint_id }, { limit: 9, before: null });
    expect(found).toHaveLength(1);
    return found[0]?.id ?? '';
  }

  const statusOf = async (id: string) => (await other.findDelivery(id))?.status;

  const disable = (by: Store, { id }: EndpointRecord) =>
    by.updateEndpoint(id, { disabled_reason: 'operator' });
  const enable = ({ id }: EndpointRecord) => other.updateEndpoint(id, { disabled_reason: null });

  const replay = (by: Store, { id: endpoint_id }: EndpointRecord) =>
    by.replayDeliveries({ endpoint_id, since: 0, now: Date.now(), limit: 9 });

  async function claim({ id }: EndpointRecord): Promise<ClaimedDelivery['delivery']> {
    const due = { now: Date.now() + 5, claim: anId(), endpoints: [{ id, most: 1 }] };
    const [claimed] = await other.claimDeliveries(due);
    if (!claimed) throw new Error('A delivery is due.');
    return claimed.delivery;
  }

  const end = (by: Store, { id: endpoint_id, url }: EndpointRecord, ended: Partial<EndedTry>) =>
    by.endTries([anEndedTry({ endpoint_id, url, ...ended })]);

  /** An endpoint that is enabled again, with a delivery that was dropped meanwhile. */
  async function untold() {
    const one = await told();
    await disable(other, one.endpoint);
    await enable(one.endpoint);
    return one;
  }

  async function deliver(endpoint: EndpointRecord, delivery_id: string) {
    const { claim: of } = await claim(endpoint);
    await end(other, endpoint, { delivery_id, claim: of });
  }

  // The change of the endpoint, or the insertion of another delivery, comes before it.
  const SECOND = 2;

  test('a late drop leaves what was replayed since', async () => {
    const { endpoint, id } = await told();
    const { answer, arrive } = await late(() => disable(store, endpoint), SECOND);
    expect(answer).toMatchObject({ disabled_reason: 'operator' });
    expect(await statusOf(id)).toBe('dropped');
    await enable(endpoint);
    expect(await replay(other, endpoint)).toBe(1);
    await arrive();
    expect(await statusOf(id)).toBe('pending');
    await disable(other, endpoint);
    expect(await statusOf(id)).toBe('dropped');
  });

  test('the late drop for a disabled application leaves what was replayed once it is enabled', async () => {
    const { endpoint, id } = await told();
    const application_id = endpoint.application_id ?? '';
    await other.setApplicationDisabled(application_id, true, Date.now());
    // It inserts that of the disabling first.
    const { arrive } = await late(() => store.makeDeliveries(Date.now()), SECOND);
    expect(await statusOf(id)).toBe('dropped');
    await other.setApplicationDisabled(application_id, false, Date.now());
    await makeAll();
    expect(await replay(other, endpoint)).toBe(1);
    await arrive();
    expect(await statusOf(id)).toBe('pending');
  });

  test('the late drop of a ping leaves it due once it is retried', async () => {
    const endpoint = await endpointOf();
    const ping = aPing({ endpoint_id: endpoint.id });
    const inserting = service.proxy.holdNext(isDurableWrite);
    const pinging = store.createPing(ping);
    const inserted = await inserting;
    await disable(other, endpoint);
    const dropping = service.proxy.holdNext(isDurableWrite);
    inserted.forward();
    const drop = await dropping;
    drop.cut();
    expect(await pinging).toBeNull();
    expect(await statusOf(ping.id)).toBe('dropped');
    await enable(endpoint);
    expect(await other.retryDelivery(ping.id, Date.now())).not.toBeNull();
    await drop.execute();
    expect(await statusOf(ping.id)).toBe('pending');
  });

  test('a late replay leaves what was dropped since', async () => {
    const { endpoint, id } = await untold();
    const { answer, arrive } = await late(() => replay(store, endpoint));
    expect(answer).toBe(1);
    expect(await statusOf(id)).toBe('pending');
    await disable(other, endpoint);
    await enable(endpoint);
    await arrive();
    expect(await statusOf(id)).toBe('dropped');
  });

  test('a late retry does not tell again what was delivered since', async () => {
    const { endpoint, id } = await untold();
    const { answer, arrive } = await late(() => store.retryDelivery(id, Date.now()));
    expect(answer).toEqual(await other.findDelivery(id));
    expect(answer).toMatchObject({ status: 'pending', tries: 0, ended_at: null });
    await deliver(endpoint, id);
    await arrive();
    expect(await statusOf(id)).toBe('delivered');
  });

  test('a retry that was made is answered although it was delivered meanwhile', async () => {
    const { endpoint, id } = await untold();
    const holding = service.proxy.holdNext(isDurableWrite);
    const retrying = store.retryDelivery(id, Date.now());
    const held = await holding;
    await held.execute();
    await deliver(endpoint, id);
    held.cut();
    expect(await retrying).toMatchObject({ id, status: 'pending' });
    expect(await statusOf(id)).toBe('delivered');
  });

  test('a replay whose response is lost goes on to the next page', async () => {
    const endpoint = await endpointOf();
    const documents = Array.from({ length: 1_001 }, () => {
      const delivery = aPing({
        endpoint_id: endpoint.id,
        type: 'grant.revoked',
        status: 'dropped',
      });
      const ended = { ...delivery, due_at: null, claim: null, ended_at: Date.now() };
      return documentOf(deliveries)(ended) as DeliveryDocument;
    });
    await using client = new MongoClient(service.url);
    const collection = client.db().collection<DeliveryDocument>('deliveries');
    await collection.insertMany(documents);
    const holding = service.proxy.holdNext(isDurableWrite);
    const replaying = replayDeliveries({ store, clock: Date.now }, endpoint.id, 0);
    const held = await holding;
    await held.execute();
    held.cut();
    expect(await replaying).toBe(documents.length);
    const which = { _id: { $in: documents.map(({ _id }) => _id) }, status: 'pending' as const };
    expect(await collection.countDocuments(which)).toBe(documents.length);
    expect(documents.length).toBeLessThan(MAX_REPLAYED);
  });

  const refused = (
    at: number,
    status_code = 500,
  ): Pick<EndedTry, 'attempt' | 'next_attempt_at'> => ({
    attempt: { at, duration_ms: 1, result: 'refused', status_code },
    next_attempt_at: at + 1,
  });
  const delivered = (at: number): Pick<EndedTry, 'attempt'> => ({
    attempt: { at, duration_ms: 1, result: 'delivered', status_code: 204 },
  });

  test('a late end of a try leaves an endpoint that was enabled since', async () => {
    const endpoint = await endpointOf();
    const gone = { ...refused(1_000, 410), isGone: true };
    const { answer, arrive } = await late(() => end(store, endpoint, gone));
    expect(answer).toMatchObject([{ id: endpoint.id, disabled_reason: 'gone' }]);
    await enable(endpoint);
    await arrive();
    expect(await other.findEndpoint(endpoint.id)).toEqual(endpoint);
  });

  test('a late end of a failed try leaves an endpoint that has worked since', async () => {
    const endpoint = await endpointOf();
    const { arrive } = await late(() => end(store, endpoint, refused(1_000)));
    expect(await other.findEndpoint(endpoint.id)).toMatchObject({ failures: 1 });
    await end(other, endpoint, delivered(2_000));
    await arrive();
    expect(await other.findEndpoint(endpoint.id)).toEqual({ ...endpoint, last_success_at: 2_000 });
  });

  test('a late end of a try that succeeded leaves one that fails since', async () => {
    const endpoint = await endpointOf();
    await end(other, endpoint, refused(1_000));
    const { arrive } = await late(() => end(store, endpoint, delivered(2_000)));
    await end(other, endpoint, refused(1_000));
    await arrive();
    expect(await other.findEndpoint(endpoint.id)).toMatchObject({
      ...{ last_success_at: 2_000, failing_since: 1_000, failures: 1 },
    });
  });
});
