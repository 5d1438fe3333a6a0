import { type LatchkeyWire, latchkeyWire } from './rest.ts';

/** Latchkey's tRPC interface, one procedure per request, without batching. */
export const trpcWire = (applicationSecret: string): LatchkeyWire =>
  latchkeyWire({
    applicationSecret,
    post: (operation, body) => ({ path: `/trpc/grants.${operation}`, body }),
    accountPath: '/trpc/account.get',
    unwrap: (body) => JSON.parse(body).result.data,
  });
