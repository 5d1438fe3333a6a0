// A user's program, compiled with each TypeScript, module system and end of the range of tRPC that
// the package supports, and run. Links and unlinks an account at LATCHKEY_URL as the operator of
// ADMIN_SECRET; prints what it saw, and fails where that is not as promised.

import type { Account, ErrorCode, FullGrant } from '@latchkey/schema';
import type { AppRouter, ErrorData } from '@latchkey/schema/trpc';
import { createTRPCClient, httpBatchLink, httpLink, TRPCClientError } from '@trpc/client';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';

// Without @types/node.
declare const process: { env: Record<string, string | undefined>; exitCode?: number };
declare const console: { log(text: string): void; error(value: unknown): void };

type Inputs = inferRouterInputs<AppRouter>;
type Outputs = inferRouterOutputs<AppRouter>;

function env(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set.`);
  return value;
}

function clientOf(secret: string, link: typeof httpLink | typeof httpBatchLink) {
  const options = {
    url: `${env('LATCHKEY_URL')}/trpc`,
    headers: { authorization: `Bearer ${secret}` },
  };
  return createTRPCClient<AppRouter>({ links: [link(options)] });
}

async function errorOf(call: Promise<unknown>): Promise<ErrorData> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof TRPCClientError)) throw error;
    const { data } = error as TRPCClientError<AppRouter>;
    if (data) return data;
  }
  throw new Error('There is no error of Latchkey.');
}

async function link(through: typeof httpLink | typeof httpBatchLink): Promise<object> {
  const operator = clientOf(env('ADMIN_SECRET'), through);
  const name: Inputs['admin']['applications']['create'] = { name: 'Acme' };
  const [application, account] = await Promise.all([
    operator.admin.applications.create.mutate(name),
    operator.admin.accounts.put.mutate({
      account_id: '0193aa00-0000-7000-8000-0000000000a1',
      username: 'ada',
    }),
  ]);
  const { code } = await operator.admin.codes.issue.mutate({
    application_id: application.id,
    account_id: account.id,
    scope: 'profile.read',
  });
  // @ts-expect-error one filter is missing
  const missing = await errorOf(operator.admin.grants.list.query());

  if (application.secret === undefined) throw new Error('The application is not public.');
  const acme = clientOf(application.secret, through);
  // @ts-expect-error the code is missing
  const lacking = await errorOf(acme.grants.convert.mutate());
  const grant: FullGrant = await acme.grants.convert.mutate({ code });
  const ada = clientOf(grant.grant_secret, through);
  const [now, grants]: [Account, Outputs['admin']['grants']['list']] = await Promise.all([
    ada.account.get.query(),
    operator.admin.grants.list.query({ account_id: account.id }),
  ]);

  const used = await errorOf(acme.grants.convert.mutate({ code }));
  const errorCode: ErrorCode = used.error_code;
  // @ts-expect-error there is no such error
  const wrong: boolean = errorCode === 'no_such_error';
  const { revoked } = await acme.grants.revoke.mutate({ grant_id: grant.grant_id });
  return {
    username: now.username,
    listed: grants.data.some(({ grant_id }) => grant_id === grant.grant_id),
    refused: [missing.error_code, lacking.error_code, errorCode],
    named: used.grant_id === grant.grant_id,
    status: used.httpStatus,
    wrong,
    revoked,
  };
}

Promise.all([link(httpLink), link(httpBatchLink)]).then(
  (seen) => console.log(JSON.stringify(seen)),
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
