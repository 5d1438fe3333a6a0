// Drives the service through every operation, and prints what it was sent and what it answered, for the
// examples of the OpenAPI document. It is a process of its own: see seed.ts.
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '@latchkey/domain/domain-error';
import {
  type ErrorCode,
  errorDefinition,
  type OperationContract,
  type OperationName,
  operations,
} from '@latchkey/schema';
import pino from 'pino';
import { z } from 'zod';
import { errorsOf } from '../../src/openapi/errors.ts';
import { loadSettings } from '../../src/settings.ts';
import { startServer } from '../../src/start-server.ts';
import { type HttpResponse, type Json, type Request, requestOf, send } from '../http/call.ts';
import { FORM_TYPE } from '../http/forms.ts';
import { seed, takeMessages } from './seed.ts';

type Input = Record<string, unknown>;

interface Recorded {
  input: Input;
  output?: Json;
}

const REQUEST = '0193aa00-0000-7000-8000-0000000000ff';
const ACCOUNT = '0193aa00-0000-7000-8000-0000000000b0';
const ADMIN_SECRET = 'an-example-of-an-admin-secret-with-enough-letters';
const CALLBACK = 'https://acme.example/callback';
// RFC 7636, appendix B.
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

const { clock, advance } = seed();
const receiver = await takeMessages();
const folder = await mkdtemp(join(tmpdir(), 'latchkey-examples-'));
// The default of DATABASE_URL is below the working directory.
process.chdir(folder);
process.once('exit', () => {
  process.chdir(tmpdir());
  rmSync(folder, { recursive: true });
});
const settings = loadSettings({
  ADMIN_SECRET,
  PUBLIC_URL: 'https://latchkey.example',
  SIGN_IN_URL: 'https://host.example/sign-in',
  EVENTS_KEY: 'an-example-of-an-events-key-with-enough-letters',
  CLIENT_DOCUMENTS: 'app.example',
});
const { port } = settings;
// One that is free; `admin.settings.get` shows the default.
Object.assign(settings, { port: 0 });
let outcomeIsLost = false;
const server = await startServer(settings, pino({ enabled: false }), {
  clock,
  monotonic: clock,
  async intercept({ operation }, handle) {
    const output: Json = await handle();
    if (outcomeIsLost && operation === 'grants.convert')
      throw new DomainError('outcome_unknown', { grant_id: output.grant_id });
    return output;
  },
});
Object.assign(settings, { port });

const operator = `Bearer ${ADMIN_SECRET}`;
const recorded = new Map<string, Recorded>();
/** By operation and code: the members that only some errors have. */
const errors = new Map<string, Record<string, Json>>();

/** Sends one request, a second after the last one. */
function next(request: Request): Promise<HttpResponse> {
  advance(1_000);
  return send(server, { ...request, headers: { ...request.headers, 'x-request-id': REQUEST } });
}

async function succeed(request: Request): Promise<Json> {
  const { status, text, json } = await next(request);
  if (status !== 200) throw new Error(`${request.method} ${request.path}: ${status} ${text}`);
  return json;
}

const call = (name: OperationName, input: Input, as = operator) =>
  succeed({ ...requestOf('REST', name, input), authorization: as });

/** Makes a call that is the example of its operation. */
async function record(name: OperationName, input: Input, as?: string): Promise<Json> {
  const output = await call(name, input, as);
  recorded.set(name, { input, output });
  return output;
}

/** Makes a call that fails. */
async function recordError(name: string, code: ErrorCode, request: Request): Promise<void> {
  const { json, text } = await next(request);
  if (json?.error_code !== code) throw new Error(`${name}: no ${code}, but ${text}`);
  const members = errorDefinition(code).members?.map((member) => [member, json[member]]) ?? [];
  errors.set(name, { ...errors.get(name), [code]: Object.fromEntries(members) });
}

const refuse = (name: OperationName, code: ErrorCode, input: Input, as = operator) =>
  recordError(name, code, { ...requestOf('REST', name, input), authorization: as });

const tokenRequest = (input: Input, as: string): Request => ({
  method: 'POST',
  path: '/oauth/token',
  authorization: as,
  headers: FORM_TYPE,
  body: new URLSearchParams(input as Record<string, string>).toString(),
});

/** Asks for a list until what the background does has arrived in it. */
async function untilListed(
  name: OperationName,
  input: Input,
  hasArrived: (entry: Json) => boolean = () => true,
): Promise<Json[]> {
  for (;;) {
    const list = await send(server, { ...requestOf('REST', name, input), authorization: operator });
    const { data } = list.json;
    if (data.length > 0 && data.every(hasArrived)) return data;
    await sleep(20);
  }
}

// What the operator registers.
await record('admin.scopes.put', {
  scope: 'profile.read',
  title: 'Read your profile',
  description: 'Your name and your picture.',
  texts: { de: { title: 'Ihr Profil lesen', description: 'Ihren Namen und Ihr Bild.' } },
});
await call('admin.scopes.put', { scope: 'posts.read', title: 'Read your posts' });
await record('admin.scopes.list', {});
const resource = await record('admin.resources.create', {
  resource: 'https://mcp.example/mcp',
  name: 'Notes',
  scopes: ['posts.read', 'profile.read'],
  default_scopes: ['posts.read'],
});
await record('admin.resources.list', {});
await record('admin.resources.update', { resource_id: resource.id, name: 'Notes of Ada' });
const document_uri = 'https://app.example/oauth-client.json';
await record('admin.documents.pin', {
  document_uri,
  document: { client_id: document_uri, client_name: 'Notes Reader', redirect_uris: [CALLBACK] },
});
await record('admin.documents.list', { pinned: true });
await record('admin.documents.unpin', { document_uri });
const members = {
  name: 'Acme',
  redirect_uris: [CALLBACK],
  default_scopes: ['profile.read'],
  logo_uri: 'https://acme.example/logo.png',
  homepage_uri: 'https://acme.example/',
  policy_uri: 'https://acme.example/privacy',
  tos_uri: 'https://acme.example/terms',
  challenge_required: true,
};
const application = await record('admin.applications.create', members);
const application_id: string = application.id;
const bearer = `Bearer ${application.secret}`;
const { secret: _, ...more } = await record('admin.applications.secrets.create', {
  application_id,
  expires_at: null,
});
await record('admin.applications.secrets.revoke', { application_id, secret_id: more.id });
await record('admin.accounts.put', {
  account_id: ACCOUNT,
  username: 'ada',
  display_name: 'Ada Lovelace',
  twitter: 'ada',
  verified: true,
  supporter: false,
  external_id: 'user-4711',
});
await record('admin.accounts.get', { account_id: ACCOUNT });
await record('admin.accounts.list', { username: 'ada', limit: 50 });
const key = await record('admin.keys.create', { name: 'Sign-in page', role: 'host' });
await record('admin.self.get', {}, `Bearer ${key.secret}`);
await record('admin.keys.list', {});

// A code, and a grant of it.
const scope = 'profile.read posts.read';
const issued = { application_id, account_id: ACCOUNT, scope };
const choice = { id: 'ws-7', label: 'Acme Inc.' };
const bound = { ...issued, redirect_uri: CALLBACK, code_challenge: CHALLENGE, choice };
const binding = { redirect_uri: CALLBACK, code_verifier: VERIFIER };
const cancelled = await call('admin.codes.issue', bound);
await record('admin.codes.cancel', { grant_id: cancelled.grant_id });
const { code, grant_id } = await record('admin.codes.issue', bound);
const conversion = { code, ...binding };
await record('grants.convert', conversion, bearer);
await refuse('grants.convert', 'code_already_used', conversion, bearer);
const { grant_secret } = await record('grants.recover', { grant_id }, bearer);
const asGrant = `Bearer ${grant_secret}`;
await record('account.get', {}, asGrant);
await record('account.grant', {}, asGrant);
await record('grants.introspect', { token: grant_secret }, bearer);
await record('admin.applications.get', { application_id });
await record('admin.applications.list', { limit: 50 });
await record('admin.grants.list', { account_id: ACCOUNT, limit: 50 });
await record('admin.connections.list', { account_id: ACCOUNT });
await record('admin.grants.history', { grant_id });
await untilListed('admin.refusals.list', { account_id: ACCOUNT });
await record('admin.refusals.list', { account_id: ACCOUNT, since: '2026-11-21T00:00:00Z' });
await record('admin.accounts.export', { account_id: ACCOUNT });

/** The input of a conversion of a new code. */
async function newConversion(): Promise<Input> {
  const { code } = await call('admin.codes.issue', bound);
  return { code, ...binding };
}

/** The same at the token endpoint. */
const newTokenInput = async (): Promise<Input> => ({
  ...(await newConversion()),
  grant_type: 'authorization_code',
});

/** At the token endpoint. */
async function anotherGrant(): Promise<{ input: Input; output: Json }> {
  const input = await newTokenInput();
  return { input, output: await succeed(tokenRequest(input, bearer)) };
}

const token = await anotherGrant();
recorded.set('oauth.token', token);
await recordError('oauth.token', 'code_already_used', tokenRequest(token.input, bearer));
outcomeIsLost = true;
await refuse('grants.convert', 'outcome_unknown', await newConversion(), bearer);
const lost = await newTokenInput();
await recordError('oauth.token', 'outcome_unknown', tokenRequest(lost, bearer));
outcomeIsLost = false;

// The linking flow.
const asked = {
  response_type: 'code',
  client_id: application_id,
  redirect_uri: CALLBACK,
  scope,
  state: 'xyz',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
  resource: resource.resource,
  login_hint: 'ada',
  ui_locales: 'de',
};
const { resource: _resource, login_hint: _hint, ui_locales: _locales, ...begun } = asked;
recorded.set('links.begin', { input: begun });

async function begin(): Promise<string> {
  const path = `/oauth/authorize?${new URLSearchParams(asked)}`;
  const { headers } = await next({ method: 'GET', path });
  return new URL(headers.get('location') ?? '').searchParams.get('link') ?? '';
}

const link = await begin();
await record('admin.links.read', { link });
const question = { title: 'Which workspace?', options: [choice, { id: 'ws-8' }] };
const named = { link, account_id: ACCOUNT };
await record('admin.links.identify', { ...named, locale: 'de', choice: question });
await record('admin.links.approve', { ...named, scope, choice });
const denied = await begin();
await record('admin.links.deny', { link: denied });
const decided = { link: denied, account_id: ACCOUNT };
await refuse('admin.links.identify', 'link_decided', decided);
await refuse('admin.links.approve', 'link_decided', decided);
await refuse('admin.links.deny', 'link_decided', { link });
await record('admin.pages.create', {
  page: 'connections',
  account_id: ACCOUNT,
  return_url: 'https://host.example/settings',
  locale: 'de',
});
await record('admin.pages.end', { account_id: ACCOUNT });

// Events.
const endpoint = await record('admin.endpoints.create', {
  url: 'https://acme.example/latchkey-events',
  application_id,
  types: ['grant.revoked', 'account.updated'],
});
const endpoint_id: string = endpoint.id;
const deliveries = { endpoint_id, status: 'delivered', limit: 50 };
await record('admin.grants.revoke', { grant_id });
const [delivery] = await untilListed('admin.deliveries.list', deliveries);
await record('admin.deliveries.list', deliveries);
await record('admin.endpoints.get', { endpoint_id });
await record('admin.endpoints.list', { application_id, limit: 50 });
receiver.status = 503;
await call('admin.grants.revoke', { grant_id: token.output.grant.grant_id });
const waiting = { endpoint_id, status: 'pending' };
await untilListed('admin.deliveries.list', waiting, ({ attempts }) => attempts.length > 0);
receiver.status = 204;
await record('admin.endpoints.replay', { endpoint_id, since: '2026-11-21T00:00:00Z' });
const allAreDelivered = () =>
  untilListed('admin.deliveries.list', { endpoint_id }, ({ status }) => status === 'delivered');
await allAreDelivered();
await record('admin.endpoints.rotate', { endpoint_id, overlap_seconds: 86_400 });
await record('admin.deliveries.retry', { delivery_id: delivery.id });
await allAreDelivered();
await record('admin.endpoints.ping', { endpoint_id });
await allAreDelivered();
await record('admin.summary.get', { hours: 1 });
await record('admin.endpoints.update', { endpoint_id, disabled: true });

// What ends several grants.
await record('grants.revokeToken', { token: token.output.access_token }, bearer);
await record('grants.revoke', { grant_id }, bearer);
await record('admin.connections.revoke', { account_id: ACCOUNT, application_id });
await anotherGrant();
await record('admin.grants.revokeAll', { account_id: ACCOUNT });
await record('admin.settings.get', {});
await record('admin.applications.update', { application_id, ...members, name: 'Acme Notes' });

// What is not valid.
const last = `Bearer ${(await anotherGrant()).output.access_token}`;
const as = { application: bearer, grant: last, operator };
for (const [name, operation] of Object.entries(operations) as [
  OperationName,
  OperationContract,
][]) {
  if (!errorsOf(operation).includes('parameter_invalid')) continue;
  const { input = {} } = recorded.get(name) ?? {};
  await refuse(name, 'parameter_invalid', invalid(operation, input), as[operation.caller]);
}
const noCode = { grant_type: 'authorization_code', redirect_uri: CALLBACK };
await recordError('oauth.token', 'parameter_invalid', tokenRequest(noCode, bearer));

/** The example of an operation, with something in the place of one member that cannot be there. */
function invalid({ input, path }: OperationContract, example: Input): Input {
  const { properties = {} } = z.toJSONSchema(input, { io: 'input' });
  // An operator's operation without members refuses any.
  const wrong = [...Object.keys(properties), 'offset']
    .map((name) => ({ ...example, [name]: path.includes(`{${name}}`) ? 'user-4711' : '' }))
    .find((given) => !input.safeParse(given).success);
  if (wrong === undefined) throw new Error(`${path} takes everything.`);
  return wrong;
}

const late = await begin();
advance(3_600_000);
for (const name of ['read', 'identify', 'approve', 'deny'] as const) {
  const input = { link: late, ...(/identify|approve/.test(name) && { account_id: ACCOUNT }) };
  await refuse(`admin.links.${name}`, 'link_expired', input);
}

// The end.
await record('admin.endpoints.delete', { endpoint_id });
await record('admin.accounts.erase', { account_id: ACCOUNT });
await record('admin.scopes.delete', { scope: 'profile.read' });
await record('admin.resources.delete', { resource_id: resource.id });
await record('admin.keys.delete', { key_id: key.id });
await record('admin.applications.disable', { application_id });
await record('admin.applications.enable', { application_id });
await call('admin.applications.disable', { application_id });
await record('admin.applications.delete', { application_id });

// In their order on the page, which is not that of this story.
const names = [...Object.keys(operations), 'oauth.token', 'links.begin'];
const without = names.filter((name) => !recorded.has(name));
if (without.length > 0) throw new Error(`Call ${without.join(', ')} above.`);
const inOrder = Object.fromEntries(
  names.map((name) => [name, { ...recorded.get(name), errors: errors.get(name) }]),
);
// The one thing that no clock of ours says.
const text = JSON.stringify(
  inOrder,
  (member, value) => (member === 'duration_ms' ? 233 : value),
  2,
);
process.stdout.write(`${text}\n`);
await server.close();
receiver.close();
