import { DatabaseSync } from 'node:sqlite';
import { mongodbAdapter } from 'better-auth/adapters/mongodb';
import { MongoClient } from 'mongodb';
import { createBetterAuth } from '../../peers/better-auth.ts';
import { authorizationRequest, type Registration } from '../../peers/oauth-client.ts';
import type { RunningServer, StartOptions } from '../contender.ts';
import { runProgram, startProgram } from '../program.ts';
import { codeWithVerifier, oauthWire } from '../wires/oauth.ts';

/** `better-auth` on the MongoDB of the options, or else on SQLite. Without the scope `openid`, it signs no ID token. */
export const startBetterAuth = (options: StartOptions): Promise<RunningServer> =>
  startProgram(import.meta.filename, options, (application: Registration) =>
    oauthWire(application, { token: '/api/auth/oauth2/token' }),
  );

async function openDatabase(url: string | undefined) {
  if (url === undefined) return new DatabaseSync('better-auth.db');
  const client = await new MongoClient(url).connect();
  return mongodbAdapter(client.db(), { client });
}

if (import.meta.main) {
  await runProgram(async (url) => {
    const database = await openDatabase(process.env.DATABASE_URL);
    const { listener, application, cookies } = await createBetterAuth({ url, database });
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
