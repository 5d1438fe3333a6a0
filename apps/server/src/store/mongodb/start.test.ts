import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { aCode, anId, redemptionOf } from '../suite-records.ts';
import { grantIndexes, rateLimitIndexes, refusalIndexes } from './indexes.ts';
import { openMongoStore } from './mongo-store.ts';
import { batch, failure } from './scripted-server.ts';
import { impatience, scripted, scriptedServer, storeOn } from './scripted-store.ts';

const INDEXES = grantIndexes.length + refusalIndexes.length + rateLimitIndexes.length;

const secret = 'pässword:@/';
const userinfo = `ada:${encodeURIComponent(secret)}`;

/** The error of a start. */
async function failedStart(url: string): Promise<Error> {
  return openMongoStore({ url, clock: Date.now, patience: impatience }).then(
    () => expect.fail('started'),
    (error) => error,
  );
}

/** One line that names the setting, and nothing in it or below it of the password. */
function expectFault(error: Error, saying: RegExp): void {
  expect(error.message).toMatch(/^DATABASE_URL: [^\n]+$/);
  expect(error.message).toMatch(saying);
  const all = inspect(error, { depth: 20, showHidden: true });
  for (const form of [secret, encodeURIComponent(secret)]) expect(all).not.toContain(form);
}

const unavailable = { code: 'store_unavailable', members: {} };

describe('a start that the database refuses for good', () => {
  test('for the password', async () => {
    const server = await scriptedServer();
    server.script('saslStart', failure(18, 'AuthenticationFailed'));
    const url = `mongodb://${userinfo}@${server.address}/latchkey`;
    expectFault(await failedStart(url), /user or the password/);
  });

  test('for the rights of the user', async () => {
    const server = await scriptedServer();
    server.script('createIndexes', failure(13, 'Unauthorized'));
    expectFault(await failedStart(server.url), /readWrite/);
  });

  test('for its version', async () => {
    const server = await scriptedServer();
    server.hello = { maxWireVersion: 17 };
    server.script('buildInfo', { version: '6.0.14' });
    expectFault(await failedStart(server.url), /6\.0\.14.*7\.0/);
  });

  test('for its version, where even the driver does not know it any more', async () => {
    const server = await scriptedServer();
    server.hello = { maxWireVersion: 5 };
    expectFault(await failedStart(server.url), /wire version/);
  });

  test.each([
    [85, 'IndexOptionsConflict'],
    [86, 'IndexKeySpecsConflict'],
  ])('for an index in the way (%i)', async (code, codeName) => {
    const server = await scriptedServer();
    server.script('createIndexes', failure(code, codeName, { errmsg: 'two\nlines' }));
    expectFault(await failedStart(server.url), /'pending_expiry' \(two lines\): drop it/);
  });

  test('for an index that is another, though the server said nothing', async () => {
    const server = await scriptedServer();
    server.script(
      'listIndexes',
      batch({ v: 2, key: { code_expires_at: 1 }, name: 'pending_expiry' }),
    );
    expectFault(await failedStart(server.url), /'pending_expiry'.*dropIndex\('pending_expiry'\)/);
  });
});

describe('a URL that can not be read', () => {
  test.each([
    ['mongodb://', /host/],
    [`mongodb://${userinfo}@/latchkey`, /host/],
    [`mongodb://ada:${secret}@localhost/latchkey`, /percent-encoded/],
    [`mongodb://${userinfo}@localhost/latchkey?nonsense=1`, /nonsense/],
    [`mongodb://${userinfo}@localhost/latchkey?connectTimeoutMS=soon`, /connectTimeoutMS/],
    [`mongodb://${userinfo}@localhost/latchkey?tls=true&tlsCAFile=/no/such/file.pem`, /file\.pem/],
    [`mongodb://${userinfo}@localhost/%zz`, /mongodb:/],
  ])('%s', async (url, saying) => {
    expectFault(await failedStart(url), saying);
  });
});

test('a user name that the driver would repeat is not repeated', async () => {
  const { message } = await failedStart('mongodb://token#abc@localhost/latchkey');
  expect(message).toMatch(/^DATABASE_URL: Username contains unescaped characters …/);
});

describe('a database that is not there', () => {
  test('at the start: every call says so, until it comes', async () => {
    const server = await scriptedServer();
    await server.stop();
    const store = await storeOn(server, { patience: impatience });
    await expect(store.ping()).rejects.toMatchObject(unavailable);
    await expect(store.redeemCode(redemptionOf(aCode()))).rejects.toMatchObject(unavailable);
    await server.listen();
    await store.ping();
    expect(await store.findCode(anId())).toBeNull();
    expect(server.sent('createIndexes')).toHaveLength(INDEXES);
  });

  test('later: every call says so, until it is back', async () => {
    const { server, store } = await scripted({ patience: impatience });
    await server.stop();
    await expect(store.ping()).rejects.toMatchObject(unavailable);
    await expect(store.findCode(anId())).rejects.toMatchObject(unavailable);
    await server.listen();
    await store.ping();
    expect(await store.findCode(anId())).toBeNull();
  });

  test('at the start: calls at the same time share one preparation', async () => {
    const server = await scriptedServer();
    await server.stop();
    const store = await storeOn(server, { patience: impatience });
    await server.listen();
    await Promise.all(Array.from({ length: 10 }, () => store.ping()));
    expect(server.sent('ping')).toHaveLength(10);
    expect(server.sent('createIndexes')).toHaveLength(INDEXES);
  });

  test('at the start, and is not right when it comes: the reason is the cause', async () => {
    const server = await scriptedServer();
    await server.stop();
    const store = await storeOn(server, { patience: impatience });
    await server.listen();
    server.script('createIndexes', failure(13, 'Unauthorized'));
    const cause = expect.objectContaining({ message: expect.stringContaining('readWrite') });
    await expect(store.ping()).rejects.toMatchObject({ ...unavailable, cause });
  });

  test('and is behind a password: no error has it', async () => {
    const server = await scriptedServer();
    await server.stop();
    const url = `mongodb://${userinfo}@${server.address}/latchkey`;
    const heard: unknown[] = [];
    const onError = (error: unknown) => heard.push(error);
    const store = await openMongoStore({ url, clock: Date.now, patience: impatience, onError });
    const error = await store.ping().catch((error: unknown) => error);
    await store.close();
    expect(heard).toHaveLength(1);
    const all = inspect([error, ...heard], { depth: 20, showHidden: true });
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
    await store.findCode(anId());
    await store.close();
    expect(server.received.at(-1)?.$db).toBe(name);
  });
});
