import { expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import type * as objects from './objects.ts';
import type { OperationOutput, Operations } from './operations.ts';
import type * as types from './types.ts';

// Compiled, not run: holds each written-out type equal to the schema of the same object.

type Output<Name extends keyof typeof objects> = z.output<(typeof objects)[Name]>;

test('every type is that of its schema', () => {
  expectTypeOf<types.Account>().toEqualTypeOf<Output<'account'>>();
  expectTypeOf<types.FullGrant>().toEqualTypeOf<Output<'fullGrant'>>();
  expectTypeOf<types.GrantDescription>().toEqualTypeOf<Output<'grantDescription'>>();
  expectTypeOf<types.RevokedGrant>().toEqualTypeOf<Output<'revokedGrant'>>();
  expectTypeOf<types.GrantEntry>().toEqualTypeOf<Output<'grantEntry'>>();
  expectTypeOf<types.ApplicationSecret>().toEqualTypeOf<Output<'applicationSecret'>>();
  expectTypeOf<types.NewApplicationSecret>().toEqualTypeOf<Output<'newApplicationSecret'>>();
  expectTypeOf<types.Application>().toEqualTypeOf<Output<'application'>>();
  expectTypeOf<types.NewApplication>().toEqualTypeOf<Output<'newApplication'>>();
  expectTypeOf<types.IssuedCode>().toEqualTypeOf<Output<'issuedCode'>>();
  expectTypeOf<types.CancelledCode>().toEqualTypeOf<Output<'cancelledCode'>>();
  expectTypeOf<types.List<types.Application>>().toEqualTypeOf<Output<'applicationList'>>();
  expectTypeOf<types.List<types.GrantEntry>>().toEqualTypeOf<Output<'grantList'>>();
  expectTypeOf<types.ErrorBody>().toEqualTypeOf<Output<'errorBody'>>();
  expectTypeOf<types.ParameterIssue>().toEqualTypeOf<
    NonNullable<Output<'errorBody'>['issues']>[number]
  >();
});

test('no schema of an object is without its type', () => {
  expectTypeOf<keyof typeof objects>().toEqualTypeOf<
    | 'account'
    | 'fullGrant'
    | 'grantDescription'
    | 'revokedGrant'
    | 'grantEntry'
    | 'applicationSecret'
    | 'newApplicationSecret'
    | 'application'
    | 'newApplication'
    | 'issuedCode'
    | 'cancelledCode'
    | 'applicationList'
    | 'grantList'
    | 'errorBody'
  >();
});

test('what an operation returns is what the table says', () => {
  expectTypeOf<OperationOutput<'grants.convert'>>().toEqualTypeOf<types.FullGrant>();
  expectTypeOf<OperationOutput<'grants.recover'>>().toEqualTypeOf<types.FullGrant>();
  expectTypeOf<OperationOutput<'grants.revoke'>>().toEqualTypeOf<types.RevokedGrant>();
  expectTypeOf<OperationOutput<'account.get'>>().toEqualTypeOf<types.Account>();
  expectTypeOf<OperationOutput<'account.grant'>>().toEqualTypeOf<types.GrantDescription>();
  expectTypeOf<Operations['account.get']['method']>().toEqualTypeOf<'GET'>();
});
