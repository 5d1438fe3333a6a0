import { expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import type { WrittenTypes } from '../test/written-types.ts';
import type * as events from './events.ts';
import type * as objects from './objects.ts';
import type { OperationOutput, Operations } from './operations.ts';
import type * as types from './types.ts';

// Compiled, not run: `types.ts` is generated, and these are the same types as TypeScript infers them.

type Schemas = typeof objects & typeof events;
type Inferred = { -readonly [Name in keyof Schemas]: z.output<Schemas[Name]> };

test('every type equals its schema', () => {
  expectTypeOf<WrittenTypes>().toEqualTypeOf<Inferred>();
});

test('the output types follow from the table', () => {
  expectTypeOf<OperationOutput<'grants.convert'>>().toEqualTypeOf<types.FullGrant>();
  expectTypeOf<OperationOutput<'grants.recover'>>().toEqualTypeOf<types.FullGrant>();
  expectTypeOf<OperationOutput<'grants.revoke'>>().toEqualTypeOf<types.RevokedGrant>();
  expectTypeOf<OperationOutput<'account.get'>>().toEqualTypeOf<types.Account>();
  expectTypeOf<OperationOutput<'account.grant'>>().toEqualTypeOf<types.GrantDescription>();
  expectTypeOf<Operations['account.get']['method']>().toEqualTypeOf<'GET'>();
});
