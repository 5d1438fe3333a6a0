import type { Contender } from '../../packages/test-kit/src/races/contender.ts';
import { withLatency } from '../../packages/test-kit/src/races/latency.ts';
import { listen } from '../listen.ts';
import { registration } from '../peers/oauth-client.ts';
import { createOidcProvider } from '../peers/oidc-provider.ts';
import { Browser } from './browser.ts';
import { oauthApplications } from './oauth-application.ts';

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

  return {
    ...oauthApplications({
      token: `${server.url}/token`,
      userinfo: `${server.url}/me`,
      application,
      other,
      async authorize(query) {
        // A new browser for each code: codes of one session would share a grant.
        const browser = new Browser();
        const login = await browser.visit(new URL(`${server.url}/auth?${query}`));
        const consent = await browser.visit(login, {
          prompt: 'login',
          login: 'ada',
          password: 'any',
        });
        return browser.visit(consent, { prompt: 'consent' });
      },
    }),
    close: server.close,
  };
}
