import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as client from '@latchkey/client';
import { Latchkey, LatchkeyError, type LatchkeyOptions } from '@latchkey/client';
import { LatchkeyAdmin } from '@latchkey/client/admin';
import { loadSettings, type OpenServer, startServer } from '@latchkey/server/testing';
import { slow } from '@latchkey/test-kit/long';
import { createTestServer, type TestServer } from '@latchkey/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LosingProxy, startLosingProxy } from './support/losing-proxy.ts';
import { ADMIN_SECRET, operator } from './support/operator.ts';
import { startPathProxy } from './support/path-proxy.ts';

// The SDK and the real server, on SQLite. What the SDK makes of answers that no server of ours
// gives is with the SDK.

const ACCOUNT = '0193aa00-0000-7000-8000-0000000000a1';
const MINUTE = 60_000;

const silent = { info() {}, warn() {}, error() {} } as unknown as Parameters<typeof startServer>[1];

let folder: string;
let server: OpenServer;
let now = Date.parse('2026-11-21T02:15:30.123Z');

async function start(file: string, more: NodeJS.ProcessEnv = {}): Promise<OpenServer> {
  const settings = {
    ...loadSettings({ ADMIN_SECRET, DATABASE_URL: `file:${join(folder, file)}`, ...more }),
    port: 0,
    shutdownSeconds: 0,
  };
  return startServer(settings, silent, { clock: () => now });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-sdk-'));
  server = await start('latchkey.db');
});

afterAll(async () => {
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

/** The members of the operator's answers that are used here; each answer has some of them. */
interface Answer {
  id: string;
  secret: string;
  code: string;
  grant_id: string;
  data: { grant_id: string }[];
}

/** A new application, with a client and codes for it. */
async function application(at = server) {
  const { id, secret } = await operator<Answer>(at, 'POST', '/applications', { name: 'Acme' });
  const account = { username: 'ada', display_name: 'Ada Lovelace', verified: true };
  await operator(at, 'PUT', `/accounts/${ACCOUNT}`, account);
  return {
    id,
    secret,
    latchkey: new Latchkey({ baseUrl: at.url, applicationSecret: secret }),
    clientAt: (baseUrl: string, options: LatchkeyOptions = {}) =>
      new Latchkey({ baseUrl, applicationSecret: secret, ...options }),
    /** The grants that it has. */
    async grants() {
      const { data } = await operator<Answer>(at, 'GET', `/grants?application_id=${id}`);
      return data.map(({ grant_id }) => grant_id);
    },
    async issue() {
      const request = { application_id: id, account_id: ACCOUNT, scope: 'profile.read posts.read' };
      return operator<Answer>(at, 'POST', '/codes', request);
    },
  };
}

const account = {
  object: 'service_account',
  id: ACCOUNT,
  username: 'ada',
  display_name: 'Ada Lovelace',
  twitter: null,
  verified: true,
  supporter: false,
};

describe('an account', () => {
  test('is linked, used and unlinked', async () => {
    const { id, latchkey, issue } = await application();
    const { code, grant_id } = await issue();

    const grant = await latchkey.convert(code);
    const { grant_secret, ...description } = grant;
    expect(grant).toEqual({
      object: 'oauth_grant',
      grant_id,
      created_at: '2026-11-21T02:15:30.123+00:00',
      scope: 'profile.read posts.read',
      grant_secret: expect.stringMatching(/^lk_grant_\w{71}$/),
      revoked: false,
      account,
    });
    const now = await latchkey.account(grant_secret);
    expect(now).toEqual(account);
    expect(now.request_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(await latchkey.grant(grant_secret)).toEqual({
      ...description,
      application_id: id,
      document_uri: null,
      resource: null,
      choice: null,
      external_id: null,
    });

    const revoked = {
      object: 'oauth_grant',
      grant_id,
      created_at: grant.created_at,
      revoked: true,
    };
    expect(await latchkey.revoke(grant_id)).toEqual(revoked);
    expect(await latchkey.revoke(grant_id)).toEqual(revoked);
    await expect(latchkey.account(grant_secret)).rejects.toThrow(client.AuthenticationError);
  });

  test('is told as it is now, and with the grant as it was when the code was issued', async () => {
    const { latchkey, issue } = await application();
    const { code } = await issue();
    await operator(server, 'PUT', `/accounts/${ACCOUNT}`, { username: 'countess' });

    const { grant_secret, account: snapshot } = await latchkey.convert(code);
    expect(snapshot.username).toBe('ada');
    expect((await latchkey.grant(grant_secret)).account.username).toBe('ada');
    expect((await latchkey.account(grant_secret)).username).toBe('countess');
  });

  test('is linked after all where the answer to the exchange got lost', async () => {
    const { latchkey, issue } = await application();
    const lost = await latchkey.convert((await issue()).code);

    const found = await latchkey.recover(lost.grant_id);
    expect(found).toEqual({ ...lost, grant_secret: expect.stringMatching(/^lk_grant_\w{71}$/) });
    await expect(latchkey.account(lost.grant_secret)).rejects.toThrow(client.AuthenticationError);
    expect(await latchkey.account(found.grant_secret)).toEqual(account);
  });

  test(
    'is linked by one of many exchanges at once, each from a client of its own',
    slow,
    async () => {
      const { clientAt, issue } = await application();
      const { code, grant_id } = await issue();

      const results = await Promise.allSettled(
        Array.from({ length: 20 }, () => clientAt(server.url).convert(code)),
      );
      const won = results.filter(({ status }) => status === 'fulfilled');
      const lost = results.flatMap((result) => (result.status === 'rejected' ? result.reason : []));
      expect(won).toHaveLength(1);
      expect(lost).toHaveLength(19);
      for (const error of lost) {
        expect(error).toBeInstanceOf(client.CodeAlreadyUsedError);
        expect(error.grant_id).toBe(grant_id);
      }
    },
  );

  test('is linked for each of many exchanges at once from one client, which are one', async () => {
    const { latchkey, issue } = await application();
    const { code } = await issue();
    const grants = await Promise.all(Array.from({ length: 20 }, () => latchkey.convert(code)));
    for (const grant of grants) expect(grant).toEqual(grants[0]);
  });
});

describe('a network that loses', () => {
  let proxy: LosingProxy;

  beforeAll(async () => {
    proxy = await startLosingProxy(server.url);
    return () => proxy.close();
  });

  test.each<[string, LosingProxy['loseNext']]>([
    ['the request', 'request'],
    ['the answer, with the connection', { answer: 'cut' }],
    ['the answer, in silence', { answer: 'hold' }],
  ])('%s: the account is linked, once, with a secret that works', async (_, loseNext) => {
    const { clientAt, issue, grants } = await application();
    const { code, grant_id } = await issue();
    const latchkey = clientAt(proxy.url);

    proxy.loseNext = loseNext;
    const grant = await latchkey.convert(code, { recoverLostAnswer: true, timeoutMs: 3_000 });
    expect(proxy.loseNext).toBeUndefined();
    expect(grant).toMatchObject({ grant_id, account });
    expect(await latchkey.account(grant.grant_secret)).toEqual(account);
    expect(await grants()).toEqual([grant_id]);
  });

  test('the answer to what can be repeated: it is, and nobody notices', async () => {
    const { clientAt, issue } = await application();
    const latchkey = clientAt(proxy.url);
    const { grant_id, grant_secret } = await latchkey.convert((await issue()).code);

    proxy.loseNext = { answer: 'cut' };
    expect(await latchkey.account(grant_secret)).toEqual(account);
    expect(proxy.loseNext).toBeUndefined();
    proxy.loseNext = { answer: 'cut' };
    expect(await latchkey.revoke(grant_id)).toMatchObject({ grant_id, revoked: true });
    expect(proxy.loseNext).toBeUndefined();
  });

  test('the answer: by hand, the same in two more calls', async () => {
    const { clientAt, issue } = await application();
    const { code, grant_id } = await issue();
    const latchkey = clientAt(proxy.url);
    const error = (call: Promise<unknown>) => call.catch((reason: unknown) => reason);

    proxy.loseNext = { answer: 'cut' };
    expect(await error(latchkey.convert(code))).toMatchObject({
      name: 'ConnectionError',
      maybe_sent: true,
    });
    const used = await error(latchkey.convert(code));
    if (!(used instanceof client.CodeAlreadyUsedError)) return expect.fail('It is not used.');
    expect(used.grant_id).toBe(grant_id);
    const grant = await latchkey.recover(used.grant_id);
    expect(await latchkey.account(grant.grant_secret)).toEqual(account);
  });

  test('the answer: a grant that another process uses by then stays as it is', async () => {
    const { clientAt, latchkey: other, issue } = await application();
    const { code, grant_id } = await issue();
    const { grant_secret } = await other.convert(code);
    await other.account(grant_secret);

    proxy.loseNext = { answer: 'cut' };
    const call = clientAt(proxy.url).convert(code, { recoverLostAnswer: true });
    await expect(call).rejects.toMatchObject({
      name: 'ConnectionError',
      recovery_errors: [
        { error_code: 'code_already_used', grant_id },
        { error_code: 'grant_not_recoverable' },
      ],
    });
    expect(await other.account(grant_secret)).toEqual(account);
  });
});

describe('a proxy that passes only what the docs on operating list', async () => {
  const text = await readFile(new URL('../docs/operations/proxy.md', import.meta.url), 'utf8');
  const [, section = ''] = /^### Paths of the SDK$(.*?)^##/ms.exec(text) ?? [];
  const listed = new Set(
    [...section.matchAll(/`((?:GET|POST) \/trpc\/\S+)`/g)].map(([, it]) => it),
  );
  const withoutPrefix = (path: string) => path.replace(/^\/auth(?=\/)/, '');

  test('is enough for every method, below a prefix that it removes', async () => {
    const proxy = await startPathProxy(server.url, (method, path) =>
      listed.has(`${method} ${withoutPrefix(path)}`) ? withoutPrefix(path) : undefined,
    );
    const { clientAt, issue } = await application();
    const latchkey = clientAt(`${proxy.url}/auth`);
    const { grant_id } = await latchkey.convert((await issue()).code);
    const { grant_secret, response } = await latchkey.recover(grant_id);
    expect(response?.headers.get('Cache-Control')).toBe('no-store');
    expect(await latchkey.account(grant_secret)).toEqual(account);
    expect(await latchkey.grant(grant_secret)).toMatchObject({ grant_id });
    expect(await latchkey.introspect(grant_secret)).toMatchObject({ active: true, grant_id });
    expect(await latchkey.revoke(grant_id)).toMatchObject({ revoked: true });
    await latchkey.revokeToken(grant_secret);
    expect(proxy.passed).toEqual(listed);
    await proxy.close();
  });

  test('is recognised as Latchkey if it leaves the prefix in the path', async () => {
    const proxy = await startPathProxy(server.url, (_, path) => path);
    const { clientAt, issue } = await application();
    const { code } = await issue();
    const call = clientAt(`${proxy.url}/auth`).convert(code);
    await expect(call).rejects.toThrow(
      `This is Latchkey, but not at this path: it does not serve /auth/trpc/grants.convert. Nothing was done. If baseUrl needs no path, set it to ${proxy.url}. If a proxy publishes the service at /auth/, it must remove that prefix`,
    );
    await expect(call).rejects.toMatchObject({ error_code: 'route_not_found', status: 404 });
    expect(await clientAt(proxy.url).convert(code)).toMatchObject({ revoked: false });
    await proxy.close();
  });
});

describe('every class of error that the SDK has', slow, () => {
  /** The classes that were seen; those that are missing in the end have no test here. */
  const seen = new Set<string>();

  /** Expects a call to fail with exactly this class. */
  async function fails(
    call: Promise<unknown>,
    errorClass: new (...rest: never[]) => LatchkeyError,
    members: object,
  ): Promise<LatchkeyError> {
    const error = await call.then(
      (result) => expect.fail(`It succeeded with ${JSON.stringify(result)}.`),
      (reason: unknown) => reason as LatchkeyError,
    );
    expect(error).toBeInstanceOf(LatchkeyError);
    expect(error.constructor).toBe(errorClass);
    expect(error).toMatchObject(members);
    seen.add(error.name);
    return error;
  }

  test('ApplicationDisabledError: of a disabled application and of its grants', async () => {
    const { id, latchkey, issue } = await application();
    const { grant_id, grant_secret } = await latchkey.convert((await issue()).code);
    const { code } = await issue();
    await operator(server, 'POST', `/applications/${id}/disable`);

    const members = { error_code: 'application_disabled', status: 403 };
    await fails(latchkey.convert(code), client.ApplicationDisabledError, members);
    await fails(latchkey.account(grant_secret), client.ApplicationDisabledError, members);
    await fails(latchkey.revoke(grant_id), client.ApplicationDisabledError, members);

    await operator(server, 'POST', `/applications/${id}/enable`);
    expect(await latchkey.grant(grant_secret)).toMatchObject({ grant_id, application_id: id });
    // Its pending codes have ended for good.
    await fails(latchkey.convert(code), client.CodeNotFoundError, {
      error_code: 'code_not_found',
      status: 400,
    });
  });

  test('AuthenticationError: of a revoked grant, disabled or not', async () => {
    const { id, latchkey, issue } = await application();
    const { grant_id, grant_secret } = await latchkey.convert((await issue()).code);
    await latchkey.revoke(grant_id);
    const members = { error_code: 'credentials_invalid', status: 401 };
    await fails(latchkey.account(grant_secret), client.AuthenticationError, members);
    await operator(server, 'POST', `/applications/${id}/disable`);
    await fails(latchkey.account(grant_secret), client.AuthenticationError, members);
  });

  test('InvalidRequestError: from the service, with what is wrong', async () => {
    const { latchkey } = await application();
    await fails(latchkey.revoke('no-uuid'), client.InvalidRequestError, {
      error_code: 'parameter_invalid',
      status: 400,
      issues: [{ path: ['grant_id'] }],
      error_uri: `${server.url}/docs/errors#parameter_invalid`,
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test("CodeNotFoundError: another application's code, which stays good", async () => {
    const [one, other] = [await application(), await application()];
    const { code } = await one.issue();
    await fails(other.latchkey.convert(code), client.CodeNotFoundError, {
      error_code: 'code_not_found',
      status: 400,
    });
    expect(await one.latchkey.convert(code)).toMatchObject({ revoked: false });
  });

  test('CodeExpiredError: 300 seconds after the issue, and not before', async () => {
    const { latchkey, issue } = await application();
    const [first, second] = [await issue(), await issue()];
    now += 5 * MINUTE - 1;
    expect(await latchkey.convert(first.code)).toMatchObject({ revoked: false });
    now += 1;
    await fails(latchkey.convert(second.code), client.CodeExpiredError, {
      error_code: 'code_expired',
      status: 400,
    });
  });

  test('CodeAlreadyUsedError: with the grant', async () => {
    const { latchkey, issue } = await application();
    const { code, grant_id } = await issue();
    const { grant_secret } = await latchkey.convert(code);
    await fails(latchkey.convert(code), client.CodeAlreadyUsedError, {
      error_code: 'code_already_used',
      status: 400,
      grant_id,
    });
    // The replay changed nothing.
    expect(await latchkey.account(grant_secret)).toMatchObject({ username: 'ada' });
  });

  test("GrantNotFoundError: another application's grant, which stays good", async () => {
    const [one, other] = [await application(), await application()];
    const { grant_id, grant_secret } = await one.latchkey.convert((await one.issue()).code);
    await fails(other.latchkey.revoke(grant_id), client.GrantNotFoundError, {
      error_code: 'grant_not_found',
      status: 404,
    });
    expect(await one.latchkey.account(grant_secret)).toMatchObject({ username: 'ada' });
  });

  test('GrantNotRecoverableError: used before, or 10 minutes after the exchange', async () => {
    const { latchkey, issue } = await application();
    const members = { error_code: 'grant_not_recoverable', status: 409 };
    const used = await latchkey.convert((await issue()).code);
    await latchkey.account(used.grant_secret);
    await fails(latchkey.recover(used.grant_id), client.GrantNotRecoverableError, members);
    expect(await latchkey.account(used.grant_secret)).toMatchObject({ username: 'ada' });

    const unused = await latchkey.convert((await issue()).code);
    now += 10 * MINUTE - 1;
    await latchkey.recover(unused.grant_id);
    now += 1;
    await fails(latchkey.recover(unused.grant_id), client.GrantNotRecoverableError, members);
  });

  test('UnexpectedResponseError: of a baseUrl that leads elsewhere', async () => {
    const { clientAt } = await application();
    const proxy = await startPathProxy(server.url, () => undefined);
    await fails(
      clientAt(proxy.url).revoke('0193aa00-0000-7000-8000-000000000001'),
      client.UnexpectedResponseError,
      { status: 404 },
    );
    await proxy.close();
  });

  test('LatchkeyConfigError: before anything is sent', async () => {
    const make = async () => new Latchkey({ baseUrl: server.url, applicationSecret: '' });
    await fails(make(), client.LatchkeyConfigError, {});
  });

  describe('of a service in trouble', () => {
    let troubled: OpenServer;

    beforeAll(async () => {
      troubled = await start('troubled.db');
      return () => troubled.close();
    });

    test('TimeoutError: no answer in time', async () => {
      const { latchkey, issue } = await application(troubled);
      const { code } = await issue();
      const { store } = troubled.service;
      const { authenticateApplication } = store;
      store.authenticateApplication = () => new Promise(() => {});
      await fails(latchkey.convert(code, { timeoutMs: 20 }), client.TimeoutError, {
        maybe_sent: true,
      });
      store.authenticateApplication = authenticateApplication;
      expect(await latchkey.convert(code)).toMatchObject({ revoked: false });
    });

    test('ServerError: a fault, of which nothing is told', async () => {
      const { latchkey, issue } = await application(troubled);
      const { code } = await issue();
      const { store } = troubled.service;
      const { redeemCode } = store;
      store.redeemCode = () => Promise.reject(new Error('a detail for the log'));
      const error = await fails(latchkey.convert(code), client.ServerError, {
        error_code: 'internal_error',
        status: 500,
      });
      expect(JSON.stringify(error) + error.message + error.stack).not.toContain('a detail');
      store.redeemCode = redeemCode;
      expect(await latchkey.convert(code)).toMatchObject({ revoked: false });
    });

    test('RateLimitedError: too many within the window', async () => {
      const limited = await start('limited.db', { RATE_LIMIT: 'requests=1/30' });
      const { latchkey, issue } = await application(limited);
      const { code } = await issue();
      const grant = await latchkey.convert(code);
      await fails(latchkey.revoke(grant.grant_id), client.RateLimitedError, {
        error_code: 'rate_limited',
        status: 429,
        retry_after: 30,
      });
      now += 30_000;
      expect(await latchkey.revoke(grant.grant_id)).toMatchObject({ revoked: true });
      await limited.close();
    });

    test('UnavailableError: the database does not answer', async () => {
      const { clientAt } = await application(troubled);
      await troubled.service.store.close();
      await fails(
        clientAt(troubled.url, { maxRetries: 0 }).revoke('0193aa00-0000-7000-8000-000000000001'),
        client.UnavailableError,
        { error_code: 'store_unavailable', status: 503, retry_after: 1 },
      );
    });

    test('RightMissingError: a key may not do this', async () => {
      const input = { name: 'Reader', role: 'read' };
      const { secret } = await operator<{ secret: string }>(server, 'POST', '/keys', input);
      const admin = new LatchkeyAdmin({ baseUrl: server.url, adminSecret: secret });
      await fails(admin.applications.create({ name: 'Acme' }), client.RightMissingError, {
        error_code: 'right_missing',
        status: 403,
      });
    });

    test('ConnectionError: nobody listens', async () => {
      const { clientAt } = await application();
      // One that was never called: otherwise there is a connection of old, on which the request
      // may have gone out.
      const gone = await start('gone.db');
      await gone.close();
      const latchkey = clientAt(gone.url, { maxRetries: 0 });
      await fails(latchkey.revoke('0193aa00-0000-7000-8000-000000000001'), client.ConnectionError, {
        maybe_sent: false,
      });
    });
  });

  describe('in a link', () => {
    const redirectUri = 'http://127.0.0.1/callback';
    let linking: TestServer;
    beforeAll(async () => {
      linking = await createTestServer();
    });
    afterAll(() => linking.close());

    /** Begins a link, and finishes it at the address that a user or an attacker comes back with. */
    async function link(comeBack: (url: string) => Promise<string>, scope = 'profile.read') {
      const latchkey = new Latchkey(linking);
      const { url, ...kept } = await latchkey.authorizationUrl({ redirectUri, scope });
      return latchkey.finishLinking(await comeBack(url), { ...kept, redirectUri });
    }
    const changed = async (url: string, name: string, value: string) => {
      const callback = new URL(await linking.approve(url));
      callback.searchParams.set(name, value);
      return callback.href;
    };

    test('LinkDeniedError: the user did not allow it', () =>
      fails(link(linking.deny), client.LinkDeniedError, { error_code: 'access_denied' }));

    test('LinkFailedError: the application may not ask for the scope', () =>
      fails(link(linking.approve, 'posts.write'), client.LinkFailedError, {
        error: 'invalid_scope',
        error_code: 'scope_unknown',
        request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      }));

    test('StateMismatchError: of another link', () =>
      fails(
        link((url) => changed(url, 'state', 'x')),
        client.StateMismatchError,
        {},
      ));

    test('IssuerMismatchError: of another service', () =>
      fails(
        link((url) => changed(url, 'iss', 'https://evil.example')),
        client.IssuerMismatchError,
        {},
      ));
  });

  test('is in one of these tests, but for those that no answer leads to yet', () => {
    const classes = Object.entries(client)
      .filter(
        ([, value]) =>
          Object.getPrototypeOf(value) === LatchkeyError || value === client.TimeoutError,
      )
      .map(([name]) => name);
    const unreachable = [
      'OutcomeUnknownError', // Only a database on a network loses an outcome.
    ];
    expect(classes.sort()).toEqual([...seen, ...unreachable].sort());
  });
});
