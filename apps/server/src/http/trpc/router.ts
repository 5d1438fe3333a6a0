import type { OperationInput, OperationName, OperationOutput, Operations } from '@latchkey/schema';
import {
  initTRPC,
  type TRPCBuiltRouter,
  type TRPCMutationProcedure,
  type TRPCQueryProcedure,
} from '@trpc/server';
import { type Operation, operations } from '../../operations/operation.ts';

/** What a procedure works with: the caller was authenticated before. */
export interface Context {
  /** Does what the procedure is for, with its input validated. */
  perform(input: object): Promise<object>;
}

const t = initTRPC.context<Context>().create({ isDev: false });

/** The kind of an operation's procedure: reads are queries, everything else is a mutation. */
export function procedureType(operation: Pick<Operation, 'method'>): 'query' | 'mutation' {
  return operation.method === 'GET' ? 'query' : 'mutation';
}

function procedure(operation: Operation) {
  return t.procedure
    .input(operation.input)
    [procedureType(operation)](({ ctx, input }) => ctx.perform(input));
}

/** Makes a tree of routers out of the dots in the operations' names. */
function routerTree() {
  // biome-ignore lint/suspicious/noExplicitAny: the tree's type is written out below, by name
  const tree: Record<string, any> = {};
  for (const operation of operations.values()) {
    const path = operation.name.split('.');
    const last = path.pop() as string;
    let branch = tree;
    for (const segment of path) branch = branch[segment] ??= {};
    branch[last] = procedure(operation);
  }
  return tree;
}

type Procedure<Name extends OperationName> = Operations[Name]['method'] extends 'GET'
  ? TRPCQueryProcedure<{
      input: OperationInput<Name>;
      output: OperationOutput<Name>;
      meta: unknown;
    }>
  : TRPCMutationProcedure<{
      input: OperationInput<Name>;
      output: OperationOutput<Name>;
      meta: unknown;
    }>;

/** The next segment of every name that starts with the prefix. */
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

/** The router's type, for `createTRPCClient<AppRouter>()`. */
export type AppRouter = TRPCBuiltRouter<
  { ctx: Context; meta: object; errorShape: never; transformer: false },
  Tree<''>
>;

/** The operations as tRPC procedures, by their names. */
export const appRouter = t.router(routerTree()) as unknown as AppRouter;
