/**
 * The type of the service's tRPC router, for `createTRPCClient<AppRouter>()`. Types alone: import
 * it with `import type`. Needs `@trpc/server`, which `@trpc/client` needs as well.
 *
 * @module
 */

import type {
  TRPCBuiltRouter,
  TRPCDefaultErrorShape,
  TRPCMutationProcedure,
  TRPCQueryProcedure,
} from '@trpc/server';
import type { OperationInput, OperationName, OperationOutput, Operations } from './operations.ts';
import type { ErrorBody } from './types.ts';

/** The `error.data` of a `TRPCClientError`: the body of the REST response, and tRPC's own members. */
export interface ErrorData extends ErrorBody, Omit<TRPCDefaultErrorShape['data'], 'stack'> {}

/** An error as tRPC's envelope has it. */
export interface ErrorShape extends Omit<TRPCDefaultErrorShape, 'data'> {
  data: ErrorData;
}

/** An input without a required member can be left out: `query()`. */
type ProcedureInput<Name extends OperationName> =
  Record<never, never> extends OperationInput<Name>
    ? OperationInput<Name> | undefined
    : OperationInput<Name>;

interface ProcedureTypes<Name extends OperationName> {
  input: ProcedureInput<Name>;
  output: OperationOutput<Name>;
  meta: unknown;
}

/** Reads are queries, everything else is a mutation. */
type Procedure<Name extends OperationName> = Operations[Name]['method'] extends 'GET'
  ? TRPCQueryProcedure<ProcedureTypes<Name>>
  : TRPCMutationProcedure<ProcedureTypes<Name>>;

/** The next segment of every name with this prefix. */
type Segment<Prefix extends string> = OperationName extends infer Name
  ? Name extends `${Prefix}${infer Rest}`
    ? Rest extends `${infer Head}.${string}`
      ? Head
      : Rest
    : never
  : never;

type Tree<Prefix extends string> = {
  [Head in Segment<Prefix>]: `${Prefix}${Head}` extends OperationName
    ? Procedure<`${Prefix}${Head}`>
    : Tree<`${Prefix}${Head}.`>;
};

/** The service's router: a procedure for every operation, by its name. */
export type AppRouter = TRPCBuiltRouter<
  { ctx: object; meta: object; errorShape: ErrorShape; transformer: false },
  Tree<''>
>;
