import type { AppRouter } from '@latchkey/schema/trpc';
import { initTRPC } from '@trpc/server';
import { type Operation, operations } from '../../operations/operation.ts';

interface Context {
  handle(input: object): Promise<object>;
}

const t = initTRPC.context<Context>().create({ isDev: false });

export function procedureType(operation: Pick<Operation, 'method'>): 'query' | 'mutation' {
  return operation.method === 'GET' ? 'query' : 'mutation';
}

function procedure(operation: Operation) {
  return t.procedure
    .input(operation.input)
    [procedureType(operation)](({ ctx, input }) => ctx.handle(input));
}

function routerTree() {
  // biome-ignore lint/suspicious/noExplicitAny: the tree's type is AppRouter's, by name
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

export const appRouter = t.router(routerTree()) as unknown as AppRouter;
