import { expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import type * as objects from './objects.ts';
import type { OperationOutput, Operations } from './operations.ts';
import type * as types from './types.ts';

// Compiled, not run: checks that each type equals the schema of the same object.

type Output<Name extends keyof typeof objects> = z.output<(typeof objects)[Name]>;

test('every type equals its schema', () => {
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
  expectTypeOf<types.List<types.Account>>().toEqualTypeOf<Output<'accountList'>>();
  expectTypeOf<types.AccountErasure>().toEqualTypeOf<Output<'accountErasure'>>();
  expectTypeOf<types.CodeEntry>().toEqualTypeOf<Output<'codeEntry'>>();
  expectTypeOf<types.ExportedChange>().toEqualTypeOf<Output<'exportedChange'>>();
  expectTypeOf<types.ExportedRefusal>().toEqualTypeOf<Output<'exportedRefusal'>>();
  expectTypeOf<types.AccountExport>().toEqualTypeOf<Output<'accountExport'>>();
  expectTypeOf<types.Scope>().toEqualTypeOf<Output<'scopeDescription'>>();
  expectTypeOf<types.ApplicationProfile>().toEqualTypeOf<Output<'applicationProfile'>>();
  expectTypeOf<types.Connection>().toEqualTypeOf<Output<'connection'>>();
  expectTypeOf<types.Page>().toEqualTypeOf<Output<'page'>>();
  expectTypeOf<types.LinkRequest>().toEqualTypeOf<Output<'linkRequest'>>();
  expectTypeOf<types.LinkRedirect>().toEqualTypeOf<Output<'linkRedirect'>>();
  expectTypeOf<types.TokenResponse>().toEqualTypeOf<Output<'tokenResponse'>>();
  expectTypeOf<types.Introspection>().toEqualTypeOf<Output<'introspection'>>();
  expectTypeOf<types.CompleteList<types.Scope>>().toEqualTypeOf<Output<'scopeList'>>();
  expectTypeOf<types.CompleteList<types.Connection>>().toEqualTypeOf<Output<'connectionList'>>();
  expectTypeOf<types.CompleteList<types.RevokedGrant>>().toEqualTypeOf<
    Output<'revokedGrantList'>
  >();
  expectTypeOf<types.ErrorBody>().toEqualTypeOf<Output<'errorBody'>>();
  expectTypeOf<types.ParameterIssue>().toEqualTypeOf<
    NonNullable<Output<'errorBody'>['issues']>[number]
  >();
});

test('every schema of an object has a type', () => {
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
    | 'accountList'
    | 'accountErasure'
    | 'codeEntry'
    | 'exportedChange'
    | 'exportedRefusal'
    | 'accountExport'
    | 'scopeDescription'
    | 'scopeList'
    | 'applicationProfile'
    | 'connection'
    | 'connectionList'
    | 'revokedGrantList'
    | 'page'
    | 'linkRequest'
    | 'linkRedirect'
    | 'introspection'
    | 'tokenResponse'
    | 'emptyObject'
    | 'errorBody'
  >();
});

test('the output types follow from the table', () => {
  expectTypeOf<OperationOutput<'grants.convert'>>().toEqualTypeOf<types.FullGrant>();
  expectTypeOf<OperationOutput<'grants.recover'>>().toEqualTypeOf<types.FullGrant>();
  expectTypeOf<OperationOutput<'grants.revoke'>>().toEqualTypeOf<types.RevokedGrant>();
  expectTypeOf<OperationOutput<'account.get'>>().toEqualTypeOf<types.Account>();
  expectTypeOf<OperationOutput<'account.grant'>>().toEqualTypeOf<types.GrantDescription>();
  expectTypeOf<Operations['account.get']['method']>().toEqualTypeOf<'GET'>();
});
