/**
 * The routes of a host whose handlers take a `Request`: Next.js, Deno, Bun and workers. docs/guides/hosts.md
 * explains them.
 */

import type { AccountInput, LatchkeyAdmin } from '@latchkey/client/admin';
import { fetchHost } from '@latchkey/client/host';

interface Sessions {
  accountOf(request: Request): Promise<AccountInput | null>;
  /** Ends the session, and leads to the start page. */
  end(request: Request): Promise<Response>;
}

export function hostRoutes(admin: LatchkeyAdmin, url: string, sessions: Sessions) {
  const host = fetchHost({
    admin,
    signInUrl: `${url}/link`,
    accountOf: sessions.accountOf,
    signInPage: (next) => `/sign-in?next=${encodeURIComponent(next)}`,
  });
  return {
    link: { GET: host.handOff }, // export const { GET } = …: app/link/route.ts
    giveUp: { POST: host.decide }, // app/give-up/route.ts
    connectedApplications: { POST: host.connections }, // app/connected-applications/route.ts
    signOut: { POST: host.signOut(sessions.end) }, // app/sign-out/route.ts
  };
}
