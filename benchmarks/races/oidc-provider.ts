import { listen } from '../listen.ts';
import { createOidcProvider } from '../peers/oidc-provider.ts';
import { registration } from '../peers/registration.ts';
import { Browser } from './browser.ts';
import type { Contender } from './contender.ts';
import { distant, type Latency } from './latency.ts';
import { oauthApplications } from './oauth-application.ts';

/** `oidc-provider`, whose users log in and consent on its development pages. */
export async function startOidcProvider({ latency }: { latency: Latency }): Promise<Contender> {
  const server = await listen();
  const application = registration('application');
  const other = registration('other');
  const provider = createOidcProvider({
    url: server.url,
    clients: [application, other],
    store: (adapter) => distant(adapter, latency),
  });
  server.handle(provider.callback());

  return {
    ...oauthApplications({
      token: `${server.url}/token`,
      userinfo: `${server.url}/me`,
      application,
      other,
      async authorize(query) {
        // A browser of its own for each code: the codes of one session share a grant.
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
