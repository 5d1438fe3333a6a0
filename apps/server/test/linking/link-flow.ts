import assert from 'node:assert';
import { createHash, randomUUID } from 'node:crypto';
import { authorization } from '../../src/openapi/oauth-paths.ts';
import { type Json, send, succeed } from '../http/call.ts';
import { ADA } from '../http/linked-application.ts';
import { operator } from '../http/running-server.ts';

export const PUBLIC_URL = 'https://link.example/base';
export const SIGN_IN_URL = 'https://host.example/sign-in?theme=dark';

/** The settings that turn the linking flow on. */
export const LINKING = { PUBLIC_URL, SIGN_IN_URL };

export const CALLBACK = 'https://app.example/callback?from=latchkey';

export const VERIFIER = 'a'.repeat(43);
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

export const SCOPES = {
  'profile.read': { title: 'Read your profile', description: 'Your name and your picture.' },
  'posts.read': { title: 'Read your posts', texts: { de: { title: 'Ihre Beiträge lesen' } } },
};

/** An application that can ask to link, and an account that can be linked. */
export interface LinkingApplication {
  application_id: string;
  bearer: string;
  account_id: string;
  /** The parameters of a good authorization request. */
  request: Record<string, string>;
  /** Begins a link: the link, and the id of its link request. */
  begin(changes?: Changes): Promise<{ link: string; link_id: string }>;
}

/** Parameters to be replaced; undefined leaves one out, a list repeats it. */
export type Changes = Record<string, string | string[] | undefined>;

export async function linkingApplication(
  server: { url: string },
  members: Record<string, unknown> = {},
): Promise<LinkingApplication> {
  for (const [scope, texts] of Object.entries(SCOPES)) {
    await succeed(server, 'admin.scopes.put', { scope, ...texts }, operator);
  }
  const application = await succeed(
    server,
    'admin.applications.create',
    { name: 'Acme', redirect_uris: [CALLBACK], ...members },
    operator,
  );
  const account_id = randomUUID();
  await succeed(server, 'admin.accounts.put', { account_id, ...ADA }, operator);
  const request = {
    client_id: application.id,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'profile.read posts.read',
    state: 'the state & more',
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
  };
  return {
    application_id: application.id,
    bearer: `Bearer ${application.secret}`,
    account_id,
    request,
    async begin(changes = {}) {
      const { status, headers, text } = await authorize(server, { ...request, ...changes });
      const link = new URL(headers.get('location') ?? '').searchParams.get('link');
      if (link === null) throw new Error(`No link was begun: ${status} ${text}`);
      const { id } = await succeed(server, 'admin.links.read', { link }, operator);
      return { link, link_id: id };
    },
  };
}

/** Sends an authorization request, and follows no redirect. */
export async function authorize(
  server: { url: string },
  parameters: Changes,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
) {
  const query = new URLSearchParams();
  for (const [name, values] of Object.entries(parameters)) {
    for (const value of values === undefined ? [] : [values].flat()) query.append(name, value);
  }
  const response = await send(server, { method, path: `/oauth/authorize?${query}`, headers });
  const { status, text } = response;
  const [, code] = /<dd>(?:<a [^>]*>)?(\w+)</.exec(text) ?? [];
  if (code !== undefined) {
    const responses: { [status: number]: { description: string } } = authorization.responses;
    const described = responses[status]?.description ?? '';
    assert(described.includes(`\`${code}\``), `OpenAPI has no ${code} with ${status}.`);
  }
  return response;
}

/** The parameters that a redirect adds, behind what the redirect URI has of its own. */
export function addedTo(redirect_uri: string, location: string): Json {
  if (!location.startsWith(redirect_uri)) throw new Error(`${location} leads somewhere else.`);
  return Object.fromEntries(new URLSearchParams(location.slice(redirect_uri.length)));
}
