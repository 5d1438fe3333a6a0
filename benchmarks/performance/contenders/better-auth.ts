import { createBetterAuth } from '../../peers/better-auth.ts';
import { authorizationRequest, type Registration } from '../../peers/oauth-client.ts';
import type { Contender } from '../contender.ts';
import { runProgram, startProgram } from '../program.ts';
import { codeWithVerifier, oauthWire } from '../wires/oauth.ts';

/** `better-auth` in memory, without the scope `openid`: it signs no ID token. */
export const betterAuth: Contender = {
  name: 'better-auth, in memory',
  share: 1,
  // Its memory adapter scans whole tables, and copies them for a transaction.
  max: 64,
  start: (options) =>
    startProgram(import.meta.filename, options, (application: Registration) =>
      oauthWire(application, {
        token: '/api/auth/oauth2/token',
        revocation: '/api/auth/oauth2/revoke',
      }),
    ),
};

if (import.meta.main) {
  await runProgram(async (url) => {
    const { listener, application, cookies } = await createBetterAuth({ url });
    const cookie = cookies.map((line) => line.split(';')[0]).join('; ');

    /** Calls the authorization endpoint as a script on a page does. */
    async function issueOne(): Promise<string> {
      const { query, verifier } = authorizationRequest(application, 'profile');
      const response = await fetch(`${url}/api/auth/oauth2/authorize?${query}`, {
        headers: { cookie },
      });
      const { url: back } = (await response.json()) as { url: string };
      const code = new URL(back).searchParams.get('code');
      if (code === null) throw new Error(`No code in ${back}`);
      return codeWithVerifier(code, verifier);
    }

    async function issue(count: number): Promise<string[]> {
      const codes: string[] = [];
      while (codes.length < count) codes.push(await issueOne());
      return codes;
    }
    return { listener, issue, about: application };
  });
}
