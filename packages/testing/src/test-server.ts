import { randomBytes } from 'node:crypto';
import type {
  AccountEntry,
  ClientDocument,
  IssuedCode,
  OperationInput,
  OperationName,
  OperationOutput,
  RevokedGrant,
} from '@latchkey/schema';
import {
  callOperation,
  loadSettings,
  type OperatorOperation,
  openLog,
  startServer,
} from '@latchkey/server/testing';
import { Accounts, type TestAccount } from './accounts.ts';
import { TestClock } from './clock.ts';
import { explainError } from './explain-error.ts';
import { type Failure, Faults } from './faults.ts';
import { openLink } from './open-link.ts';
import { beginLink, type LinkRequestOptions, type TestLink } from './play-application.ts';
import { startOnFreePort } from './start-on-free-port.ts';
import { createTestEvents, DeliveryControl, type TestEvents } from './test-events.ts';

/** The scope and the account that the user authorises. */
export interface CodeRequest {
  /**
   * Space-separated scope tokens (RFC 6749 section 3.3). Default: `profile.read` for a code, and for a
   * link what the application asks for, without what is optional.
   */
  scope?: string;
  /** The user's account, as for {@link TestServer.putAccount}. Default: Ada's. */
  account?: TestAccount;
  /** What the user chose, such as a workspace; `label` is `id` unless it is given. Default: nothing. */
  choice?: { id: string; label?: string };
}

/** The application, and the host whose accounts the service links. */
export interface TestServerOptions {
  /**
   * The redirect URIs of the application. The port of a loopback address does not matter.
   * Default: `http://127.0.0.1/callback` and `http://localhost/callback`.
   */
  redirectUris?: readonly string[];
  /** The scope tokens that the application can ask for. Default: `profile.read`. */
  scopes?: readonly string[];
  /**
   * The sign-in page of the host, for tests of a host. Default: an address where nobody listens, since
   * {@link TestServer.approve} and {@link TestServer.deny} need no page.
   */
  signInUrl?: string;
}

/** Documents of applications, whose addresses are their `client_id`. */
export interface TestDocuments {
  /**
   * Pins the document of an application, which is then used without a fetch, in the place of an earlier one.
   *
   * @param input - the address, and what the application says of itself there
   * @returns what counts of the document
   * @throws Error if a member breaks a rule; the message says which
   *
   * @example
   * ```ts
   * const client_id = 'https://app.example/client.json';
   * await server.documents.pin({
   *   document_uri: client_id,
   *   document: { client_id, client_name: 'Acme', redirect_uris: ['http://127.0.0.1/callback'] },
   * });
   * ```
   */
  pin(input: OperationInput<'admin.documents.pin'>): Promise<ClientDocument>;

  /**
   * Unpins a document. Its address is unknown from then on.
   *
   * @param input - the address
   * @returns the document as it was
   * @throws Error if none is pinned there
   *
   * @example
   * ```ts
   * await server.documents.unpin({ document_uri: 'https://app.example/client.json' });
   * ```
   */
  unpin(input: OperationInput<'admin.documents.unpin'>): Promise<ClientDocument>;

  /**
   * Lists the documents that are pinned, and those that are kept since a user approved their application.
   *
   * @param input - whether they are pinned. Default: both
   * @returns up to 100 documents, by their address
   *
   * @example
   * ```ts
   * const [document] = await server.documents.list({ pinned: true });
   * ```
   */
  list(input?: { pinned?: boolean }): Promise<ClientDocument[]>;
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
   * The ADMIN_SECRET of the server, for tests of a host. Not enumerable, so that a copy of the server
   * has the options of an application alone.
   */
  readonly adminSecret: string;
  /** The documents of applications that nobody registered. Only those that are pinned here are taken. Not enumerable. */
  readonly documents: TestDocuments;
  /** The messages to endpoints of the test, which tell what happens. Not enumerable either. */
  readonly events: TestEvents;

  /**
   * Issues a code to the application, as the service does when a user authorises the application. It
   * works once, for 300 seconds of this server's clock.
   *
   * @param request - the scope, the user's account, and the registered resource that the grant is for,
   *   by default none
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
  issueCode(request?: CodeRequest & { resource?: string }): Promise<IssuedCode>;

  /**
   * Acts as the user whom your application sends to the service: follows the address, signs in, and
   * allows the link.
   *
   * @param url - the address that your application redirected the browser to
   * @param request - the user's account, and the part of the scope and the optional scope that is allowed, by
   *   default all of the scope
   * @returns the address that the browser returns to in your application. If the service refuses the
   *   request, for example because the application can't ask for the scope, it has an `error`
   * @throws Error if the service shows an error page, such as for a redirect URI that is not registered
   *
   * @example
   * ```ts
   * const { url, ...kept } = await latchkey.authorizationUrl({ redirectUri, scope: 'profile.read' });
   * const callbackUrl = await server.approve(url);
   * const grant = await latchkey.finishLinking(callbackUrl, { ...kept, redirectUri });
   * ```
   */
  approve(url: string | URL, request?: CodeRequest): Promise<string>;

  /**
   * Acts as a user who does not want to link an account: follows the address, and denies the link.
   *
   * @param url - the address that your application redirected the browser to
   * @returns the address that the browser returns to in your application
   * @throws Error if the service shows an error page
   *
   * @example
   * ```ts
   * const callbackUrl = await server.deny(url);
   * await latchkey.finishLinking(callbackUrl, { ...kept, redirectUri }); // rejects with LinkDeniedError
   * ```
   */
  deny(url: string | URL): Promise<string>;

  /**
   * Acts as the application whose user presses "Connect your account", for tests of a host. It needs
   * the option `signInUrl`.
   *
   * @param request - what the application asks for
   * @returns the address at your host, and a function that goes on from there
   * @throws Error if the service refuses the request; the message says why
   *
   * @example
   * ```ts
   * const link = await server.beginLink({ scope: 'profile.read' });
   * const response = await fetch(link.signInUrl, { redirect: 'manual', headers: { cookie: 'session=1' } });
   * const { grant } = await link.finish(response.headers.get('Location'));
   * ```
   */
  beginLink(request?: LinkRequestOptions): Promise<TestLink>;

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
  putAccount(account?: TestAccount): Promise<AccountEntry>;

  /**
   * Revokes a grant on the service's side, as when the user unlinks the application there.
   *
   * @param grant_id - the id of the grant, which `issueCode` returned with the code
   * @returns the revoked grant
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
   * Enables the application again. Its secret and grants work as before. Links and codes
   * from before do not.
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
  // Gets a port when it is known.
  PUBLIC_URL: 'http://127.0.0.1',
  DATABASE_URL: 'file::memory:',
  LOG_LEVEL: 'silent',
  // With a clock that stands still, the window of a limit would never end.
  RATE_LIMIT: 'off',
  SHUTDOWN_SECONDS: '0',
  // For the tests of a client that registers itself.
  CLIENT_REGISTRATION: 'on',
  // The endpoints of a test are in its own process.
  OUTBOUND_ALLOW: 'private,http',
  // A name that leads nowhere. What is pinned is taken, too.
  CLIENT_DOCUMENTS: 'documents.invalid',
};

// The lifetime of a code.
const CODE_MILLISECONDS = 300_000;

const LOOPBACK = ['http://127.0.0.1/callback', 'http://localhost/callback'];

/**
 * Starts the service in this process: on a free port of 127.0.0.1, with an in-memory store and one
 * application. Any number of servers can run at the same time; they share nothing.
 *
 * @param options - the application and the host
 * @returns the running server
 * @throws Error if an option is not valid; the message says what is valid
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
export async function createTestServer({
  redirectUris = LOOPBACK,
  scopes = ['profile.read'],
  signInUrl = 'http://127.0.0.1/sign-in',
}: TestServerOptions = {}): Promise<TestServer> {
  const clock = new TestClock();
  const faults = new Faults();
  const accounts = new Accounts();
  const adminSecret = randomBytes(32).toString('base64url');
  const deliveries = new DeliveryControl();
  const settings = loadSettings({
    ...SETTINGS,
    ADMIN_SECRET: adminSecret,
    EVENTS_KEY: randomBytes(32).toString('base64url'),
    SIGN_IN_URL: signInUrl,
  });
  const log = openLog(settings);
  const server = await startOnFreePort((port) =>
    startServer({ ...settings, port, publicUrl: `http://127.0.0.1:${port}` }, log.log, {
      clock: clock.now,
      monotonic: clock.now,
      intercept: faults.intercept,
      delivery: deliveries.settings,
    }),
  );
  const { url: baseUrl } = server;

  let closing: Promise<void> | undefined;
  function close(): Promise<void> {
    closing ??= server.close().then(() => {
      deliveries.end();
      return log.close();
    });
    return closing;
  }

  function refuseIfClosed(): void {
    if (closing) throw new Error('This test server is closed. Start another one.');
  }

  async function operator<Name extends OperatorOperation>(
    name: Name,
    input: OperationInput<Name>,
  ): Promise<OperationOutput<Name>> {
    refuseIfClosed();
    try {
      return await callOperation(server.service, name, input);
    } catch (error) {
      throw explainError(error);
    }
  }

  async function createApplication() {
    for (const scope of scopes) await operator('admin.scopes.put', { scope, title: scope });
    const redirect_uris = [...redirectUris];
    return operator('admin.applications.create', { name: 'Test', redirect_uris });
  }

  const application = await createApplication().catch(async (error) => {
    await close();
    throw error;
  });
  const { id: application_id } = application;
  let codesExpireAt = clock.now();

  async function putAccount(account?: TestAccount): Promise<AccountEntry> {
    const { id: account_id, ...members } = accounts.complete(account);
    const put = await operator('admin.accounts.put', { account_id, ...members });
    accounts.keep(put);
    return put;
  }

  /** Follows an address, and decides the link request that it leads to, if any. */
  async function follow(
    url: string | URL,
    decide: (link: string) => Promise<{ redirect_to: string }>,
  ): Promise<string> {
    const opened = await openLink(url, { baseUrl, signInUrl });
    return 'link' in opened ? (await decide(opened.link)).redirect_to : opened.callbackUrl;
  }

  const events = createTestEvents(deliveries, {
    application_id,
    operator,
    refuseIfClosed,
    async makeDeliveries() {
      while (await server.service.store.makeDeliveries(clock.now())) {}
    },
  });
  const documents: TestDocuments = {
    pin: (input) => operator('admin.documents.pin', input),
    unpin: (input) => operator('admin.documents.unpin', input),
    list: async (input = {}) =>
      (await operator('admin.documents.list', { ...input, limit: 100 })).data,
  };
  const testServer: Omit<TestServer, 'adminSecret' | 'documents' | 'events'> = {
    baseUrl,
    applicationSecret: application.secret as string,
    async issueCode({ scope = 'profile.read', account, resource, choice } = {}) {
      const { id: account_id } = await putAccount(account);
      const code = { application_id, account_id, scope, resource, choice };
      const issued = await operator('admin.codes.issue', code);
      codesExpireAt = Math.max(codesExpireAt, Date.parse(issued.expires_at));
      return issued;
    },
    approve: (url, { scope, account, choice } = {}) =>
      follow(url, async (link) => {
        const { id: account_id } = await putAccount(account);
        const approval = { link, account_id, scope, choice };
        const approved = await operator('admin.links.approve', approval);
        codesExpireAt = Math.max(codesExpireAt, clock.now() + CODE_MILLISECONDS);
        return approved;
      }),
    deny: (url) => follow(url, (link) => operator('admin.links.deny', { link })),
    beginLink(request = {}) {
      const [redirectUri = ''] = redirectUris;
      const secret = application.secret as string;
      const as = { id: application_id, secret, redirectUri };
      return beginLink({ baseUrl, signInUrl }, as, request);
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
  const notEnumerable = {
    adminSecret: { value: adminSecret },
    documents: { value: documents },
    events: { value: events },
  };
  return Object.defineProperties(testServer, notEnumerable) as TestServer;
}
