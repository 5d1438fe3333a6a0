import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type Recorded, refusal, result } from '../../test/fake-service.ts';
import { applicationSecret, code, fullGrant } from '../../test/samples.ts';
import { useFakeService } from '../../test/use-fake-service.ts';
import { type AnyLatchkeyError, Latchkey } from '../index.ts';
import { fetchLinking, type LinkingOptions } from './index.ts';

const service = useFakeService(result(fullGrant));
const publicUrl = 'https://link.example';
const redirectUri = 'https://acme.example/callback';

let options: LinkingOptions<Request>;
beforeEach(() => {
  service.reply = result(fullGrant);
  options = {
    latchkey: new Latchkey({ baseUrl: service.url, publicUrl, applicationSecret, maxRetries: 0 }),
    redirectUri,
    scope: 'profile.read',
    onLinked: vi.fn(),
  };
});

/** Where a response leads, and the cookie that it sets. */
function readResponse({ status, headers }: Response) {
  expect(status).toBe(303);
  expect(headers.get('Cache-Control')).toBe('no-store');
  const [cookie = '', ...others] = headers.getSetCookie();
  expect(others).toEqual([]);
  const [pair = '', ...attributes] = cookie.split('; ');
  return { location: headers.get('Location') as string, pair, attributes: attributes.sort() };
}

/** Begins a link, and returns the parameters of the callback for it, with its cookie. */
async function begin(
  linking = fetchLinking(options),
  request = new Request('https://acme.example/'),
) {
  const { location, pair, attributes } = readResponse(await linking.connect(request));
  const url = new URL(location);
  const state = url.searchParams.get('state') as string;
  return { url, state, cookie: pair, attributes, answer: { code, state, iss: publicUrl } };
}

function requestWith(answer: Record<string, string>, cookie = '') {
  const url = `${redirectUri}?${new URLSearchParams(answer)}`;
  return new Request(url, { headers: { cookie } });
}

const bodyOf = ({ body }: Recorded) => JSON.parse(body);

describe('connect', () => {
  it('sends the browser to the service, with a cookie that keeps state and verifier', async () => {
    const { url, state, cookie, attributes } = await begin();
    expect(url.origin + url.pathname).toBe(`${publicUrl}/oauth/authorize`);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      redirect_uri: redirectUri,
      scope: 'profile.read',
    });
    expect(cookie).toMatch(
      new RegExp(`^__Host-latchkey-linking-${state.slice(0, 8)}=${state}\\.[\\w-]{43}$`),
    );
    expect(attributes).toEqual(['HttpOnly', 'Max-Age=3600', 'Path=/', 'SameSite=Lax', 'Secure']);
  });

  it.each(['localhost', '127.0.0.1', '[::1]'])('does so without https on %s', async (host) => {
    options.redirectUri = `http://${host}:4000/callback`;
    const { state, cookie, attributes } = await begin();
    expect(cookie).toMatch(new RegExp(`^latchkey-linking-${state.slice(0, 8)}=`));
    expect(attributes).toEqual(['HttpOnly', 'Max-Age=3600', 'Path=/', 'SameSite=Lax']);
  });
});

describe('callback', () => {
  it('converts the code with what the cookie kept, stores the grant, and forgets the link', async () => {
    const linking = fetchLinking(options);
    const { answer, cookie } = await begin(linking);
    const request = requestWith(answer, `session=1; ${cookie}; theme=dark`);
    const { location, pair, attributes } = readResponse(await linking.callback(request));
    expect(service.requests.map(bodyOf)).toEqual([
      { code, redirect_uri: redirectUri, code_verifier: cookie.split('.')[1] },
    ]);
    expect(options.onLinked).toHaveBeenCalledExactlyOnceWith(fullGrant, request);
    expect(location).toBe('https://acme.example/');
    expect(pair).toBe(`${cookie.split('=')[0]}=`);
    expect(attributes).toContain('Max-Age=0');
  });

  it('keeps links in several tabs apart', async () => {
    const linking = fetchLinking(options);
    const tabs = await Promise.all([begin(linking), begin(linking), begin(linking)]);
    const cookies = tabs.map(({ cookie }) => cookie);
    for (const { answer, cookie } of tabs.reverse()) {
      await linking.callback(requestWith(answer, cookies.join('; ')));
      const [, verifier] = cookie.split('.');
      expect(bodyOf(service.requests.at(-1) as Recorded).code_verifier).toBe(verifier);
    }
    expect(options.onLinked).toHaveBeenCalledTimes(3);
  });

  it.each<[string, (begun: Awaited<ReturnType<typeof begin>>) => Request]>([
    ['without the cookie', ({ answer }) => requestWith(answer)],
    [
      'with the cookie of another link',
      ({ answer, cookie, state }) =>
        // Of the same name, as if two states began alike.
        requestWith(answer, cookie.replace(`=${state}`, `=${state.slice(0, 8)}${'x'.repeat(35)}`)),
    ],
    ['with another state', ({ answer, cookie }) => requestWith({ ...answer, state: 'x' }, cookie)],
    ['without a state', ({ cookie }) => requestWith({ code, iss: publicUrl }, cookie)],
    [
      'with a state that is no cookie name',
      ({ answer, cookie }) => requestWith({ ...answer, state: 'a\r\nSet-Cookie: b=c; =' }, cookie),
    ],
  ])('refuses a callback %s, and sends nothing', async (_, request) => {
    options.onFailed = ({ name }) => `/failed?${name}`;
    const linking = fetchLinking(options);
    const response = await linking.callback(request(await begin(linking)));
    expect(response.headers.get('Location')).toBe('https://acme.example/failed?StateMismatchError');
    expect(service.requests).toEqual([]);
    expect(options.onLinked).not.toHaveBeenCalled();
  });

  it('refuses the answer of another service', async () => {
    options.onFailed = ({ name }) => `/failed?${name}`;
    const linking = fetchLinking(options);
    const { answer, cookie } = await begin(linking);
    const request = requestWith({ ...answer, iss: 'https://evil.example' }, cookie);
    expect(readResponse(await linking.callback(request)).location).toMatch(/\?IssuerMismatchError/);
    expect(service.requests).toEqual([]);
  });
});

describe('the signed-in user', () => {
  const userOf = ({ headers }: Request) => headers.get('x-user');
  const as = (user: string, request: Request) => {
    request.headers.set('x-user', user);
    return request;
  };

  it('who began a link can finish it', async () => {
    const linking = fetchLinking({ ...options, userOf });
    const { answer, cookie } = await begin(linking, as('ada', new Request(redirectUri)));
    await linking.callback(as('ada', requestWith(answer, cookie)));
    expect(options.onLinked).toHaveBeenCalledOnce();
  });

  it.each([
    ['ada', 'grace'],
    ['ada', ''],
    ['', 'ada'],
  ])('%s begins a link, and it does not end for "%s"', async (one, other) => {
    const linking = fetchLinking({ ...options, userOf, onFailed: ({ name }) => `/${name}` });
    const { answer, cookie } = await begin(linking, as(one, new Request(redirectUri)));
    const response = await linking.callback(as(other, requestWith(answer, cookie)));
    expect(readResponse(response).location).toMatch(/\/StateMismatchError$/);
    expect(service.requests).toEqual([]);
  });

  it('cannot be read from the state', async () => {
    const linking = fetchLinking({ ...options, userOf });
    const states = await Promise.all(
      ['ada', 'ada'].map(
        async (user) => (await begin(linking, as(user, new Request(redirectUri)))).state,
      ),
    );
    expect(new Set(states).size).toBe(2);
    for (const state of states) expect(state).toMatch(/^[\w-]{43}$/);
  });
});

describe('the address after a link', () => {
  it.each<[unknown, string]>([
    ['/settings?tab=1#linked', 'https://acme.example/settings?tab=1#linked'],
    [undefined, 'https://acme.example/'],
    [{ rows: 1 }, 'https://acme.example/'],
    // As a path alone, it would lead to another host.
    ['/..//evil.example', 'https://acme.example//evil.example'],
  ])('of %j is %s', async (path, expected) => {
    const linking = fetchLinking({ ...options, onLinked: async () => path });
    const { answer, cookie } = await begin(linking);
    expect(readResponse(await linking.callback(requestWith(answer, cookie))).location).toBe(
      expected,
    );
  });

  it.each([
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    'id-7',
    '',
  ])('is never outside of the application: %j', async (path) => {
    const linking = fetchLinking({ ...options, onLinked: () => path });
    const { answer, cookie } = await begin(linking);
    const request = requestWith(answer, cookie);
    await expect(linking.callback(request)).rejects.toThrow(/must return a path/);
  });
});

describe('a failure', () => {
  const denied = { error: 'access_denied', error_code: 'access_denied' };

  it('goes to onFailed, which says where the browser goes', async () => {
    const onFailed = vi.fn(
      (_: AnyLatchkeyError, { url }: Request) => `/why${new URL(url).pathname}`,
    );
    const linking = fetchLinking({ ...options, onFailed });
    const { answer, cookie } = await begin(linking);
    service.reply = refusal('code_expired');
    const response = await linking.callback(requestWith(answer, cookie));
    expect(readResponse(response)).toMatchObject({
      location: 'https://acme.example/why/callback',
      attributes: expect.arrayContaining(['Max-Age=0']),
    });
    expect(onFailed.mock.lastCall?.[0]).toMatchObject({ name: 'CodeExpiredError' });
  });

  it('leads to the start page after a denial, and rejects otherwise, without onFailed', async () => {
    const linking = fetchLinking(options);
    const { state, cookie } = await begin(linking);
    const answer = { ...denied, state, iss: publicUrl };
    const { location } = readResponse(await linking.callback(requestWith(answer, cookie)));
    expect(location).toBe('https://acme.example/');
    const failed = requestWith({ ...answer, error: 'invalid_scope' }, cookie);
    await expect(linking.callback(failed)).rejects.toMatchObject({ name: 'LinkFailedError' });
  });

  it('of the application itself is left to its framework', async () => {
    const onFailed = vi.fn();
    const onLinked = () => Promise.reject(new Error('The database is down.'));
    const linking = fetchLinking({ ...options, onLinked, onFailed });
    const { answer, cookie } = await begin(linking);
    const linked = linking.callback(requestWith(answer, cookie));
    await expect(linked).rejects.toThrow('The database is down.');
    const userOf = () => Promise.reject(new Error('The session is broken.'));
    const asking = fetchLinking({ ...options, userOf, onFailed });
    const asked = asking.callback(requestWith(answer, cookie));
    await expect(asked).rejects.toThrow('The session is broken.');
    expect(onFailed).not.toHaveBeenCalled();
  });
});

it.each([
  undefined,
  '/callback',
  'http://acme.example/callback',
  'com.acme.app:/callback',
  'http://localhost.evil.example/callback',
])('refuses the redirect URI %j before the first request', (wrong) => {
  expect(() => fetchLinking({ ...options, redirectUri: wrong as string })).toThrow(
    /redirectUri must/,
  );
});

it('refuses to be created without onLinked', () => {
  expect(() => fetchLinking({ ...options, onLinked: undefined as never })).toThrow(/onLinked must/);
});
