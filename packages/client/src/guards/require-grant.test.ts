import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { failure, type Reply, refusal, result } from '../../test/fake-service.ts';
import {
  applicationId,
  applicationSecret,
  code,
  credential,
  grantDescription,
  grantId,
  grantSecret,
} from '../../test/samples.ts';
import { useFakeService } from '../../test/use-fake-service.ts';
import { Latchkey } from '../index.ts';
import { GrantRequiredError, type GuardOptions, requireGrant } from './index.ts';

const service = useFakeService(result(grantDescription));
let latchkey: Latchkey;

beforeAll(() => {
  latchkey = new Latchkey({ baseUrl: service.url, applicationSecret: null, maxRetries: 0 });
});
beforeEach(() => {
  service.reply = result(grantDescription);
});

const bearer = `Bearer ${grantSecret}`;
const basic = (pair: string) => `Basic ${btoa(pair)}`;

const requestWith = (authorization?: string) =>
  new Request('https://api.example/', {
    headers: authorization === undefined ? {} : { authorization },
  });

async function refused(authorization?: string, options: Partial<GuardOptions> = {}) {
  const call = requireGrant(requestWith(authorization), { latchkey, ...options });
  const error = await call.catch((reason) => reason);
  if (!(error instanceof GrantRequiredError)) throw error;
  return error;
}

/** The parts of a refusal that differ between refusals. */
async function varyingParts(error: GrantRequiredError) {
  const response = error.toResponse();
  const { error: word, error_code } = (await response.json()) as Record<string, string>;
  const header = (name: string) => response.headers.get(name);
  return [response.status, word, error_code, header('WWW-Authenticate'), header('Retry-After')];
}

describe('accepts a valid grant', () => {
  it.each([
    ['Bearer', bearer],
    ['Bearer in another case', `bEARER  ${grantSecret} `],
    ['Basic with id and secret', basic(`${grantId}:${grantSecret}`)],
    ['Basic, with the id in upper case', basic(`${grantId.toUpperCase()}:${grantSecret}`)],
  ])('with %s', async (_, authorization) => {
    const grant = await requireGrant(requestWith(authorization), { latchkey });
    expect(grant).toEqual(grantDescription);
    expect(service.requests.map(({ headers }) => headers.authorization)).toEqual([bearer]);
  });

  it('in a request of Node', async () => {
    const request = { headers: { authorization: bearer } };
    expect(await requireGrant(request, { latchkey })).toEqual(grantDescription);
  });
});

describe('refuses without asking Latchkey', () => {
  it('a request without an Authorization header, standard or Node’s', async () => {
    const parts = [401, 'invalid_token', 'credentials_missing', 'Bearer realm="latchkey"', null];
    expect(await varyingParts(await refused())).toEqual(parts);
    const error = await requireGrant({ headers: {} }, { latchkey }).catch((reason) => reason);
    expect(await varyingParts(error)).toEqual(parts);
    expect(service.requests).toEqual([]);
  });

  it.each([
    ['an empty header', ''],
    ['another scheme', `Digest ${grantSecret}`],
    ['a scheme alone', 'Bearer'],
    ['a secret alone', grantSecret],
    ['two secrets', `${bearer}, ${bearer}`],
    ['an application secret', `Bearer ${applicationSecret}`],
    ['a code', `Bearer ${code}`],
    ['a JWT', 'Bearer eyJhbGciOiJub25lIn0.e30.'],
    ['a truncated secret', bearer.slice(0, -1)],
    ['a secret with a typo', bearer.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))],
    ['Basic without valid base 64', 'Basic ****'],
    ['Basic without a colon', basic(grantSecret)],
    ['Basic without an id', basic(`:${grantSecret}`)],
    ['Basic with the id of another grant', basic(`${grantId.slice(0, -1)}9:${grantSecret}`)],
    ['Basic without a secret', basic(`${grantId}:`)],
  ])('%s', async (_, authorization) => {
    const challenge = 'Bearer realm="latchkey", error="invalid_token"';
    const parts = [401, 'invalid_token', 'credentials_invalid', challenge, null];
    expect(await varyingParts(await refused(authorization))).toEqual(parts);
    expect(service.requests).toEqual([]);
  });
});

it('refuses an unknown secret in the same way as a malformed one', async () => {
  service.reply = refusal('credentials_invalid');
  const unknown = await refused(bearer);
  expect(unknown).toEqual(await refused('Bearer none'));
  expect(service.requests).toHaveLength(1);
});

describe('a scope', () => {
  const withScope = (scope: string) => {
    service.reply = result({ ...grantDescription, scope });
  };

  it.each<[string, string, string | string[]]>([
    ['that the grant has', 'a', 'a'],
    ['that is one of the grant’s two', 'a b', 'b'],
    ['of several tokens, in any order', 'a b c', 'c a'],
    ['as an array', 'a b c', ['b', 'c']],
  ])('%s accepts the grant', async (_, held, scope) => {
    withScope(held);
    await expect(requireGrant(requestWith(bearer), { latchkey, scope })).resolves.toBeDefined();
  });

  it.each<[string, string, string | string[], string]>([
    ['that the grant lacks', 'b', 'a', 'b a'],
    ['that is only a prefix of the grant’s', 'photos.read', 'photos', 'photos.read photos'],
    ['in another case', 'A', 'a', 'A a'],
    ['of which the grant has only one', 'c b', 'a b', 'c b a'],
    ['of which the grant has only one, as an array', 'a', ['b', 'a', 'b'], 'a b'],
  ])('%s refuses the grant, and names what to ask for', async (_, held, scope, named) => {
    withScope(held);
    const challenge = `Bearer realm="latchkey", error="insufficient_scope", scope="${named}"`;
    expect(await varyingParts(await refused(bearer, { scope }))).toEqual([
      403,
      'insufficient_scope',
      'scope_insufficient',
      challenge,
      null,
    ]);
  });

  it.each([[''], [' '], ['a  b'], ['a"'], ['ä'], [[]], [['a b']], [[1]], [undefined], [null]])(
    'of %j is a configuration error and accepts no grant',
    async (scope) => {
      const options = { latchkey, scope } as GuardOptions;
      await expect(requireGrant(requestWith(bearer), options)).rejects.toThrow(TypeError);
      await expect(requireGrant(requestWith(bearer), options)).rejects.toThrow(/leave scope out/);
      expect(service.requests).toEqual([]);
    },
  );
});

describe('applications', () => {
  const other = '0193aa00-0000-7000-8000-000000000009';
  const notAccepted = [403, 'unauthorized_client', 'application_not_accepted', null, null];
  const documentUri = 'https://client.example/oauth.json';
  beforeEach(() => {
    service.reply = result({ ...grantDescription, document_uri: documentUri });
  });

  it.each([
    ['with the grant’s own', [applicationId]],
    ['with several', [other, applicationId]],
    ['in upper case', [applicationId.toUpperCase()]],
    ['with the address of its document', [other, documentUri]],
  ])('%s accept the grant', async (_, applications) => {
    const grant = await requireGrant(requestWith(bearer), { latchkey, applications });
    expect(grant.application_id).toBe(applicationId);
  });

  it('refuse the grant of another one, whatever its scope', async () => {
    for (const scope of ['profile.read', 'photos.read']) {
      const error = await refused(bearer, { applications: [other], scope });
      expect(await varyingParts(error)).toEqual(notAccepted);
    }
  });

  it.each([
    'https://client.example/oauth.json/',
    'https://CLIENT.example/oauth.json',
    'https://client.example:443/oauth.json',
  ])(
    'refuse a grant whose document has an address that differs by a character: %s',
    async (uri) => {
      expect(await varyingParts(await refused(bearer, { applications: [uri] }))).toEqual(
        notAccepted,
      );
    },
  );

  it('refuse a grant whose application the service does not tell', async () => {
    const { application_id: _, ...rest } = grantDescription;
    service.reply = result(rest);
    const error = await refused(bearer, { applications: [applicationId] });
    expect(await varyingParts(error)).toEqual(notAccepted);
  });

  it.each([
    [[]],
    [''],
    [applicationId],
    [['acme']],
    [['https://']],
    [['http://a.example/b']],
    [[1]],
    [undefined],
    [null],
  ])('of %j are a configuration error and accept no grant', async (applications) => {
    const options = { latchkey, applications } as GuardOptions;
    await expect(requireGrant(requestWith(bearer), options)).rejects.toThrow(TypeError);
    await expect(requireGrant(requestWith(bearer), options)).rejects.toThrow(
      /leave applications out/,
    );
    expect(service.requests).toEqual([]);
  });
});

describe('a resource', () => {
  const resource = 'https://mcp.example.com/mcp';
  const metadata =
    'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"';
  const invalid = `Bearer realm="latchkey", error="invalid_token"`;
  const grantFor = (of: string | null) => {
    service.reply = result({ ...grantDescription, resource: of });
  };

  it.each([resource, `${resource}/`, 'HTTPS://MCP.example.com:443/mcp'])(
    'written as %s accepts its own grants',
    async (written) => {
      grantFor(resource);
      const grant = await requireGrant(requestWith(bearer), { latchkey, resource: written });
      expect(grant).toHaveProperty('resource', resource);
    },
  );

  it.each([
    ['none', null],
    ['another host', 'https://other.example.com/mcp'],
    ['another port', 'https://mcp.example.com:8443/mcp'],
    ['another path', 'https://mcp.example.com/MCP'],
    ['a path below', 'https://mcp.example.com/mcp/a'],
    ['a path above', 'https://mcp.example.com'],
    ['the same over http', 'http://mcp.example.com/mcp'],
  ])('refuses a grant of %s', async (_, of) => {
    grantFor(of);
    expect(await varyingParts(await refused(bearer, { resource }))).toEqual([
      ...[401, 'invalid_token', 'resource_mismatch', `${invalid}, ${metadata}`],
      null,
    ]);
  });

  it('left out accepts grants of none alone', async () => {
    grantFor(resource);
    const parts = [401, 'invalid_token', 'resource_mismatch', invalid, null];
    expect(await varyingParts(await refused(bearer))).toEqual(parts);
    grantFor(null);
    await expect(requireGrant(requestWith(bearer), { latchkey })).resolves.toBeDefined();
  });

  const challengeOf = async (authorization: string | undefined, options: Partial<GuardOptions>) =>
    (await refused(authorization, { resource, ...options })).headers['WWW-Authenticate'];

  it('is in each challenge, with the scope that a client has to ask for', async () => {
    const scopes = ['notes.read', 'notes.write'];
    expect(await challengeOf(undefined, {})).toBe(`Bearer realm="latchkey", ${metadata}`);
    expect(await challengeOf(undefined, { scopes })).toBe(
      `Bearer realm="latchkey", scope="notes.read notes.write", ${metadata}`,
    );
    expect(await challengeOf('Bearer no', { scopes })).toBe(
      `${invalid}, scope="notes.read notes.write", ${metadata}`,
    );
    // The required one is what a client needs here.
    expect(await challengeOf('Bearer no', { scope: 'notes.read', scopes })).toBe(
      `${invalid}, scope="notes.read", ${metadata}`,
    );
    grantFor(resource);
    expect(await challengeOf(bearer, { scope: 'notes.write', scopes })).toBe(
      `Bearer realm="latchkey", error="insufficient_scope", scope="profile.read notes.write", ${metadata}`,
    );
  });

  it('without a path has its metadata at the root', async () => {
    expect(await challengeOf(undefined, { resource: 'https://mcp.example.com/' })).toBe(
      'Bearer realm="latchkey", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource"',
    );
  });

  it('that is not the grant’s is told before its application and its scope', async () => {
    grantFor(null);
    const options = { resource, scope: 'a', applications: ['https://client.example/b'] };
    expect((await refused(bearer, options)).body.error_code).toBe('resource_mismatch');
  });

  it.each([
    { resource: '' },
    { resource: 'mcp.example.com' },
    { resource: 'http://mcp.example.com' },
    { resource: `${resource}?a` },
    { resource: `${resource}"` },
    { resource: undefined },
    { resource: null },
    { scopes: 'notes.read' },
    { scopes: ['a b'] },
    { scopes: ['a"'] },
  ])('of %j is a configuration error and accepts no grant', async (wrong) => {
    const options = { latchkey, ...wrong } as GuardOptions;
    await expect(requireGrant(requestWith(bearer), options)).rejects.toThrow(TypeError);
    expect(service.requests).toEqual([]);
  });
});

it('tells the grant of a disabled application apart from a revoked one', async () => {
  service.reply = refusal('application_disabled');
  const error = await refused(bearer, { scope: 'photos.read', applications: [applicationId] });
  const parts = [403, 'unauthorized_client', 'application_disabled', null, null];
  expect(await varyingParts(error)).toEqual(parts);
  expect(error.message).toMatch(/keep the grant/);
  expect(error.cause).toHaveProperty('name', 'ApplicationDisabledError');
});

describe('accepts no request while Latchkey can’t tell', () => {
  const proxy: Reply = (response) => response.writeHead(502).end('<h1>Bad Gateway</h1>');
  const html: Reply = (response) => response.writeHead(200).end('<h1>Welcome</h1>');

  it.each<[string, Reply, string, string]>([
    ['a rate limit', refusal('rate_limited', {}, { 'retry-after': '7' }), '7', 'RateLimitedError'],
    [
      'an unreachable database',
      refusal('store_unavailable', {}, { 'retry-after': '1' }),
      '1',
      'UnavailableError',
    ],
    ['a failure of the service', refusal('internal_error'), '5', 'ServerError'],
    ['a proxy’s failure', proxy, '5', 'UnexpectedResponseError'],
    ['a page of another program', html, '5', 'UnexpectedResponseError'],
    ['a 401 of another program', failure(401, {}), '5', 'UnexpectedResponseError'],
    ['a missing route', refusal('route_not_found'), '5', 'InvalidRequestError'],
    ['a broken connection', (response) => response.destroy(), '5', 'ConnectionError'],
  ])('because of %s', async (_, reply, retry_after, cause) => {
    service.reply = reply;
    const error = await refused(bearer);
    const parts = [503, 'temporarily_unavailable', 'grant_unverifiable', null, retry_after];
    expect(await varyingParts(error)).toEqual(parts);
    expect(error.cause).toHaveProperty('name', cause);
  });

  it('but rethrows an error that is not Latchkey’s', async () => {
    const bug = new RangeError('A bug.');
    const broken = { grant: () => Promise.reject(bug) };
    const call = requireGrant(requestWith(bearer), { latchkey: broken });
    await expect(call).rejects.toBe(bug);
  });
});

it('caches nothing: a revoked grant is refused with the next request', async () => {
  const options = { latchkey, scope: 'profile.read' };
  await requireGrant(requestWith(bearer), options);
  await requireGrant(requestWith(bearer), options);
  expect(service.requests).toHaveLength(2);
  service.reply = refusal('credentials_invalid');
  expect(await refused(bearer, options)).toHaveProperty('status', 401);
});

it('creates any number of responses, with JSON that no cache may keep', async () => {
  const error = await refused(undefined);
  for (const response of [error.toResponse(), error.toResponse()]) {
    expect(response.headers.get('Content-Type')).toBe('application/json; charset=UTF-8');
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    expect(await response.json()).toEqual(error.body);
  }
});

it('puts its realm into the challenge, and rejects a realm that would break out of it', async () => {
  const realm = 'api.example';
  const { headers } = await refused(undefined, { realm });
  expect(headers['WWW-Authenticate']).toBe('Bearer realm="api.example"');
  for (const bad of ['', 'a"b', 'a\\b', 'a\r\nSet-Cookie: b', 'ä']) {
    await expect(refused(undefined, { realm: bad })).rejects.toThrow(/realm must be/);
  }
});

it('shows no secret in an error', async () => {
  const wrong = credential('grantSecret', 9).slice(0, -1);
  service.reply = failure(500, { error_code: 'internal_error', error_description: grantSecret });
  const errors = [
    await refused(bearer),
    await refused(`Bearer ${wrong}`),
    await refused(basic(`x:${grantSecret}`)),
  ];
  for (const error of errors) {
    const { message, stack, headers, body, cause } = error;
    const told = JSON.stringify([message, stack, headers, body, String(cause), cause]);
    expect(told).not.toContain(grantSecret);
    expect(told).not.toContain(wrong);
    expect(told).not.toContain(btoa(`x:${grantSecret}`));
  }
});
