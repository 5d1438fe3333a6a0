import type { DBAdapter } from 'better-auth';
import { withLatency } from '../../packages/test-kit/src/races/latency.ts';
import { listen } from '../listen.ts';
import { createBetterAuth } from '../peers/better-auth.ts';
import { type Contender, measureOAuth } from './contender.ts';

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
  const endpoints = {
    authorization: `${server.url}/api/auth/oauth2/authorize`,
    token: `${server.url}/api/auth/oauth2/token`,
    userinfo: `${server.url}/api/auth/oauth2/userinfo`,
  };
  return {
    measure: (ids) =>
      measureOAuth(
        {
          ...endpoints,
          application,
          other,
          login(url, browser) {
            for (const line of cookies) browser.setCookie(server.url, line);
            return browser.open(url);
          },
        },
        ids,
      ),
    close: server.close,
  };
}
