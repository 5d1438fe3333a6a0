// Promises about types. They hold where this file compiles; nothing runs it.
import type {
  Account,
  ErrorBody,
  ErrorCode,
  FullGrant,
  List,
  NewApplication,
  RevokedGrant,
} from '@latchkey/schema';
import type { AppRouter } from '@latchkey/schema/trpc';
import type { TRPCClient, TRPCClientError } from '@trpc/client';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import { expectTypeOf } from 'vitest';

type Inputs = inferRouterInputs<AppRouter>;
type Outputs = inferRouterOutputs<AppRouter>;

expectTypeOf<Inputs['grants']['convert']>().toEqualTypeOf<{
  code: string;
  redirect_uri?: string | undefined;
  code_verifier?: string | undefined;
  resource?: string | undefined;
}>();
expectTypeOf<Inputs['admin']['codes']['issue']>().toEqualTypeOf<{
  application_id: string;
  account_id: string;
  scope: string;
  redirect_uri?: string | undefined;
  code_challenge?: string | undefined;
  resource?: string | undefined;
  choice?: { id: string; label?: string | undefined } | null | undefined;
}>();
expectTypeOf<Outputs['grants']['convert']>().toEqualTypeOf<FullGrant>();
expectTypeOf<Outputs['grants']['revoke']>().toEqualTypeOf<RevokedGrant>();
expectTypeOf<Outputs['account']['get']>().toEqualTypeOf<Account>();
expectTypeOf<Outputs['admin']['applications']['create']>().toExtend<NewApplication>();
expectTypeOf<Outputs['admin']['grants']['list']>().toExtend<List<{ application_id: string }>>();

export async function calls(client: TRPCClient<AppRouter>): Promise<void> {
  expectTypeOf(await client.grants.convert.mutate({ code: '' })).toEqualTypeOf<FullGrant>();
  expectTypeOf(await client.account.get.query()).toEqualTypeOf<Account>();
  await client.account.get.query(undefined, { context: {} });
  await client.account.get.query({});
  await client.account.grant.query();
  await client.admin.applications.list.query();
  await client.admin.grants.list.query({ account_id: '', limit: 1 });
  await client.admin.grants.list.query({ application_id: '' });
  await client.admin.applications.secrets.create.mutate({ application_id: '', expires_at: null });
  await client.admin.accounts.put.mutate({ account_id: '', username: '' });

  // @ts-expect-error: a mutation is no query
  await client.grants.convert.query({ code: '' });
  // @ts-expect-error: a query is no mutation
  await client.account.get.mutate({});
  // @ts-expect-error: the input is missing
  await client.grants.convert.mutate();
  // @ts-expect-error: the input is missing
  await client.admin.applications.get.query();
  // @ts-expect-error: one filter is missing
  await client.admin.grants.list.query();
  // @ts-expect-error: one filter is missing
  await client.admin.grants.list.query({ limit: 1 });
  // @ts-expect-error: one of the filters is too many
  await client.admin.grants.list.query({ account_id: '', application_id: '' });
  // @ts-expect-error: the code is missing
  await client.grants.convert.mutate({});
  // @ts-expect-error: the code is text
  await client.grants.convert.mutate({ code: 7 });
  // @ts-expect-error: there is no such procedure
  await client.grants.restore.mutate({ grant_id: '' });
  // @ts-expect-error: a list is a list
  (await client.admin.applications.list.query({})).secret;
}

export function errors({ data, message }: TRPCClientError<AppRouter>): void {
  expectTypeOf(message).toEqualTypeOf<string>();
  if (!data) return;
  expectTypeOf(data).toExtend<ErrorBody>();
  expectTypeOf(data.error_code).toEqualTypeOf<ErrorCode>();
  expectTypeOf(data.grant_id).toEqualTypeOf<string | undefined>();
  expectTypeOf(data.code).toExtend<string>();
  expectTypeOf(data.httpStatus).toEqualTypeOf<number>();
  expectTypeOf(data.path).toEqualTypeOf<string | undefined>();
  // @ts-expect-error: the service sends no stack
  data.stack;
  // @ts-expect-error: there is no such error
  data.error_code === 'no_such_error';
}
