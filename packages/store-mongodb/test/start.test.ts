import { inspect } from 'node:util';
import type { Store } from '@latchkey/store/store';
import { aCode, anId, redemptionOf } from '@latchkey/store-suite/records';
import { describe, expect, test, vi } from 'vitest';
import { indexesOf } from '../src/indexes.ts';
import { openMongoStore } from '../src/mongo-store.ts';
import { failure } from './scripted-server.ts';
import { scripted, scriptedServer, shortTimeouts, storeOn } from './scripted-store.ts';

/** With indexes besides `_id_`. */
const COLLECTIONS = Object.keys(indexesOf()).length;

const secret = 'pässword:@/';
const userinfo = `ada:${encodeURIComponent(secret)}`;

/** The error of a start. */
async function failedStart(url: string): Promise<Error> {
  return openMongoStore({ url, clock: Date.now, timeouts: shortTimeouts }).then(
    () => expect.fail('started'),
    (error) => error,
  );
}

/** One line that names the setting; the password is neither in it nor in its causes. */
function expectConfigurationError(error: Error, saying: RegExp): void {
  expect(error.message).toMatch(/^DATABASE_URL: [^\n]+$/);
  expect(error.message).toMatch(saying);
  const all = inspect(error, { depth: 20, showHidden: true });
  for (const form of [secret, encodeURIComponent(secret)]) expect(all).not.toContain(form);
}

const unavailable = { code: 'store_unavailable', members: {} };

test.each([
  ['mongos', [expect.stringMatching(/^The database is a sharded cluster.*never tested/)]],
  ['primary', []],
] as const)('a start on a %s warns as it should', async (is, warnings) => {
  const { url } = await scriptedServer(is);
  const onWarning = vi.fn();
  const store = await openMongoStore({ url, clock: Date.now, onWarning });
  await store.close();
  expect(onWarning.mock.calls.flat()).toEqual(warnings);
});

describe('a start fails', () => {
  test('if the password is wrong', async () => {
    const server = await scriptedServer();
    server.script('saslStart', failure(18, 'AuthenticationFailed'));
    const url = `mongodb://${userinfo}@${server.address}/latchkey`;
    expectConfigurationError(await failedStart(url), /user or the password/);
  });

  test('if the user has too few rights', async () => {
    const server = await scriptedServer();
    const resource = { db: 'latchkey', collection: '' };
    server.script('connectionStatus', {
      authInfo: {
        authenticatedUsers: [{ user: 'ada', db: 'admin' }],
        authenticatedUserPrivileges: [{ resource, actions: ['find', 'listIndexes'] }],
      },
    });
    expectConfigurationError(
      await failedStart(server.url),
      /may not insert, update, remove in the collection accounts: grant it the role readWrite/,
    );
  });

  test('if the server needs a user', async () => {
    const server = await scriptedServer();
    server.script('listIndexes', failure(13, 'Unauthorized'));
    expectConfigurationError(await failedStart(server.url), /readWrite/);
  });

  test('if the server is too old', async () => {
    const server = await scriptedServer();
    server.hello = { maxWireVersion: 17 };
    server.script('buildInfo', { version: '6.0.14' });
    expectConfigurationError(await failedStart(server.url), /6\.0\.14.*7\.0/);
  });

  test('if the server is too old even for the driver', async () => {
    const server = await scriptedServer();
    server.hello = { maxWireVersion: 5 };
    expectConfigurationError(await failedStart(server.url), /wire version/);
  });
});

describe('a start fails if the URL is invalid', () => {
  test.each([
    ['mongodb://', /host/],
    [`mongodb://${userinfo}@/latchkey`, /host/],
    [`mongodb://ada:${secret}@localhost/latchkey`, /percent-encoded/],
    [`mongodb://${userinfo}@localhost/latchkey?nonsense=1`, /nonsense/],
    [`mongodb://${userinfo}@localhost/latchkey?connectTimeoutMS=soon`, /connectTimeoutMS/],
    [`mongodb://${userinfo}@localhost/latchkey?tls=true&tlsCAFile=/no/such/file.pem`, /file\.pem/],
    [`mongodb://${userinfo}@localhost/%zz`, /mongodb:/],
  ])('%s', async (url, saying) => {
    expectConfigurationError(await failedStart(url), saying);
  });
});

/** Hiding "e" wherever it is would tell the user, and leave nothing to read. */
test.each([
  ['mongodb://e:u@localhost/latchkey?nonsense=1', 'option nonsense is not supported.'],
  ['mongodb://token#abc@localhost/latchkey', 'a user, a password or a property can’t be read.'],
  ['mongodb://s:o@/latchkey', 'Protocol and host list are required in the uri.'],
  [
    'mongodb://localhost/?proxyPassword=quicksilver&nonsense=1',
    'option nonsense is not supported.',
  ],
  [
    'mongodb://localhost/?authMechanismProperties=ALLOWED_HOSTS:quicksilver',
    'a user, a password or a property can’t be read.',
  ],
])('the address %s is hidden as a whole', async (url, said) => {
  const error = await failedStart(url);
  expect(error.message.slice(0, `DATABASE_URL: ${said}`.length)).toBe(`DATABASE_URL: ${said}`);
  expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(/quicksilver|token|abc|…/);
});

describe('a database that can’t be reached', () => {
  /** On a busy machine, the way back may take longer than a call waits. */
  const untilBack = (store: Store) => vi.waitFor(() => store.ping(), { timeout: 60_000 });

  test('at the start: every call is unavailable until it can', async () => {
    const server = await scriptedServer();
    await server.stop();
    const store = await storeOn(server, { timeouts: shortTimeouts });
    await expect(store.ping()).rejects.toMatchObject(unavailable);
    await expect(store.redeemCode(redemptionOf(aCode()))).rejects.toMatchObject(unavailable);
    await server.listen();
    await untilBack(store);
    expect(await store.findDelivery(anId())).toBeNull();
    expect(server.sent('listIndexes')).toHaveLength(COLLECTIONS);
  });

  test('later: every call is unavailable until it is back', async () => {
    const { server, store } = await scripted({ timeouts: shortTimeouts });
    await server.stop();
    await expect(store.ping()).rejects.toMatchObject(unavailable);
    await expect(store.findDelivery(anId())).rejects.toMatchObject(unavailable);
    await server.listen();
    await untilBack(store);
    expect(await store.findDelivery(anId())).toBeNull();
  });

  test('at the start: calls at the same time share one preparation', async () => {
    const server = await scriptedServer();
    await server.stop();
    const store = await storeOn(server, { timeouts: { ...shortTimeouts, connect: 5_000 } });
    await server.listen();
    await Promise.all(Array.from({ length: 10 }, () => store.ping()));
    expect(server.sent('ping')).toHaveLength(10);
    expect(server.sent('listIndexes')).toHaveLength(COLLECTIONS);
  });

  test('at the start, and then turns out to be unusable: the reason is the cause', async () => {
    const server = await scriptedServer();
    await server.stop();
    const store = await storeOn(server, { timeouts: shortTimeouts });
    await server.listen();
    server.script('listIndexes', failure(13, 'Unauthorized'));
    const cause = expect.objectContaining({ message: expect.stringContaining('readWrite') });
    await expect(store.ping()).rejects.toMatchObject({ ...unavailable, cause });
  });

  test('and needs a password: no error contains it', async () => {
    const server = await scriptedServer();
    await server.stop();
    const url = `mongodb://${userinfo}@${server.address}/latchkey`;
    const reported: unknown[] = [];
    const onError = (error: unknown) => reported.push(error);
    const store = await openMongoStore({ url, clock: Date.now, timeouts: shortTimeouts, onError });
    const error = await store.ping().catch((error: unknown) => error);
    await store.close();
    expect(reported).toHaveLength(1);
    const all = inspect([error, ...reported], { depth: 20, showHidden: true });
    expect(all).toContain('MongoServerSelectionError');
    for (const form of [secret, encodeURIComponent(secret)]) expect(all).not.toContain(form);
  });
});

describe('the database of a URL', () => {
  test.each([
    ['', 'latchkey'],
    ['accounts', 'accounts'],
    ['%C3%A4', 'ä'],
  ])('of the path /%s', async (path, name) => {
    const server = await scriptedServer();
    const url = `${server.url}${path}?appName=a/b`;
    const store = await openMongoStore({ url, clock: Date.now });
    await store.findDelivery(anId());
    await store.close();
    expect(server.received.at(-1)?.$db).toBe(name);
  });
});
