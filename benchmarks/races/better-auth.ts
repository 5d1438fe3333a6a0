import type { DBAdapter } from 'better-auth';
import type { Contender } from '../../packages/test-kit/src/races/contender.ts';
import { withLatency } from '../../packages/test-kit/src/races/latency.ts';
import { listen } from '../listen.ts';
import { createBetterAuth } from '../peers/better-auth.ts';
import { Browser } from './browser.ts';
import { oauthApplications } from './oauth-application.ts';

/** Delays the adapter, also within a transaction. */
function delayed(adapter: DBAdapter, latency: number): DBAdapter {
  return withLatency(
    {
      ...adapter,
      transaction: (steps) =>
        adapter.transaction((transaction) => steps(withLatency(transaction, latency))),
    },
    latency,
  );
}

/** `better-auth`, with the session of one user. */
export async function startBetterAuth(latency: number): Promise<Contender> {
  const server = await listen();
  const { listener, application, other, cookies } = await createBetterAuth({
    url: server.url,
    store: (adapter) => delayed(adapter, latency),
  });
  server.handle(listener);
  const browser = new Browser();
  browser.keepCookies(cookies);

  return {
    ...oauthApplications({
      token: `${server.url}/api/auth/oauth2/token`,
      userinfo: `${server.url}/api/auth/oauth2/userinfo`,
      application,
      other,
      authorize: (query) =>
        browser.visit(new URL(`${server.url}/api/auth/oauth2/authorize?${query}`)),
    }),
    close: server.close,
  };
}
