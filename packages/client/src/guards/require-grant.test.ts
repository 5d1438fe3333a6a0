import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { failure, type Reply, refusal, result } from '../../test/fake-service.ts';
import {
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

/** What of an answer is not the same in all of them. */
async function essence(error: GrantRequiredError) {
  const response = error.toResponse();
  const { error: word, error_code } = (await response.json()) as Record<string, string>;
  const header = (name: string) => response.headers.get(name);
  return [response.status, word, error_code, header('WWW-Authenticate'), header('Retry-After')];
}

describe('lets in a live grant', () => {
  it.each([
    ['Bearer', bearer],
    ['Bearer in other letters', `bEARER  ${grantSecret} `],
    ['Basic, of id and secret', basic(`${grantId}:${grantSecret}`)],
    ['Basic, with the id in upper case', basic(`${grantId.toUpperCase()}:${grantSecret}`)],
  ])('with %s', async (_, authorization) => {
    const grant = await requireGrant(requestWith(authorization), { latchkey });
    expect(grant).toEqual(grantDescription);
    expect(service.requests.map(({ headers }) => headers.authorization)).toEqual([bearer]);
  });

  it('of a request as Node has it', async () => {
    const request = { headers: { authorization: bearer } };
    expect(await requireGrant(request, { latchkey })).toEqual(grantDescription);
  });
});

describe('refuses, without asking Latchkey,', () => {
  it('a request without an Authorization header, of either kind', async () => {
    const answer = [401, 'invalid_token', 'credentials_missing', 'Bearer realm="latchkey"', null];
    expect(await essence(await refused())).toEqual(answer);
    const error = await requireGrant({ headers: {} }, { latchkey }).catch((reason) => reason);
    expect(await essence(error)).toEqual(answer);
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
    ['a secret that was cut short', bearer.slice(0, -1)],
    ['a secret with a typo', bearer.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))],
    ['Basic that is no base 64', 'Basic ****'],
    ['Basic without a colon', basic(grantSecret)],
    ['Basic without an id', basic(`:${grantSecret}`)],
    ['Basic with the id of another grant', basic(`${grantId.slice(0, -1)}9:${grantSecret}`)],
    ['Basic without a secret', basic(`${grantId}:`)],
  ])('%s', async (_, authorization) => {
    const challenge = 'Bearer realm="latchkey", error="invalid_token"';
    const answer = [401, 'invalid_token', 'credentials_invalid', challenge, null];
    expect(await essence(await refused(authorization))).toEqual(answer);
    expect(service.requests).toEqual([]);
  });
});

it('refuses what Latchkey knows no live grant for, as it refuses what is none', async () => {
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
    ['that it has', 'a', 'a'],
    ['of two that it has', 'a b', 'b'],
    ['of several, in any order', 'a b c', 'c a'],
    ['as a list', 'a b c', ['b', 'c']],
  ])('%s lets the grant in', async (_, held, scope) => {
    withScope(held);
    await expect(requireGrant(requestWith(bearer), { latchkey, scope })).resolves.toBeDefined();
  });

  it.each<[string, string, string | string[], string]>([
    ['that it lacks', 'b', 'a', 'a'],
    ['that only begins like one it has', 'photos.read', 'photos', 'photos'],
    ['in other letters', 'A', 'a', 'a'],
    ['of which it has one', 'a', 'a b', 'a b'],
    ['of which it has one, as a list', 'a', ['a', 'b'], 'a b'],
  ])('%s refuses it', async (_, held, scope, named) => {
    withScope(held);
    const challenge = `Bearer realm="latchkey", error="insufficient_scope", scope="${named}"`;
    expect(await essence(await refused(bearer, { scope }))).toEqual([
      403,
      'insufficient_scope',
      'scope_insufficient',
      challenge,
      null,
    ]);
  });

  it.each([[''], [' '], ['a  b'], ['a"'], ['ä'], [[]], [['a b']], [[1]], [undefined], [null]])(
    'of %j is a mistake, which lets nobody in',
    async (scope) => {
      const options = { latchkey, scope } as GuardOptions;
      await expect(requireGrant(requestWith(bearer), options)).rejects.toThrow(TypeError);
      await expect(requireGrant(requestWith(bearer), options)).rejects.toThrow(/leave it out/);
      expect(service.requests).toEqual([]);
    },
  );
});

describe('lets nobody in while Latchkey can’t tell', () => {
  const proxy: Reply = (response) => response.writeHead(502).end('<h1>Bad Gateway</h1>');
  const html: Reply = (response) => response.writeHead(200).end('<h1>Welcome</h1>');

  it.each<[string, Reply, string, string]>([
    ['its limit', refusal('rate_limited', {}, { 'retry-after': '7' }), '7', 'RateLimitedError'],
    [
      'no database',
      refusal('store_unavailable', {}, { 'retry-after': '1' }),
      '1',
      'UnavailableError',
    ],
    ['its failure', refusal('internal_error'), '5', 'ServerError'],
    ['a proxy’s failure', proxy, '5', 'UnexpectedResponseError'],
    ['a page of something else', html, '5', 'UnexpectedResponseError'],
    ['a 401 of something else', failure(401, {}), '5', 'UnexpectedResponseError'],
    ['a route that is not there', refusal('route_not_found'), '5', 'InvalidRequestError'],
    ['a cut connection', (response) => response.destroy(), '5', 'ConnectionError'],
  ])('for %s', async (_, reply, retryAfter, cause) => {
    service.reply = reply;
    const error = await refused(bearer);
    const answer = [503, 'temporarily_unavailable', 'grant_unverifiable', null, retryAfter];
    expect(await essence(error)).toEqual(answer);
    expect(error.cause).toHaveProperty('name', cause);
  });

  it('and passes on what is no error of Latchkey’s', async () => {
    const bug = new RangeError('A bug.');
    const broken = { grant: () => Promise.reject(bug) };
    const call = requireGrant(requestWith(bearer), { latchkey: broken });
    await expect(call).rejects.toBe(bug);
  });
});

it('keeps nothing: every request asks, and a revoked grant is dead with the next', async () => {
  const options = { latchkey, scope: 'profile.read' };
  await requireGrant(requestWith(bearer), options);
  await requireGrant(requestWith(bearer), options);
  expect(service.requests).toHaveLength(2);
  service.reply = refusal('credentials_invalid');
  expect(await refused(bearer, options)).toHaveProperty('status', 401);
});

it('answers with JSON that no cache may keep, as often as it is asked to', async () => {
  const error = await refused(undefined);
  for (const response of [error.toResponse(), error.toResponse()]) {
    expect(response.headers.get('Content-Type')).toBe('application/json; charset=UTF-8');
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    expect(await response.json()).toEqual(error.body);
  }
});

it('names its realm in every challenge, and takes none that would break out of it', async () => {
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
