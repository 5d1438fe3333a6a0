import type { Wire } from '../contender.ts';
import { latchkeyCalls } from './rest.ts';

/** tRPC as Latchkey's SDK calls it: a procedure a request. */
export const trpcWire = (applicationSecret: string): Required<Wire> =>
  latchkeyCalls({
    applicationSecret,
    post: (operation, body) => ({ path: `/trpc/grants.${operation}`, body }),
    accountPath: '/trpc/account.get',
    unwrap: (body) => JSON.parse(body).result.data,
  });
