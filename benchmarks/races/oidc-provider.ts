import { withLatency } from '../../packages/test-kit/src/races/latency.ts';
import { listen } from '../listen.ts';
import { registration } from '../peers/oauth-client.ts';
import { createOidcProvider } from '../peers/oidc-provider.ts';
import { type Contender, measureOAuth } from './contender.ts';

/** `oidc-provider`. Its users log in and consent on its development pages. */
export async function startOidcProvider(latency: number): Promise<Contender> {
  const server = await listen();
  const application = registration('application');
  const other = registration('other');
  const provider = createOidcProvider({
    url: server.url,
    clients: [application, other],
    store: (adapter) => withLatency(adapter, latency),
  });
  server.handle(provider.callback());
  const endpoints = {
    authorization: `${server.url}/auth`,
    token: `${server.url}/token`,
    userinfo: `${server.url}/me`,
  };
  return {
    measure: (ids) =>
      measureOAuth(
        {
          ...endpoints,
          application,
          other,
          // A new browser for each code: codes of one session would share a grant.
          async login(url, browser) {
            await browser.open(url);
            await browser.submit({ login: 'ada', password: 'any' });
            return browser.submit();
          },
        },
        ids,
      ),
    close: server.close,
  };
}
