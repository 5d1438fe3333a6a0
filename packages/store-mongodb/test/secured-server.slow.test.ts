import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Finding } from '@latchkey/store/finding';
import { granted } from '@latchkey/store-suite/records';
import { type Authority, createAuthority } from '@latchkey/test-kit/certificates';
import { describeWithMongod } from '@latchkey/test-kit/mongodb/describe';
import { ReplicaSet } from '@latchkey/test-kit/mongodb/replica-set';
import { urlOf, withOptions } from '@latchkey/test-kit/mongodb/test-databases';
import { type Db, MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { inspectMongodb } from '../src/inspect.ts';
import { openMongoStore } from '../src/mongo-store.ts';

const timeouts = { connect: 30_000, operation: 30_000, outcome: 30_000 };
/** For servers that can't be used: the driver looks for another one until then. */
const impatient = { ...timeouts, connect: 1_500 };
const password = 'pässword:@/';
const subject = { server: '/O=Server/CN=mongod', user: '/O=Service/CN=latchkey' };
const database = 'latchkey';

/** As in docs/operations/mongodb.md. */
const leastRights = [
  ...['find', 'insert', 'update', 'remove', 'listIndexes'],
  ...['createCollection', 'createIndex', 'dbStats'],
];

describeWithMongod('a server with TLS and users', (mongod) => {
  let folder: string;
  let set: ReplicaSet;
  let admin: MongoClient;
  let authority: Authority;
  let stranger: Authority;
  let files: { user: string; unknown: string; untrusted: string };

  const tls = (more: Record<string, string> = {}) => ({
    ...{ tls: 'true', tlsCAFile: authority.file },
    ...more,
  });
  const urlWith = (options: Record<string, string>, user?: string) => {
    const url = withOptions(urlOf(set.url, database), options);
    if (!user) return url;
    return url.replace('//', `//${user}:${encodeURIComponent(password)}@`);
  };
  const open = (url: string, patience = timeouts) =>
    openMongoStore({ url, clock: Date.now, timeouts: patience });
  const x509 = (file: string) =>
    tls({ authMechanism: 'MONGODB-X509', tlsCertificateKeyFile: file });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-tls-'));
    authority = await createAuthority(folder, 'authority');
    stranger = await createAuthority(folder, 'stranger');
    files = {
      user: await authority.issue(subject.user),
      unknown: await authority.issue('/O=Service/CN=unknown'),
      untrusted: await stranger.issue(subject.user),
    };
    const keyFile = join(folder, 'key-file');
    await writeFile(keyFile, 'a'.repeat(64), { mode: 0o400 });
    set = await ReplicaSet.start(mongod, {
      members: 1,
      arguments: [
        ...['--keyFile', keyFile, '--tlsMode', 'requireTLS', '--tlsCAFile', authority.file],
        ...['--tlsCertificateKeyFile', await authority.issue(subject.server)],
        '--tlsAllowConnectionsWithoutCertificates',
      ],
      query: tls(),
    });
    const local = await new MongoClient(withOptions(set.url, tls())).connect();
    // The first user, which MongoDB lets a local connection create.
    await createUser(local.db('admin'), 'root', ['root']);
    await local.close();
    admin = await new MongoClient(
      withOptions(set.url, tls()).replace('//', `//root:${encodeURIComponent(password)}@`),
    ).connect();
    const privileges = (actions: string[]) => [
      { resource: { db: database, collection: '' }, actions },
    ];
    await admin.db(database).command({
      createRole: 'latchkey',
      privileges: privileges(leastRights),
      roles: [],
    });
    await admin.db(database).command({
      createRole: 'withoutIndexes',
      privileges: privileges(leastRights.slice(0, 5)),
      roles: [],
    });
    await createUser(admin.db(database), 'least', ['latchkey']);
    await createUser(admin.db(database), 'fewer', ['withoutIndexes']);
    await createUser(admin.db(database), 'reader', ['read']);
    await admin.db('$external').command({
      createUser: 'CN=latchkey,O=Service',
      roles: [{ role: 'latchkey', db: database }],
    });
  });
  afterEach(() => admin.db(database).dropDatabase());
  afterAll(async () => {
    await admin?.close();
    await set?.stop();
    await rm(folder, { recursive: true });
  });

  async function createUser(db: Db, user: string, roles: string[]): Promise<void> {
    await db.command({ createUser: user, pwd: password, roles });
  }

  async function expectUsable(url: string, { mayMeasure = true } = {}): Promise<void> {
    const reported: unknown[] = [];
    const store = await openMongoStore({
      ...{ url, clock: Date.now, timeouts },
      onError: (error) => reported.push(error),
    });
    onTestFinished(() => store.close());
    const { grant } = await granted(store);
    const free_bytes = mayMeasure ? expect.any(Number) : null;
    expect(await store.measure()).toMatchObject({ free_bytes });
    expect(
      (await store.listGrants({ account_id: grant.account.id }, { limit: 1, before: null }))[0],
    ).toEqual(grant);
    expect(reported).toEqual([]);
  }

  const failureOf = (url: string, patience = timeouts) =>
    open(url, patience).then(
      async (store) => {
        await store.close();
        return expect.fail('started');
      },
      (error: Error) => {
        expect(error.name).toBe('ConfigurationError');
        expect(error.message).toMatch(/^DATABASE_URL: [^\n]+$/);
        return error.message;
      },
    );

  test('is used with the least rights and a password', async () => {
    await expectUsable(urlWith(tls(), 'least'));
  });

  test('is used with the least rights and a certificate', async () => {
    await expectUsable(urlWith(x509(files.user)));
  });

  test('is used without the right to create indexes, if they are there', async () => {
    await (await open(urlWith(tls(), 'least'))).close();
    await expectUsable(urlWith(tls(), 'fewer'), { mayMeasure: false });
  });

  test('is used without indexes, and the log says how to create them', async () => {
    const reported: Error[] = [];
    const store = await openMongoStore({
      ...{ url: urlWith(tls(), 'fewer'), clock: Date.now, timeouts },
      onError: (error) => reported.push(error as Error),
    });
    await granted(store);
    await store.close();
    expect(reported.map(({ message }) => message).join('\n')).toMatch(
      /grants are missing .*may not create them.*db\.grants\.createIndex\(\{"code_expires_at":1\}/,
    );
  });

  test('is looked at with the rights that a user has', async () => {
    const findings = async (url: string) => {
      const found: Finding[] = [];
      for await (const finding of inspectMongodb(url, Date.now, {})) found.push(finding);
      return Object.fromEntries(found.map(({ check, level }) => [check, level]));
    };
    await (await open(urlWith(tls(), 'least'))).close();
    const sound = { store: 'ok', version: 'ok', indexes: 'ok', write_concern: 'ok', clock: 'ok' };
    expect(await findings(urlWith(tls(), 'least'))).toEqual({
      ...sound,
      ...{ damage: 'skipped', topology: 'warning', rights: 'ok', tls: 'ok', disk: 'ok' },
    });
    expect(await findings(urlWith(tls(), 'reader'))).toMatchObject({
      ...{ rights: 'problem', write_concern: 'problem', disk: 'ok' },
    });
    const unchecked = urlWith({ tls: 'true', tlsAllowInvalidCertificates: 'true' }, 'least');
    expect(await findings(unchecked)).toMatchObject({ ...sound, tls: 'problem' });
    const wrong = urlWith(tls(), 'least').replace('least:', 'least:x');
    expect(await findings(wrong)).toEqual({ store: 'problem' });
  });

  describe('stops the start, with one line that says why,', () => {
    test('if the user may only read', async () => {
      expect(await failureOf(urlWith(tls(), 'reader'))).toMatch(/may not insert, update, remove/);
    });

    test('if the password is wrong', async () => {
      const url = urlWith(tls(), 'least').replace('least:', 'least:x');
      expect(await failureOf(url)).toMatch(/user or the password/);
    });

    test('if no user has the subject of the certificate', async () => {
      expect(await failureOf(urlWith(x509(files.unknown)))).toMatch(
        /no user.*subject of the certificate.*CN=unknown.*\$external/,
      );
    });

    test('if another authority issued the certificate of the server', async () => {
      const url = urlWith(tls({ tlsCAFile: stranger.file }), 'least');
      expect(await failureOf(url, impatient)).toMatch(/certificate of the server: set tlsCAFile/);
    });

    test('if the authority is not given', async () => {
      const url = urlWith({ tls: 'true' }, 'least');
      expect(await failureOf(url, impatient)).toMatch(/tlsCAFile/);
    });

    test('if the certificate file has no key', async () => {
      expect(await failureOf(urlWith(x509(authority.file)), impatient)).toMatch(
        /tlsCertificateKeyFile/,
      );
    });

    test('if the replica set has another name', async () => {
      const url = urlWith(tls({ replicaSet: 'other' }), 'least');
      expect(await failureOf(url, impatient)).toMatch(
        /'latchkey-test', not 'other': set replicaSet=latchkey-test/,
      );
    });
  });

  // The server closes the connection before it says why, as it does when it stops.
  test.each([
    ['TLS is off', () => urlWith({}, 'least')],
    ['it does not trust the certificate', () => urlWith(x509(files.untrusted))],
  ])('is waited for if %s, and the log says what to look at', async (_, url) => {
    const reported: Error[] = [];
    const onError = (error: unknown) => reported.push(error as Error);
    const options = { clock: Date.now, timeouts: impatient, onError };
    const store = await openMongoStore({ url: url(), ...options });
    await store.close();
    expect(reported).toHaveLength(1);
    expect(reported[0]?.message).toMatch(/requires TLS, add tls=true.*tlsCertificateKeyFile/);
  });
});
