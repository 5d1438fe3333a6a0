import type {
  Account,
  IssuedCode,
  OperationInput,
  OperationName,
  OperationOutput,
  RevokedGrant,
} from '@latchkey/schema';
import {
  callOperation,
  createLog,
  loadSettings,
  type OperatorOperation,
  startServer,
} from '@latchkey/server';
import { Accounts, type TestAccount } from './accounts.ts';
import { TestClock } from './clock.ts';
import { type Failure, Faults } from './faults.ts';
import { mistake } from './mistake.ts';

/** What a user allows. */
export interface CodeRequest {
  /** Space-separated scope tokens (RFC 6749 section 3.3). Default: `profile.read`. */
  scope?: string;
  /** Whose account, as for {@link TestServer.putAccount}. Default: Ada's. */
  account?: TestAccount;
}

/**
 * The service, as a test of yours sees it. It has the options that a client of it needs, by their
 * names: `new Latchkey(server)`.
 */
export interface TestServer extends AsyncDisposable {
  /** Where it listens: `http://127.0.0.1:` and a free port, without a slash at the end. */
  readonly baseUrl: string;
  /** The secret of the one application it has, `lk_app_…`. */
  readonly applicationSecret: string;

  /**
   * Issues a code to the application, as the service does when a user allows it. It is good once,
   * for 300 seconds of this server's clock.
   *
   * @param request - which scope, and whose account
   * @returns the code, and the id of the grant that it becomes
   * @throws Error where the scope or the account is not valid; the message says what it should be
   *
   * @example
   * ```ts
   * const { code } = await server.issueCode({
   *   scope: 'profile.read photos.read',
   *   account: { username: 'bob' },
   * });
   * ```
   */
  issueCode(request?: CodeRequest): Promise<IssuedCode>;

  /**
   * Makes an account, or changes it. What is not given stays as it is. A new account is Ada's
   * (`ada`, `Ada Lovelace`, verified) unless it has a username; then its other members are those
   * that the service gives. An account is found by its `id`, or else by its `username`.
   *
   * @param account - what is to be so
   * @returns the account as it is now
   * @throws Error where a member is not valid; the message says what it should be
   *
   * @example
   * ```ts
   * await server.putAccount({ username: 'ada', display_name: 'Ada King' });
   * ```
   */
  putAccount(account?: TestAccount): Promise<Account>;

  /**
   * Ends a grant from the service's side, as when the user unlinks the application there.
   *
   * @param grant_id - that of the grant, and of the code that it was
   * @returns what remains of it
   * @throws Error where there is no such grant, or its code was not exchanged yet
   *
   * @example
   * ```ts
   * const { grant_id, grant_secret } = await latchkey.convert(code);
   * await server.revoke(grant_id);
   * await latchkey.account(grant_secret); // rejects with AuthenticationError
   * ```
   */
  revoke(grant_id: string): Promise<RevokedGrant>;

  /**
   * What the server's clock says, in milliseconds. It starts at the present time.
   *
   * @returns milliseconds since 1970
   *
   * @example
   * ```ts
   * const { expires_at } = await server.issueCode();
   * const secondsLeft = (Date.parse(expires_at) - server.now()) / 1_000;
   * ```
   */
  now(): number;

  /**
   * Moves the clock on. It stands still otherwise.
   *
   * @param milliseconds - a whole number of milliseconds, 0 or more
   * @throws RangeError for anything else
   *
   * @example
   * ```ts
   * server.advance(600_000); // now no grant can be recovered any more
   * ```
   */
  advance(milliseconds: number): void;

  /**
   * Moves the clock to where every code issued so far has expired; not at all if it is there.
   *
   * @example
   * ```ts
   * const { code } = await server.issueCode();
   * server.expire();
   * await latchkey.convert(code); // rejects with CodeExpiredError
   * ```
   */
  expire(): void;

  /**
   * Loses an answer: the server does what the next call asks for, then breaks the connection. Each
   * use is for one call. A call that the server refuses before it looks at what is asked (a wrong
   * secret, a malformed input) is not counted.
   *
   * @param operation - which call, on either wire: `grants.convert`, `account.get`, …; any by default
   *
   * @example
   * ```ts
   * server.dropNextAnswer('grants.convert');
   * const grant = await latchkey.convert(code, { recoverLostAnswer: true });
   * ```
   */
  dropNextAnswer(operation?: OperationName): void;

  /**
   * Lets a call fail without anything being done, with a `Retry-After` of one second. Each use is
   * for one call, counted as for {@link TestServer.dropNextAnswer}.
   *
   * @param failure - the `error_code` of the answer
   * @param operation - which call; any by default
   *
   * @example
   * ```ts
   * server.failNext('store_unavailable', 'grants.revoke');
   * await latchkey.revoke(grantId); // waits a second, and tries again
   * ```
   */
  failNext(failure: Failure, operation?: OperationName): void;

  /**
   * Stops the server, and cuts off what is under way. Nothing is left of its data. `await using`
   * does it by itself; a second time does nothing.
   *
   * @example
   * ```ts
   * import { after } from 'node:test';
   *
   * after(() => server.close());
   * ```
   */
  close(): Promise<void>;
}

const SETTINGS = {
  HOST: '127.0.0.1',
  PORT: '0',
  DATABASE_URL: 'file::memory:',
  LOG_LEVEL: 'silent',
  // Under a clock that stands still a limit's window would never end.
  RATE_LIMIT: 'off',
  SHUTDOWN_SECONDS: '0',
};

/**
 * Starts the service in this process, on a free port of 127.0.0.1, on a store in memory, with one
 * application. Any number may run beside each other; they share nothing.
 *
 * @returns the server, which listens
 *
 * @example
 * ```ts
 * import { Latchkey } from '@latchkey/client';
 * import { createTestServer } from '@latchkey/testing';
 *
 * await using server = await createTestServer();
 * const latchkey = new Latchkey(server);
 * const { code } = await server.issueCode();
 * const grant = await latchkey.convert(code);
 * ```
 */
export async function createTestServer(): Promise<TestServer> {
  const clock = new TestClock();
  const faults = new Faults();
  const accounts = new Accounts();
  const settings = loadSettings(SETTINGS);
  const log = createLog(settings);
  const server = await startServer(settings, log.log, {
    clock: clock.now,
    intercept: faults.intercept,
  });

  let closing: Promise<void> | undefined;
  function close(): Promise<void> {
    closing ??= server.close().then(() => log.close());
    return closing;
  }

  async function operator<Name extends OperatorOperation>(
    name: Name,
    input: OperationInput<Name>,
  ): Promise<OperationOutput<Name>> {
    if (closing) throw new Error('This test server is closed. Start another one.');
    try {
      return await callOperation(server.service, name, input);
    } catch (failure) {
      throw mistake(failure);
    }
  }

  const application = await operator('admin.applications.create', { name: 'Test' });
  let codesExpireAt = clock.now();

  async function putAccount(account?: TestAccount): Promise<Account> {
    const { id: account_id, ...members } = accounts.complete(account);
    const put = await operator('admin.accounts.put', { account_id, ...members });
    accounts.keep(put);
    return put;
  }

  return {
    baseUrl: server.url,
    applicationSecret: application.secret,
    async issueCode({ scope = 'profile.read', account } = {}) {
      const { id: account_id } = await putAccount(account);
      const about = { application_id: application.id, account_id, scope };
      const issued = await operator('admin.codes.issue', about);
      codesExpireAt = Math.max(codesExpireAt, Date.parse(issued.expires_at));
      return issued;
    },
    putAccount,
    revoke: (grant_id) => operator('admin.grants.revoke', { grant_id }),
    now: clock.now,
    advance: (milliseconds) => clock.advance(milliseconds),
    expire: () => clock.advance(Math.max(0, codesExpireAt - clock.now())),
    dropNextAnswer: (operation) => faults.dropAnswer(operation),
    failNext: (failure, operation) => faults.fail(failure, operation),
    close,
    [Symbol.asyncDispose]: close,
  };
}
