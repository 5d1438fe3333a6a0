import type { OperationInput, OperationName, OperationOutput } from '@latchkey/schema';
import { expectTypeOf } from 'vitest';
import type { CallOptions, WithResponse } from '../index.ts';
import type { GrantEntry, LatchkeyAdmin, LinkRedirect, Scope } from './index.ts';

// The types of the methods have names and are written to a file. These are the same from the table.

type OperatorOperation = Extract<OperationName, `admin.${string}`>;
type MethodName = OperatorOperation extends `admin.${infer Name}` ? Name : never;

/** The method at a path, such as `applications.secrets.create`. */
type MethodAt<Group, Path extends string> = Path extends `${infer Word}.${infer Rest}`
  ? MethodAt<Group[Word & keyof Group], Rest>
  : Group[Path & keyof Group];

/** Every path that leads to a method. */
type Paths<Group> = {
  [Word in keyof Group & string]: Group[Word] extends (...args: never[]) => unknown
    ? Word
    : `${Word}.${Paths<Group[Word]>}`;
}[keyof Group & string];

type Method<Name extends MethodName> = MethodAt<LatchkeyAdmin, Name>;
type Input<Name extends MethodName> =
  Method<Name> extends (input: infer Value, options?: CallOptions) => unknown ? Value : never;
type Output<Name extends MethodName> =
  Method<Name> extends (...args: never[]) => Promise<infer Value> ? Value : never;

expectTypeOf<Paths<LatchkeyAdmin>>().toEqualTypeOf<MethodName>();

// Every input that the service takes, and no other.
type Inputs = { [Name in MethodName]: NonNullable<Input<Name>> };
type InputsOfTable = { [Name in MethodName]: OperationInput<`admin.${Name}`> };
expectTypeOf<Inputs>().toExtend<InputsOfTable>();
expectTypeOf<InputsOfTable>().toExtend<Inputs>();

type Outputs = { [Name in MethodName]: Output<Name> };
type OutputsOfTable = { [Name in MethodName]: WithResponse<OperationOutput<`admin.${Name}`>> };
expectTypeOf<Outputs>().toEqualTypeOf<OutputsOfTable>();

declare const admin: LatchkeyAdmin;
expectTypeOf(admin.links.identify({ link: '', account_id: '' })).resolves.toEqualTypeOf<
  WithResponse<LinkRedirect>
>();
// All of its members have a default.
admin.applications.list();
// @ts-expect-error A required member is missing.
admin.links.identify({ link: '' });
admin.grants.list({ account_id: '', limit: 1 });
// @ts-expect-error One of the ids is required.
admin.grants.list();
// @ts-expect-error One of the ids is required.
admin.grants.list({ limit: 1 });
// @ts-expect-error They exclude each other.
admin.grants.list({ account_id: '', application_id: '' });

for await (const grant of admin.grants.list({ account_id: '' })) {
  expectTypeOf(grant).toEqualTypeOf<GrantEntry>();
}
for await (const scope of admin.scopes.list()) expectTypeOf(scope).toEqualTypeOf<Scope>();
// @ts-expect-error There is no such operation.
admin.links.cancel;
