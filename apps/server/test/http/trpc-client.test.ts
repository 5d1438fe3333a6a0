import { noLimits } from '@latchkey/rules/limits/limits';
import type { AppRouter } from '@latchkey/schema/trpc';
import {
  createTRPCClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  isTRPCClientError,
} from '@trpc/client';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { beforeAll, expect, test } from 'vitest';
import { appRouter } from '../../src/http/trpc/router.ts';
import { call } from '../../src/operations/call.ts';
import { type Operation, operations } from '../../src/operations/operation.ts';
import { requestOf, send } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import {
  ADA,
  asBasic,
  asBearer,
  type LinkedApplication,
  linkedApplication,
} from './linked-application.ts';
import { operator, useServer } from './running-server.ts';

const links = { httpLink, httpBatchLink };

describeOnAnyStore('the client of tRPC', (fresh) => {
  const server = useServer(fresh);
  let linked: LinkedApplication;
  beforeAll(async () => {
    linked = await linkedApplication(server);
  });

  for (const [name, link] of Object.entries(links)) {
    const client = (authorization: string, options: { methodOverride?: 'POST' } = {}) =>
      createTRPCClient<AppRouter>({
        links: [link({ url: `${server.url}/trpc`, headers: { authorization }, ...options })],
      });

    test(`calls mutations and queries through ${name}`, async () => {
      const { code, grant_id } = await linked.issue();
      const application = client(linked.bearer);
      const grant = await application.grants.convert.mutate({ code });
      expect(grant).toMatchObject({ grant_id, revoked: false });
      for (const as of [asBearer(grant), asBasic(grant)]) {
        const [account, described] = await Promise.all([
          client(as).account.get.query(),
          client(as).account.grant.query(),
        ]);
        expect(account.username).toBe(ADA.username);
        expect(described.scope).toBe(grant.scope);
      }
      const list = await client(operator).admin.applications.list.query({ limit: 1 });
      expect(list.data).toHaveLength(1);
      expect(await application.grants.revoke.mutate({ grant_id })).toMatchObject({
        revoked: true,
      });
    });

    test(`gets the whole error through ${name}`, async () => {
      const call = client(linked.bearer).grants.revoke.mutate({ grant_id: linked.account_id });
      const error = await call.catch((failure: unknown) => failure);
      if (!isTRPCClientError<AppRouter>(error)) throw new Error('This is another error.');
      expect(error.message).toMatch(/^This application has no grant/);
      expect(error.data?.error_code).toBe('grant_not_found');
      expect(error.data).toEqual({
        error: 'invalid_grant',
        error_code: 'grant_not_found',
        error_description: error.message,
        error_uri: `${server.url}/docs/errors#grant_not_found`,
        request_id: expect.stringMatching(/^[\da-f-]{36}$/),
        code: 'NOT_FOUND',
        httpStatus: 404,
        path: 'grants.revoke',
      });
    });

    test(`calls a query by GET alone through ${name}`, async () => {
      const call = client(operator, { methodOverride: 'POST' }).admin.applications.list.query();
      const error = await call.catch((failure: unknown) => failure);
      if (!isTRPCClientError<AppRouter>(error)) throw new Error('This is another error.');
      expect(error.data?.error_code).toBe('method_not_allowed');
    });
  }

  test('sends several calls as one batch and gets each result', async () => {
    const client = createTRPCClient<AppRouter>({
      links: [httpBatchLink({ url: `${server.url}/trpc`, headers: { authorization: operator } })],
    });
    server.lines.length = 0;
    const [list, missing, account] = await Promise.allSettled([
      client.admin.applications.list.query(),
      client.admin.applications.get.query({ application_id: linked.account_id }),
      client.admin.accounts.get.query({ account_id: linked.account_id }),
    ]);
    expect([list.status, missing.status, account.status]).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    const requests = server.lines.map((line) => JSON.parse(line)).filter(({ route }) => route);
    expect(requests.map(({ status }) => status)).toEqual([207]);
  });

  test('streams no response, as docs/trpc.md says', async () => {
    const headers = { authorization: operator };
    const client = createTRPCClient<AppRouter>({
      links: [httpBatchStreamLink({ url: `${server.url}/trpc`, headers })],
    });
    const call = client.admin.applications.list.query();
    const error = await call.catch((failure: unknown) => failure);
    if (!isTRPCClientError<AppRouter>(error)) throw new Error('This is another error.');
    expect(error.data).toBeUndefined();
  });

  test('refuses a list of grants without its filter, which the types refuse as well', async () => {
    const client = createTRPCClient<AppRouter>({
      links: [httpLink({ url: `${server.url}/trpc`, headers: { authorization: operator } })],
    });
    // @ts-expect-error: the filter is missing
    const call = client.admin.grants.list.query();
    await expect(call).rejects.toMatchObject({ data: { error_code: 'parameter_invalid' } });
  });

  test.each(['account.get', 'grants.revoke'] as const)(
    'gets from us what the own adapter of tRPC sends for %s',
    async (name) => {
      const grant = await linked.link();
      const { grant_id } = grant;
      const query = name === 'account.get';
      const request = requestOf('tRPC', name, query ? {} : { grant_id });
      const authorization = query ? asBearer(grant) : linked.bearer;
      const ours = await send(server, { ...request, authorization });

      const { store } = server.service;
      const found = await store.authenticateGrant(grant_id, { currentAccount: true });
      const application = await store.findApplication(linked.application_id);
      if (found === null || application === null) throw new Error('The caller was not found.');
      const operation = operations.get(name) as Operation;
      const { secret_id } = linked;
      const caller = query
        ? ({ kind: 'grant', ...found } as const)
        : ({ kind: 'application', application, secret_id } as const);
      const context = { service: server.service, limits: noLimits };
      const theirs = await fetchRequestHandler({
        endpoint: '/trpc',
        req: new Request(`http://x${request.path}`, {
          method: request.method,
          ...(request.headers && { headers: request.headers }),
          ...(request.body !== undefined && { body: request.body }),
        }),
        router: appRouter,
        createContext: () => ({
          handle: (input: object) =>
            call(context, operation, {
              authenticate: async () => caller,
              readInput: async () => input,
              request: {
                redacted: { request_id: 'of-theirs', address: null },
                address: undefined,
                publicUrl: () => '',
                waitedForBody: false,
                response: null,
              },
              summary: {},
            }),
        }),
      });
      expect(theirs.status).toBe(200);
      expect(ours.status).toBe(200);
      expect(ours.json).toStrictEqual(await theirs.json());
    },
  );
});
