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
import { explainError } from './explain-error.ts';
import { type Failure, Faults } from './faults.ts';

/** What the user authorises. */
export interface CodeRequest {
  /** Space-separated scope tokens (RFC 6749 section 3.3). Default: `profile.read`. */
  scope?: string;
  /** The user's account, as for {@link TestServer.putAccount}. Default: Ada's. */
  account?: TestAccount;
}

/**
 * A running service, controlled by a test. Its members include the options that a client needs:
 * `new Latchkey(server)`.
 */
export interface TestServer extends AsyncDisposable {
  /** URL of the server: `http://127.0.0.1:` and a free port, without a trailing slash. */
  readonly baseUrl: string;
  /** The secret of the server's one application, `lk_app_…`. */
  readonly applicationSecret: string;

  /**
   * Issues a code to the application, as the service does when a user authorises the application. It
   * works once, for 300 seconds of this server's clock.
   *
   * @param request - the scope and the user's account
   * @returns the code, and the id of the grant that it can be converted into
   * @throws Error if the scope or the account is not valid; the message says what is valid
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
   * Creates or changes an account. It is found by its `id`, or without one by its `username`. Members
   * that are not given keep their values. A new account without a `username` is Ada's (`ada`,
   * `Ada Lovelace`, verified). A new account with another `username` has the service's defaults.
   *
   * @param account - the members to set
   * @returns the account as it is now
   * @throws Error if a member is not valid; the message says what is valid
   *
   * @example
   * ```ts
   * await server.putAccount({ username: 'ada', display_name: 'Ada King' });
   * ```
   */
  putAccount(account?: TestAccount): Promise<Account>;

  /**
   * Revokes a grant on the service's side, as when the user unlinks the application there.
   *
   * @param grant_id - the id of the grant, which `issueCode` returned with the code
   * @returns what remains of the grant
   * @throws Error if there is no such grant, or its code was not converted yet
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
   * Disables the application, as the operator of the service does. Until {@link TestServer.enable}, every
   * call with its secret or one of its grants is refused with `application_disabled`, and does nothing.
   *
   * @example
   * ```ts
   * await server.disable();
   * await latchkey.account(grantSecret); // rejects with ApplicationDisabledError
   * ```
   */
  disable(): Promise<void>;

  /**
   * Enables the application again. Its secret, grants and codes work as before.
   *
   * @example
   * ```ts
   * await server.enable();
   * await latchkey.account(grantSecret);
   * ```
   */
  enable(): Promise<void>;

  /**
   * The time of the server's clock, in milliseconds. The clock starts at the current time.
   *
   * @returns milliseconds since the Unix epoch
   *
   * @example
   * ```ts
   * const { expires_at } = await server.issueCode();
   * const secondsLeft = (Date.parse(expires_at) - server.now()) / 1_000;
   * ```
   */
  now(): number;

  /**
   * Moves the clock forward. Otherwise it stands still.
   *
   * @param milliseconds - the number of milliseconds, an integer of 0 or more
   * @throws RangeError for anything else
   *
   * @example
   * ```ts
   * server.advance(600_000); // too late to recover any grant made so far
   * ```
   */
  advance(milliseconds: number): void;

  /**
   * Moves the clock to the time when every code issued so far has expired. If they all have, the clock
   * stays.
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
   * Loses a response: the server carries out the next call, then breaks the connection. Each use
   * applies to one call. Calls with a wrong secret or malformed input are refused earlier and do not
   * count.
   *
   * @param operation - which call, over REST or tRPC: `grants.convert`, `account.get`, …; by default
   *   the next call of any operation
   *
   * @example
   * ```ts
   * server.dropNextAnswer('grants.convert');
   * const grant = await latchkey.convert(code, { recoverLostAnswer: true });
   * ```
   */
  dropNextAnswer(operation?: OperationName): void;

  /**
   * Makes the next call fail, with a `Retry-After` of one second. The server does nothing for the call.
   * Each use applies to one call, chosen as for {@link TestServer.dropNextAnswer}.
   *
   * @param failure - the `error_code` of the response
   * @param operation - which call; by default the next call of any operation
   *
   * @example
   * ```ts
   * server.failNext('store_unavailable', 'grants.revoke');
   * await latchkey.revoke(grantId); // waits a second, then retries
   * ```
   */
  failNext(failure: Failure, operation?: OperationName): void;

  /**
   * Stops the server, aborts its open requests and discards its data. `await using` does this
   * automatically. A second call does nothing.
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
  // With a clock that stands still, the window of a limit would never end.
  RATE_LIMIT: 'off',
  SHUTDOWN_SECONDS: '0',
};

/**
 * Starts the service in this process: on a free port of 127.0.0.1, with an in-memory store and one
 * application. Any number of servers can run at the same time; they share nothing.
 *
 * @returns the running server
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
    } catch (error) {
      throw explainError(error);
    }
  }

  const application = await operator('admin.applications.create', { name: 'Test' });
  const { id: application_id } = application;
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
      const code = { application_id, account_id, scope };
      const issued = await operator('admin.codes.issue', code);
      codesExpireAt = Math.max(codesExpireAt, Date.parse(issued.expires_at));
      return issued;
    },
    putAccount,
    revoke: (grant_id) => operator('admin.grants.revoke', { grant_id }),
    async disable() {
      await operator('admin.applications.disable', { application_id });
    },
    async enable() {
      await operator('admin.applications.enable', { application_id });
    },
    now: clock.now,
    advance: (milliseconds) => clock.advance(milliseconds),
    expire: () => clock.advance(Math.max(0, codesExpireAt - clock.now())),
    dropNextAnswer: (operation) => faults.dropAnswer(operation),
    failNext: (failure, operation) => faults.fail(failure, operation),
    close,
    [Symbol.asyncDispose]: close,
  };
}
