import type { DBAdapter } from 'better-auth';
import { listen } from '../listen.ts';
import { createBetterAuth } from '../peers/better-auth.ts';
import { Browser } from './browser.ts';
import type { Contender } from './contender.ts';
import { distant, type Latency } from './latency.ts';
import { oauthApplications } from './oauth-application.ts';

/** The adapter over a network, in a transaction too. */
function distantAdapter(adapter: DBAdapter, latency: Latency): DBAdapter {
  return distant(
    {
      ...adapter,
      transaction: (steps) =>
        adapter.transaction((transaction) => steps(distant(transaction, latency))),
    },
    latency,
  );
}

/** `better-auth`, in the session of one user. */
export async function startBetterAuth({ latency }: { latency: Latency }): Promise<Contender> {
  const server = await listen();
  const { listener, application, other, cookies } = await createBetterAuth({
    url: server.url,
    store: (adapter) => distantAdapter(adapter, latency),
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
