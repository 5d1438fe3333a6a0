import { createTestServer } from '@latchkey/testing';
import { Values } from './examples.ts';

const VERIFIER_CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const redirect_uri = 'https://app.example/callback';

/** A service in the state in which the examples begin. */
export async function startExampleService(shown: ReadonlyMap<string, string>) {
  const server = await createTestServer({ signInUrl: 'https://host.example/sign-in' });
  const values = new Values();
  const bind = (name: string, live: string) => {
    const value = shown.get(name);
    if (value === undefined) throw new Error(`The page has no value for ${name}.`);
    values.bind(value, live);
  };

  async function operator<Result>(method: string, path: string, body: object): Promise<Result> {
    const response = await fetch(`${server.baseUrl}/admin${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${server.adminSecret}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as Result;
  }

  bind('public_url', server.baseUrl);
  bind('admin_secret', server.adminSecret);
  const account_id = shown.get('account_id') as string;
  bind('account_id', account_id);
  const ada = { username: 'ada', display_name: 'Ada Lovelace', verified: true };
  await operator('PUT', `/accounts/${account_id}`, ada);

  type Application = { id: string; secret: string };
  const members = { name: 'Acme', redirect_uris: [redirect_uri] };
  const first = await operator<Application>('POST', '/applications', members);
  const second = await operator<Application>('POST', '/applications', { ...members, public: true });
  bind('application_id', first.id);
  bind('application_secret', first.secret);
  bind('public_application_id', second.id);

  const issue = async (name: string, application_id: string, binding: object) => {
    const asked = { application_id, account_id, scope: 'profile.read', ...binding };
    const issued = await operator<{ code: string; grant_id: string }>('POST', '/codes', asked);
    bind(name, issued.code);
    bind(`${name}.grant_id`, issued.grant_id);
  };
  const challenge = { code_challenge: VERIFIER_CHALLENGE };
  await issue('old_code', first.id, {});
  server.advance(600_000);
  await issue('code', first.id, { redirect_uri, ...challenge });
  await issue('second_code', first.id, { redirect_uri });
  await issue('public_code', second.id, { redirect_uri, ...challenge });
  await issue('third_code', first.id, {});
  await issue('fourth_code', first.id, {});
  return { url: server.baseUrl, values, close: () => server.close() };
}
