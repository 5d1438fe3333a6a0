import { errorTable, operations } from '@latchkey/schema';
import { loadSettings, type OpenServer, openLog, startServer } from '@latchkey/server/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { protocolPage } from './support/protocol/examples.ts';

// Reads the orders of checks out of docs/protocol, and sends requests with two faults each: the error is
// that of the first fault.

/** The error codes of each item of the numbered list below a text. */
async function stepsBelow(name: string, text: string): Promise<string[][]> {
  const page = await protocolPage(name);
  const [, list = ''] = /\n\n(1\. [\s\S]*?)\n\n/.exec(page.slice(page.indexOf(text))) ?? [];
  return list.split(/\n(?=\d+\. )/).map((item) => {
    // What follows the first sentence explains it.
    const [sentence = ''] = item.replace(/^\d+\. /, '').split(/\. (?=If )/);
    return [...sentence.matchAll(/`(\w+)`/g)]
      .map(([, code = '']) => code)
      .filter((code) => code in errorTable);
  });
}

interface Request {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** What gives a request a fault, by the number of its step and its error code. */
type Faults = Record<string, (request: Request) => Request>;

const withHeaders = (headers: Record<string, string>) => (request: Request) => ({
  ...request,
  headers: { ...request.headers, ...headers },
});
const withBody = (change: (body: string) => string) => (request: Request) => ({
  ...request,
  body: change(request.body),
});
const without = (name: string) => (request: Request) => {
  const { [name]: _, ...headers } = request.headers;
  return { ...request, headers };
};

/** A request with faults at two steps, for each pair of steps. */
function pairsOf(steps: string[][], faults: Faults) {
  const keys = steps.flatMap((codes, index) => codes.map((code) => `${index + 1} ${code}`));
  expect(keys).toEqual(Object.keys(faults));
  return keys.flatMap((first, index) => keys.slice(index + 1).map((second) => ({ first, second })));
}

const FORM = 'application/x-www-form-urlencoded';
const unknownCode = 'lk_code_cut-short';
const redirect_uri = 'https://app.example/callback';
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';

let server: OpenServer;
let clock = Date.now();
const secrets: Record<'good' | 'disabled' | 'busy', { id: string; secret: string }> = {
  good: { id: '', secret: '' },
  disabled: { id: '', secret: '' },
  busy: { id: '', secret: '' },
};
let publicId = '';
const ADMIN_SECRET = 'an-admin-secret-for-tests-with-32-characters';

async function send({ method, path, headers, body }: Request): Promise<string> {
  const response = await fetch(server.url + path, {
    method,
    headers,
    body: method === 'GET' ? null : body,
    redirect: 'manual',
  });
  // In JSON, on a page, or in a redirect.
  const said = (await response.text()) + (response.headers.get('location') ?? '');
  const [code] = /[a-z]+(?:_[a-z]+)+/.exec(/error_code\W+(\w+)/.exec(said)?.[1] ?? '') ?? [];
  return code ?? Object.keys(errorTable).find((one) => said.includes(`>${one}<`)) ?? said;
}

async function operator<Result>(method: string, path: string, body: object = {}): Promise<Result> {
  const response = await fetch(`${server.url}/admin${path}`, {
    method,
    headers: { Authorization: `Bearer ${ADMIN_SECRET}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Result;
}

const account_id = '0193aa00-0000-7000-8000-00000000acc0';

async function issueCode(): Promise<string> {
  const { code } = await operator<{ code: string }>('POST', '/codes', {
    application_id: secrets.good.id,
    account_id,
    scope: 'a',
    redirect_uri,
    code_challenge: challenge,
  });
  return code;
}

const formOf = (members: Record<string, string>) => new URLSearchParams(members).toString();

beforeAll(async () => {
  const settings = loadSettings({
    PORT: '0',
    DATABASE_URL: 'file::memory:',
    LOG_LEVEL: 'silent',
    ADMIN_SECRET,
    SIGN_IN_URL: 'https://host.example/sign-in',
    PUBLIC_URL: 'https://link.example',
    // The busy application makes two calls, the good one a single one.
    RATE_LIMIT: 'requests=2/86400,exchanges=1000000/60,authentications=1000000/60',
  });
  server = await startServer(settings, openLog(settings).log, { clock: () => clock });
  for (const name of ['good', 'disabled', 'busy'] as const) {
    secrets[name] = await operator('POST', '/applications', {
      name,
      redirect_uris: [redirect_uri],
    });
  }
  const members = { name: 'Public', public: true, redirect_uris: [redirect_uri] };
  publicId = (await operator<{ id: string }>('POST', '/applications', members)).id;
  await operator('POST', `/applications/${secrets.disabled.id}/disable`);
  await operator('POST', '/resources', { resource: 'https://mcp.example', name: 'One' });
  await operator('PUT', `/accounts/${account_id}`, { username: 'ada' });
  await operator('PUT', '/scopes/a', { title: 'A' });
  const { id: client_id, secret: client_secret } = secrets.busy;
  const introspect = {
    method: 'POST',
    path: '/oauth/introspect',
    headers: { 'Content-Type': FORM },
  };
  const call = { ...introspect, body: formOf({ client_id, client_secret, token: 'a' }) };
  for (const one of [call, call]) await send(one);
});
afterAll(() => server.close());

const bearer = (name: keyof typeof secrets) => (request: Request) =>
  withHeaders({ Authorization: `Bearer ${secrets[name].secret}` })(request);

describe('the order of checks', async () => {
  const faults: Faults = {
    '1 route_not_found': (request) => ({ ...request, path: '/oauth/con' }),
    '1 method_not_allowed': (request) => ({ ...request, method: 'PATCH' }),
    '2 credentials_missing': without('Authorization'),
    '2 credentials_invalid': withHeaders({ Authorization: 'Bearer lk_app_cut-short' }),
    '2 application_disabled': bearer('disabled'),
    '3 media_type_unsupported': withHeaders({ 'Content-Type': 'text/plain' }),
    '4 body_too_large': withBody((body) => body + ' '.repeat(20_000)),
    '5 body_malformed': withBody((body) => body.slice(1)),
    '6 parameter_invalid': withBody((body) => body.replace(`"${unknownCode}"`, '7')),
    '7 rate_limited': bearer('busy'),
    '8 code_not_found': (request) => request,
  };
  const steps = await stepsBelow('README.md', '## Order of checks');
  // The last step is the rules.
  steps[steps.length - 1] = ['code_not_found'];

  test.each(pairsOf(steps, faults))('$first before $second', async ({ first, second }) => {
    const right = bearer('good')({
      method: 'POST',
      path: '/oauth/convert',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ code: unknownCode }),
    });
    const wrong = faults[first]?.(faults[second]?.(right) as Request) as Request;
    expect(await send(wrong)).toBe(first.slice(2));
  });
});

describe('the order of checks of a form with the credentials in it', async () => {
  const as = (name: keyof typeof secrets) =>
    withBody((body) => {
      const { id, secret } = secrets[name];
      return body.replace(
        /client_id=[\w-]+&client_secret=\w+/,
        formOf({ client_id: id, client_secret: secret }),
      );
    });
  const faults: Faults = {
    '1 route_not_found': (request) => ({ ...request, path: '/oauth/tok' }),
    '1 method_not_allowed': (request) => ({ ...request, method: 'PATCH' }),
    '2 media_type_unsupported': withHeaders({ 'Content-Type': `${FORM}; charset=latin1` }),
    '3 body_too_large': withBody((body) => body + '&'.repeat(20_000)),
    '4 body_malformed': withBody((body) => `${body}&a=%zz`),
    '5 parameter_invalid': withBody((body) => `${body}&client_id=a&client_id=b`),
    '6 credentials_missing': withBody((body) =>
      body.replace(/client_id=[\w-]+&client_secret=\w+/, ''),
    ),
    '6 credentials_invalid': withBody((body) => body.replace(/(client_secret=\w+)\w/, '$1')),
    '6 application_disabled': as('disabled'),
    '7 parameter_invalid': withBody((body) => `${body}&code=a&code=b`),
    '7 grant_type_unsupported': withBody((body) => body.replace('authorization_code', 'password')),
    '8 rate_limited': as('busy'),
    '9 code_not_found': (request) => request,
  };
  const steps = await stepsBelow('operations.md', 'the body is read first, since');
  steps[steps.length - 1] = ['code_not_found'];

  test.each(pairsOf(steps, faults))('$first before $second', async ({ first, second }) => {
    const { id: client_id, secret: client_secret } = secrets.good;
    const members = { grant_type: 'authorization_code', code: unknownCode };
    const right = {
      method: 'POST',
      path: '/oauth/token',
      headers: { 'Content-Type': FORM },
      body: formOf({ client_id, client_secret, ...members }),
    };
    const wrong = faults[first]?.(faults[second]?.(right) as Request) as Request;
    expect(await send(wrong)).toBe(first.slice(2));
  });
});

describe('the order of the rules of a redemption', async () => {
  const codes: Record<'old' | 'used', string> = { old: '', used: '' };
  beforeAll(async () => {
    codes.old = await issueCode();
    clock += 300_000;
    codes.used = await issueCode();
    const right = convert(codes.used);
    await fetch(`${server.url}${right.path}`, right);
  });

  const convert = (code: string): Request =>
    bearer('good')({
      method: 'POST',
      path: '/oauth/convert',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ code, redirect_uri, code_verifier: verifier }),
    });
  const faults: Faults = {
    '1 code_not_found': withBody((body) => body.replace(/lk_code_\w+/, unknownCode)),
    '2 code_expired': withBody((body) => body.replace(codes.used, codes.old)),
    '3 redirect_uri_mismatch': withBody((body) => body.replace('/callback', '/')),
    '4 code_verifier_mismatch': withBody((body) => body.replace(verifier, 'a'.repeat(43))),
    '5 target_mismatch': withBody((body) =>
      body.replace('{', '{"resource":"https://other.example",'),
    ),
    '6 code_already_used': (request) => request,
  };
  const steps = await stepsBelow('operations.md', '### Redemption');

  test('is that of the table of operations', () => {
    expect(steps.flat()).toEqual(operations['grants.convert'].errors);
  });

  test.each(pairsOf(steps, faults))('$first before $second', async ({ first, second }) => {
    const wrong = faults[first]?.(faults[second]?.(convert(codes.used)) as Request) as Request;
    expect(await send(wrong)).toBe(first.slice(2));
  });
});

describe('the order of an authorization request', async () => {
  const withParameter = (name: string, value: string) => (request: Request) => {
    const url = new URL(request.path, server.url);
    if (value === '') url.searchParams.delete(name);
    else url.searchParams.set(name, value);
    return { ...request, path: url.pathname + url.search };
  };
  const faults: Faults = {
    '2 client_unknown': withParameter('client_id', 'nobody'),
    '3 redirect_uri_unregistered': withParameter('redirect_uri', 'https://other.example/'),
    '4 state_invalid': withParameter('state', 'é'),
    '5 parameter_invalid': withParameter('response_type', ''),
    '5 response_type_unsupported': withParameter('response_type', 'token'),
    '6 parameter_invalid': withParameter('response_mode', 'fragment'),
    '7 challenge_required': (request) =>
      withParameter('code_challenge', '')(withParameter('code_challenge_method', '')(request)),
    '8 target_unknown': withParameter('resource', 'https://other.example'),
    '9 scope_unknown': withParameter('scope', 'everything'),
    '10 scope_unknown': withParameter('optional_scope', 'everything'),
  };
  const [limit, ...steps] = await stepsBelow('linking.md', '## Authorization request');

  test('begins with the limit of the address', () => {
    expect(limit).toEqual(['rate_limited']);
  });

  test.each(pairsOf([[], ...steps], faults))('$first before $second', async ({ first, second }) => {
    const query = formOf({
      client_id: publicId,
      redirect_uri,
      response_type: 'code',
      scope: 'a',
      state: 'state',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    });
    const right = { method: 'GET', path: `/oauth/authorize?${query}`, headers: {}, body: '' };
    const wrong = faults[first]?.(faults[second]?.(right) as Request) as Request;
    expect(await send(wrong)).toBe(first.slice(2));
  });
});
