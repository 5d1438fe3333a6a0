import type { IncomingMessage } from 'node:http';
import { initTRPC, TRPCError } from '@trpc/server';
import { createHTTPHandler } from '@trpc/server/adapters/standalone';
import {
  account,
  authenticateApplication,
  convert,
  Refused,
  revoke,
  setUp,
} from '../bare/rules.ts';
import type { Contender } from '../contender.ts';
import { runProgram, startProgram } from '../program.ts';
import { trpcWire } from '../wires/trpc.ts';
import { mapRecords } from './floor.ts';

/** tRPC's own adapter for Node, with the floor's rules and Map. */
export const trpcStandalone: Contender = {
  name: "tRPC's standalone adapter over a Map",
  share: 0.5,
  start: (options) => startProgram(import.meta.filename, options, trpcWire),
};

if (import.meta.main) {
  await runProgram(async () => {
    const records = mapRecords();
    const { secret, issue } = await setUp(records);
    const t = initTRPC.context<{ authorization: string | undefined }>().create();
    const refusals = t.middleware(async ({ next }) => {
      const result = await next();
      if (!result.ok && result.error.cause instanceof Refused) {
        throw new TRPCError({ code: 'BAD_REQUEST', message: result.error.cause.errorCode });
      }
      return result;
    });
    const procedure = t.procedure.use(refusals).input((input) => input);
    const router = t.router({
      grants: t.router({
        convert: procedure.mutation(async ({ ctx, input }) =>
          convert(records, await authenticateApplication(records, ctx.authorization), input),
        ),
        revoke: procedure.mutation(async ({ ctx, input }) =>
          revoke(records, await authenticateApplication(records, ctx.authorization), input),
        ),
      }),
      account: t.router({
        get: procedure.query(({ ctx }) => account(records, ctx.authorization)),
      }),
    });
    const listener = createHTTPHandler({
      router,
      basePath: '/trpc/',
      createContext: ({ req }: { req: IncomingMessage }) => ({
        authorization: req.headers.authorization,
      }),
    });
    return { listener, issue, about: secret };
  });
}
