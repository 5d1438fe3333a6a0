// A user's program. It is compiled with each TypeScript version and module system that the package
// supports, and run. Links and unlinks an account at LATCHKEY_URL, as the application of
// LATCHKEY_APPLICATION_SECRET, with LATCHKEY_CODE, and then in two redirects, as the host of
// LATCHKEY_ADMIN_SECRET. Prints the results without secrets, and fails if one is wrong.

import {
  type Account,
  AuthenticationError,
  CodeAlreadyUsedError,
  type FullGrant,
  type GrantDescription,
  InvalidRequestError,
  isLatchkeyError,
  Latchkey,
  LatchkeyConfigError,
  LatchkeyError,
  type LatchkeyOptions,
  type Logger,
  type RevokedGrant,
  type WithResponse,
} from '@latchkey/client';
import { LatchkeyAdmin, type LinkRedirect } from '@latchkey/client/admin';
import {
  EventSignatureError,
  type EventsOptions,
  expressEvents,
  fastifyEvents,
  fetchEvents,
  honoEvents,
  type LatchkeyEvent,
  verifyEvent,
} from '@latchkey/client/events';
import {
  expressGuard,
  fastifyGuard,
  GrantRequiredError,
  type GuardOptions,
  grantOf,
  honoGuard,
  latchkeyVerifier,
  protectedResource,
  protectedResourceResponse,
  requireGrant,
  withGrant,
} from '@latchkey/client/guards';

import {
  accountIdOf,
  expressHost,
  fastifyHost,
  fetchHost,
  type HostOptions,
  honoHost,
} from '@latchkey/client/host';
import {
  expressLinking,
  fastifyLinking,
  fetchLinking,
  honoLinking,
  type LinkingOptions,
} from '@latchkey/client/linking';

// This project has no @types/node.
declare const process: { env: Record<string, string | undefined>; exitCode?: number };
declare const console: { log(text: string): void; error(value: unknown): void };

function env(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set.`);
  return value;
}

function expect(condition: boolean, promise: string): void {
  if (!condition) throw new Error(`Not so: ${promise}`);
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('It must reject.');
}

async function main(): Promise<void> {
  // The client reads the address and the secret from the environment.
  const requests: string[] = [];
  const logger: Logger = {
    debug: ({ operation }, message) => requests.push(`${operation} ${message}`),
    warn: () => {},
  };
  const options: LatchkeyOptions = {
    timeoutMs: 5_000,
    maxRetries: 1,
    fetch: (url, init) => {
      expect(/^acme\/1 latchkey-client\/\d/.test(init.headers['user-agent'] ?? ''), 'its names');
      return globalThis.fetch(url, init);
    },
    logger,
    userAgent: 'acme/1',
  };
  const latchkey = new Latchkey(options);
  const { signal } = new AbortController();
  const code = env('LATCHKEY_CODE');

  const grant: FullGrant = await latchkey.convert(code, {
    signal,
    timeoutMs: 5_000,
    recoverLostAnswer: true,
  });
  const secret: string = grant.grant_secret;
  const account: WithResponse<Account> = await latchkey.account(secret, { signal });
  expect(typeof account.request_id === 'string', 'a result knows its request');
  expect(account.response?.status === 200, 'and its response');
  const type = account.response?.headers.get('content-type');
  expect(type?.startsWith('application/json') === true, 'with its headers');
  expect(requests.length === 2, 'the logger is told of each request');
  expect(account.id === grant.account.id, 'the account is the one of the grant');
  const description: GrantDescription = await latchkey.grant(secret);
  expect(description.grant_id === grant.grant_id, 'the secret is the one of the grant');
  expect(!('grant_secret' in description), 'a grant does not tell its secret again');
  // @ts-expect-error and neither does its type
  description.grant_secret;

  // A server without an application secret can use the guard.
  const asking = new Latchkey({ ...options, applicationSecret: null });
  const guarded: GuardOptions = { latchkey: asking, scope: grant.scope };
  const request = new Request('https://api.example', {
    headers: { authorization: `Bearer ${secret}` },
  });
  const owner: GrantDescription = await requireGrant(request, guarded);
  expect(owner.account.id === account.id, 'a guard knows whose grant it is');
  const handler = withGrant(guarded, (_request, { grant_id }) => new Response(grant_id));
  expect((await (await handler(request)).text()) === grant.grant_id, 'a handler gets the grant');
  const response = { writeHead: () => ({ end: () => expect(false, 'nothing is refused') }) };
  await expressGuard(guarded)(request, response, () => {});
  expect(grantOf(request).grant_id === grant.grant_id, 'a guard notes the grant');
  const reply = { code: () => {}, headers: () => {}, send: () => expect(false, 'likewise') };
  await fastifyGuard(guarded)(request, reply);
  await honoGuard(guarded)({ req: { raw: request } }, async () => {});
  const lacking = await rejection(requireGrant(request, { latchkey: asking, scope: 'none.such' }));
  expect(lacking instanceof GrantRequiredError && lacking.status === 403, 'scopes are checked');

  const resource = 'https://mcp.example/mcp';
  const foreign = await rejection(requireGrant(request, { ...guarded, resource }));
  expect(foreign instanceof GrantRequiredError && foreign.status === 401, 'so are resources');
  const described = { resource, authorizationServer: 'https://link.example' };
  const next = (): void => {};
  protectedResource(described)({ headers: {} }, response, next);
  expect(protectedResourceResponse(described)(request) === undefined, 'others are left alone');
  class InvalidTokenError extends Error {}
  const verifier = latchkeyVerifier({ latchkey: asking, resource, InvalidTokenError });
  const unverified = await rejection(verifier.verifyAccessToken(secret));
  expect(unverified instanceof InvalidTokenError, 'and for the MCP SDK');

  async function linkAgain() {
    await latchkey.convert(code, { maxRetries: 0 });
  }
  const again = await rejection(linkAgain());
  expect(again instanceof CodeAlreadyUsedError, 'a code works once');
  if (again instanceof CodeAlreadyUsedError) {
    const grantId: string = again.grant_id;
    expect(grantId === grant.grant_id, 'a replay names the grant');
    const [, first = '', ...frames] = again.stack?.split('\n    at ') ?? [];
    expect(/linkAgain.*program\.[mc]js/.test(first), 'a stack begins with the caller');
    expect(frames.length > 0 && !again.stack?.includes('@latchkey'), 'and has nothing of ours');
    expect(again.status === 400 && again.error_code === 'code_already_used', 'its code');
    expect(typeof again.request_id === 'string', 'an error names its request');
    expect(again.response?.status === 400, 'an error has its response');
  }

  const revoked: RevokedGrant = await latchkey.revoke(grant.grant_id);
  const repeated = await latchkey.revoke(grant.grant_id);
  expect(JSON.stringify(revoked) === JSON.stringify(repeated), 'to revoke is idempotent');
  const refused = await rejection(latchkey.account(secret));
  expect(refused instanceof AuthenticationError, 'a revoked grant is refused');
  const kept = await rejection(requireGrant(request, guarded));
  expect(kept instanceof GrantRequiredError && kept.status === 401, 'and by a guard');
  expect(refused instanceof LatchkeyError && isLatchkeyError(refused), 'one class for them all');

  // A union, so that a switch is checked.
  if (isLatchkeyError(again)) {
    switch (again.name) {
      case 'CodeAlreadyUsedError':
        expect(again.grant_id === grant.grant_id, 'the name narrows the type');
        break;
      // @ts-expect-error there is no such name
      case 'CodeUsedError':
        break;
    }
  }

  try {
    new Latchkey({ ...options, applicationSecret: secret });
    expect(false, 'a grant secret is no application secret');
  } catch (error) {
    expect(error instanceof LatchkeyConfigError, 'a wrong option has a class of its own');
  }

  await receiveEvents();
  await linkInBrowser(latchkey, account.id);
  console.log(JSON.stringify({ grant_id: grant.grant_id, account: account.id, revoked: true }));
}

async function receiveEvents(): Promise<void> {
  const secret = `whsec_${'A'.repeat(43)}=`;
  const options: EventsOptions = {
    secret,
    on: { 'grant.revoked': ({ grant_id, reason }) => `${grant_id} ${reason}` },
  };
  const request = new Request('http://localhost:4000/events', { method: 'POST', body: '{}' });
  const response: Response = await fetchEvents(options)(request.clone());
  expect(response.status === 400, 'a message that nobody signed is refused');
  for (const receiver of [expressEvents, fastifyEvents, honoEvents]) receiver(options);
  const event: Promise<LatchkeyEvent> = verifyEvent('{}', request.headers, secret);
  const forged = await rejection(event);
  expect(forged instanceof EventSignatureError, 'and by verifyEvent');
}

async function linkInBrowser(latchkey: Latchkey, account_id: string): Promise<void> {
  const admin = new LatchkeyAdmin({ timeoutMs: 5_000 });
  const redirectUri = 'http://localhost:4000/callback';
  const { data } = await admin.applications.list({ limit: 100 });
  for (const { id: application_id } of data) {
    await admin.applications.update({ application_id, redirect_uris: [redirectUri] });
  }
  await admin.scopes.put({ scope: 'profile.read', title: 'Read your profile' });

  const grants: FullGrant[] = [];
  const common = { latchkey, redirectUri, scope: 'profile.read' };
  const options: LinkingOptions<Request> = {
    ...common,
    onLinked: (grant) => void grants.push(grant),
    onFailed: (error) => `/failed?why=${error.name}`,
  };
  const { connect, callback } = fetchLinking(options);
  // The other frameworks' handlers, with what middleware adds to their requests.
  expressLinking({ ...common, userOf: (request) => request.session.user, onLinked: () => '/' });
  fastifyLinking({ ...common, userOf: (request) => request.session.user, onLinked: () => '/' });
  honoLinking({ ...common, userOf: (context) => context.get('user'), onLinked: () => '/' });

  const account = { account_id, username: 'ada' };
  const ofEach = {
    admin,
    signInUrl: 'http://localhost:4001/link',
    signInPage: (next: string) => `/sign-in?next=${next}`,
  };
  const hostOptions: HostOptions<Request> = {
    ...ofEach,
    accountOf: () => account,
    choice: ({ username }) => ({ title: `Which one, ${username}?`, options: [{ id: 'a' }] }),
  };
  const host = fetchHost(hostOptions);
  expressHost({ ...ofEach, accountOf: (request) => request.session.account });
  fastifyHost({ ...ofEach, accountOf: (request) => request.session.account });
  honoHost({ ...ofEach, accountOf: (context) => context.get('account') });
  const lost = await host.handOff(new Request('http://localhost:4001/link?link=undefined'));
  expect(lost.status === 404, 'a link that does not exist is a dead end');
  const own = await accountIdOf(account_id, '42');
  expect(own[14] === '5', 'a host can make a UUID of its own id');

  const begun: Response = await connect(new Request('http://localhost:4000/connect'));
  // The service is not at its public URL here.
  const location = begun.headers.get('Location') ?? '';
  const address = location.replace(env('LATCHKEY_PUBLIC_URL'), env('LATCHKEY_URL'));
  const asked = await fetch(address, { redirect: 'manual' });
  const link = new URL(asked.headers.get('Location') ?? '').searchParams.get('link') ?? '';
  const { redirect_to }: LinkRedirect = await admin.links.approve({ link, account_id });
  const headers = { cookie: begun.headers.get('Set-Cookie') ?? '' };
  await callback(new Request(redirect_to, { headers }));
  expect(grants.length === 1, 'a link in the browser ends with a grant');
  const [{ grant_secret } = { grant_secret: '' }] = grants;
  const token = await latchkey.introspect(grant_secret);
  expect(token.active && token.sub === account_id, 'of the account that the host approved');
  await latchkey.revokeToken(grant_secret);

  const failed = await callback(new Request(redirect_to));
  const why = failed.headers.get('Location') ?? '';
  expect(why.endsWith('/failed?why=StateMismatchError'), 'a callback belongs to a browser');
  const decided = await rejection(admin.links.deny({ link }));
  expect(decided instanceof InvalidRequestError, 'the errors of both clients are the same');
  if (decided instanceof InvalidRequestError) {
    expect(decided.link_status === 'approved', 'a decision is final');
  }
  // @ts-expect-error an account is required
  await rejection(admin.links.identify({ link }));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
