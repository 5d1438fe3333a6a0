import { MongoClient } from 'mongodb';
import { MongodbAdapter } from '../../peers/mongodb-adapter.ts';
import { pkce, REDIRECT_URI, type Registration, registration } from '../../peers/oauth-client.ts';
import { createOidcProvider } from '../../peers/oidc-provider.ts';
import type { RunningServer, StartOptions } from '../contender.ts';
import { runProgram, startProgram } from '../program.ts';
import { codeWithVerifier, oauthWire } from '../wires/oauth.ts';

const SCOPE = 'profile.read';

/** `oidc-provider` on the MongoDB of the options. Without the scope `openid`, it signs no ID token. */
export const startOidcProvider = (options: StartOptions): Promise<RunningServer> =>
  startProgram(import.meta.filename, options, (application: Registration) =>
    oauthWire(application, { token: '/token' }),
  );

if (import.meta.main) {
  await runProgram(async (url) => {
    const application = registration('application');
    const database = (await new MongoClient(process.env.DATABASE_URL ?? '').connect()).db();
    await MongodbAdapter.createIndexes(database);
    const adapter = (model: string) => new MongodbAdapter(database, model);
    const provider = createOidcProvider({ url, clients: [application], adapter });
    const client = await provider.Client.find(application.client_id);
    if (!client) throw new Error('The client is not registered.');

    // The same calls of its models that its authorization endpoint makes after consent.
    const issueOne = async (): Promise<string> => {
      const accountId = 'ada';
      const grant = new provider.Grant({ accountId, clientId: application.client_id });
      grant.addOIDCScope(SCOPE);
      const grantId = await grant.save();
      const { verifier, challenge } = pkce();
      const code = new provider.AuthorizationCode({
        accountId,
        client,
        grantId,
        gty: 'authorization_code',
        redirectUri: REDIRECT_URI,
        scope: SCOPE,
        codeChallenge: challenge.code_challenge,
        codeChallengeMethod: challenge.code_challenge_method,
      });
      return codeWithVerifier(await code.save(), verifier);
    };

    return {
      listener: provider.callback(),
      issue: (count) => Promise.all(Array.from({ length: count }, issueOne)),
      about: application,
    };
  });
}
