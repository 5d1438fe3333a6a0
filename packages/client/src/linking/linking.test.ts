import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Recorded, refusal, result } from '../../test/fake-service.ts';
import {
  type Handler,
  handleNormally,
  type LinkingService,
  requestLost,
  responseLost,
  startLinkingService,
  unknownAndDone,
} from '../../test/linking-service.ts';
import { reason } from '../../test/reason.ts';
import { applicationSecret, code, fullGrant, grantId } from '../../test/samples.ts';
import { useFakeService } from '../../test/use-fake-service.ts';
import { type AnyLatchkeyError, Latchkey, LatchkeyConfigError } from '../index.ts';
import { expressLinking, fetchLinking, type LinkingOptions } from './index.ts';

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

/** Where a response leads, and the cookie that it sets; none if `count` is 0. */
function readResponse({ status, headers }: Response, count: 0 | 1 = 1) {
  expect(status).toBe(303);
  expect(headers.get('Cache-Control')).toBe('no-store');
  const cookies = headers.getSetCookie();
  expect(cookies).toHaveLength(count);
  const [cookie = ''] = cookies;
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
    expect(cookie).toMatch(new RegExp(`^__Host-latchkey-linking-${state.slice(0, 8)}=[\\w-]{43}$`));
    expect(attributes).toEqual(['HttpOnly', 'Max-Age=3600', 'Path=/', 'SameSite=Lax', 'Secure']);
  });

  it.each(['localhost', '127.0.0.1', '[::1]'])('does so without https on %s', async (host) => {
    options.redirectUri = `http://${host}:4000/callback`;
    const { state, cookie, attributes } = await begin();
    expect(cookie).toMatch(new RegExp(`^latchkey-linking-${state.slice(0, 8)}=`));
    expect(attributes).toEqual(['HttpOnly', 'Max-Age=3600', 'Path=/', 'SameSite=Lax']);
  });
});

describe('a site that opens connect again and again', () => {
  it('fills no Cookie header: the newest links stay', async () => {
    const linking = fetchLinking({ ...options, returnTo: `/${'a'.repeat(1_000)}` });
    const jar = new Map([['session', '1']]);
    const header = () => [...jar].map((pair) => pair.join('=')).join('; ');
    const states: string[] = [];
    for (let times = 0; times < 20; times += 1) {
      const request = new Request('https://acme.example/connect', {
        headers: { cookie: header() },
      });
      const { headers } = await linking.connect(request);
      states.push(new URL(headers.get('Location') as string).searchParams.get('state') as string);
      for (const cookie of headers.getSetCookie()) {
        expect(cookie).toContain('; Path=/; ');
        const [name = '', value = ''] = (cookie.split('; ')[0] as string).split('=');
        if (cookie.includes('Max-Age=0')) expect(jar.delete(name)).toBe(true);
        else jar.set(name, value);
      }
    }
    expect(header().length).toBeLessThan(8_000);
    const newest = states.slice(-5).map((state) => `__Host-latchkey-linking-${state.slice(0, 8)}`);
    expect([...jar.keys()]).toEqual(['session', ...newest]);
  });
});

describe('a request that is no navigation of a person', () => {
  const routes = ['connect', 'callback'] as const;
  const opened = async (
    route: (typeof routes)[number],
    headers: Record<string, string>,
    path = `/accounts/${route}?code=<1>&state="2"`,
  ) => {
    const request = new Request(`https://acme.example${path}`, { headers });
    const response = await fetchLinking(options)[route](request);
    expect(response.headers.get('Location')).toBeNull();
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(service.requests).toEqual([]);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  // The whole table is that of `navigationOf`.
  it.each(routes)('gets a page that leads to %s in a tab, if it is of a part', async (route) => {
    const { status, headers, text } = await opened(route, { 'sec-fetch-dest': 'iframe' });
    expect(status).toBe(400);
    expect(headers.get('Content-Type')).toBe('text/html; charset=UTF-8');
    expect(headers.get('Cache-Control')).toBe('no-store');
    expect(text).toContain(
      `<a href="./${route}?code=%3C1%3E&amp;state=%222%22" target="_top" data-turbo="false">Continue</a>`,
    );
  });

  it('leads to the path itself where it ends with a slash, and to no other host', async () => {
    const frame = { 'sec-fetch-dest': 'iframe' };
    expect((await opened('connect', frame, '/')).text).toContain('href="./"');
    expect((await opened('connect', frame, '/a/b:c')).text).toContain('href="./b:c"');
  });

  it.each(routes)('gets an empty 503 from %s, if it is a prefetch', async (route) => {
    const { status, headers, text } = await opened(route, {
      'sec-fetch-dest': 'document',
      'sec-fetch-mode': 'navigate',
      'sec-purpose': 'prefetch;prerender',
    });
    expect([status, text, headers.get('Cache-Control')]).toEqual([503, '', 'no-store']);
  });

  it('is not one that a service worker passes on', async () => {
    const headers = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'empty' };
    const linking = fetchLinking(options);
    const { answer, cookie } = await begin(linking, new Request(redirectUri, { headers }));
    const request = requestWith(answer, cookie);
    for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
    expect(readResponse(await linking.callback(request)).location).toBe('https://acme.example/');
    expect(options.onLinked).toHaveBeenCalledOnce();
  });
});

describe('callback', () => {
  it('converts the code with what the cookie kept, stores the grant, and notes its end', async () => {
    const linking = fetchLinking(options);
    const { answer, cookie } = await begin(linking);
    const request = requestWith(answer, `session=1; ${cookie}; theme=dark`);
    const { location, pair, attributes } = readResponse(await linking.callback(request));
    expect(service.requests.map(bodyOf)).toEqual([
      { code, redirect_uri: redirectUri, code_verifier: cookie.split('=')[1] },
    ]);
    expect(options.onLinked).toHaveBeenCalledExactlyOnceWith(fullGrant, request);
    expect(location).toBe('https://acme.example/');
    expect(pair).toBe(`${cookie.split('=')[0]}=done.${grantId}.`);
    expect(attributes).toEqual(['HttpOnly', 'Max-Age=600', 'Path=/', 'SameSite=Lax', 'Secure']);
  });

  it('keeps links in several tabs apart', async () => {
    const linking = fetchLinking(options);
    const tabs = await Promise.all([begin(linking), begin(linking), begin(linking)]);
    const cookies = tabs.map(({ cookie }) => cookie);
    for (const { answer, cookie } of tabs.reverse()) {
      await linking.callback(requestWith(answer, cookies.join('; ')));
      const [, verifier] = cookie.split('=');
      expect(bodyOf(service.requests.at(-1) as Recorded).code_verifier).toBe(verifier);
    }
    expect(options.onLinked).toHaveBeenCalledTimes(3);
  });

  it.each<[string, (begun: Awaited<ReturnType<typeof begin>>) => Request]>([
    ['without the cookie', ({ answer }) => requestWith(answer)],
    [
      'with the cookie of another link',
      ({ answer, cookie }) =>
        // Of the same name, as if two states began alike.
        requestWith(answer, cookie.replace(/=.*/, `=${'x'.repeat(43)}`)),
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

  it('refuses a callback that belongs to another redirect URI of this origin', async () => {
    // The service behind the other one has led the browser here, with a code that this service issued
    // for somebody else's account.
    const other = fetchLinking({ ...options, redirectUri: 'https://acme.example/other/callback' });
    const { answer, cookie } = await begin(other);
    options.onFailed = ({ name }) => `/failed?${name}`;
    const response = await fetchLinking(options).callback(requestWith(answer, cookie));
    expect(readResponse(response).location).toMatch(/\?StateMismatchError$/);
    expect(service.requests).toEqual([]);
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

describe('a callback that comes again', () => {
  const onAlready = vi.fn((id: string) => `/already?${id}`);
  const onFailed = vi.fn(({ name }: AnyLatchkeyError) => `/failed?${name}`);
  beforeEach(() => {
    vi.clearAllMocks();
    Object.assign(options, { onAlready, onFailed, returnTo: '/settings?a=1&b=ä' });
  });

  /** Ends a link, and the same callback again, as a browser with the cookie of the first response. */
  async function twice(denial?: Record<string, string>) {
    const linking = fetchLinking(options);
    const { answer, cookie, state } = await begin(linking);
    const callback = denial ? { iss: publicUrl, state, ...denial } : answer;
    const first = readResponse(await linking.callback(requestWith(callback, cookie)));
    for (const { mock } of [onFailed, vi.mocked(options.onLinked)]) mock.calls.length = 0;
    service.requests.length = 0;
    const again = readResponse(await linking.callback(requestWith(callback, first.pair)), 0);
    expect([service.requests, onFailed.mock.calls]).toEqual([[], []]);
    expect(options.onLinked).not.toHaveBeenCalled();
    return {
      note: first.pair.replace(/^.*?=/, ''),
      path: again.location.replace(/^.*?example/, ''),
    };
  }

  it('goes to onAlready after a success', async () => {
    expect(await twice()).toEqual({
      note: `done.${grantId}.%2Fsettings%3Fa%3D1%26b%3D%C3%A4`,
      path: `/already?${grantId}`,
    });
    expect(onAlready).toHaveBeenCalledOnce();
  });

  it('goes to onAlready if another callback got the grant too', async () => {
    service.reply = refusal('code_already_used', { grant_id: grantId });
    expect(await twice()).toMatchObject({ path: `/already?${grantId}` });
    expect(onAlready).toHaveBeenCalledTimes(2);
  });

  it('goes to returnTo after a denial, or without onAlready', async () => {
    const path = '/settings?a=1&b=%C3%A4';
    const denied = await twice({ error: 'access_denied' });
    expect(denied).toEqual({ note: 'denied.%2Fsettings%3Fa%3D1%26b%3D%C3%A4', path });
    delete options.onAlready;
    expect((await twice()).path).toBe(path);
  });

  it.each([
    ['the link failed', () => Object.assign(service, { reply: refusal('code_expired') })],
    [
      'the grant was not stored',
      () => Object.assign(options, { onLinked: () => Promise.reject(new Error('Full.')) }),
    ],
  ])('finds no note if %s', async (_, arrange) => {
    arrange();
    const cookies: string[] = [];
    const { connect, callback } = expressLinking(options as never);
    const open = async (route: typeof connect, url: string, cookie: string) => {
      const writeHead = vi.fn((..._: [number, Record<string, string>]) => ({ end() {} }));
      const appendHeader = (_: string, value: string) => cookies.push(value);
      await route({ url, headers: { cookie } }, { appendHeader, writeHead }, () => {});
      return writeHead.mock.lastCall?.[1].Location ?? '';
    };
    const state = new URL(await open(connect, '/', '')).searchParams.get('state') as string;
    const answer = new URLSearchParams({ code, state, iss: publicUrl });
    await open(callback, `/callback?${answer}`, cookies[0]?.split(';')[0] ?? '');
    expect(cookies[1]).toMatch(/=; Path=\/; Max-Age=0;/);
  });

  it.each([
    [`done.${grantId}`, `/already?${grantId}`],
    ['denied', '/'],
    ['done.x.', '/failed?StateMismatchError'],
    [`done.${grantId.slice(1)}.%2F`, '/failed?StateMismatchError'],
  ])('with the note %j, which the browser wrote itself, goes to %s', async (note, path) => {
    const linking = fetchLinking(options);
    const { answer, cookie } = await begin(linking);
    const request = requestWith(answer, cookie.replace(/=.*/, `=${note}`));
    const { location } = readResponse(await linking.callback(request), 0);
    expect(location).toBe(`https://acme.example${path}`);
    const away = requestWith(answer, cookie.replace(/=.*/, '=denied.https%3A%2F%2Fevil.example'));
    await expect(linking.callback(away)).rejects.toThrow(/must return a path/);
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

describe('the response with the grant is lost', () => {
  let losing: LinkingService;
  beforeAll(async () => {
    losing = await startLinkingService();
  });
  beforeEach(() => losing.reset());
  afterAll(() => losing.close());

  /** An application in `processes` processes with one store, whose user calls back twice at once. */
  async function callBackTwice(processes: 1 | 2) {
    const stored: string[] = [];
    const onAlready = vi.fn<(grantId: string) => string>((id) => `/already?${id}`);
    const started = Array.from({ length: processes }, () =>
      fetchLinking({
        ...options,
        latchkey: new Latchkey({ baseUrl: losing.url, publicUrl, applicationSecret }),
        onLinked: ({ grant_secret }) => {
          stored.push(grant_secret);
          return '/linked';
        },
        onAlready,
      }),
    );
    const [one, other = one] = started;
    const { answer, cookie } = await begin(one);
    const responses = await Promise.all(
      [one, other].map((linking) => linking?.callback(requestWith(answer, cookie)) as never),
    );
    const paths = responses.map((response) => {
      const { pathname, search } = new URL(readResponse(response).location);
      return pathname + search;
    });
    return { stored, paths: paths.sort() };
  }

  it('recovers the grant', async () => {
    losing.handlers = [responseLost.cut];
    const latchkey = new Latchkey({ baseUrl: losing.url, publicUrl, applicationSecret });
    const linking = fetchLinking({ ...options, latchkey });
    const { answer, cookie } = await begin(linking);
    readResponse(await linking.callback(requestWith(answer, cookie)));
    expect(options.onLinked).toHaveBeenCalledOnce();
    expect(vi.mocked(options.onLinked).mock.lastCall?.[0].grant_secret).toBe(losing.liveSecret());
  });

  it.each<[string, 1 | 2, Handler[], number]>([
    ['one process', 1, [], 1],
    ['one process, and the response is lost', 1, [responseLost.cut], 1],
    ['two processes', 2, [], 1],
    ['two processes, and the response is lost', 2, [responseLost.cut], 1],
    // The second one can't know that no grant was in the response that it lost.
    ['two processes, and the other response is lost', 2, [handleNormally, responseLost.garbled], 2],
  ])(
    'the last of two callbacks that stores a secret has one that works: %s',
    async (_, processes, handlers, count) => {
      losing.handlers = handlers;
      const { stored, paths } = await callBackTwice(processes);
      expect(stored).toHaveLength(count);
      expect(stored.at(-1)).toBe(losing.liveSecret());
      expect(paths.filter((path) => path === '/linked')).toHaveLength(stored.length);
      expect(paths.filter((path) => path === `/already?${grantId}`)).toHaveLength(
        2 - stored.length,
      );
    },
  );
});

describe('another callback got the grant', () => {
  it.each<[string, Handler[]]>([
    ['before this one', []],
    ['and used it, and the response to this one is lost', [responseLost.cut]],
    ['and used it, and the service can’t tell', [unknownAndDone]],
    ['while the request of this one was lost', [requestLost]],
  ])('%s', async (_, handlers) => {
    const used = await startLinkingService();
    const latchkey = new Latchkey({ baseUrl: used.url, publicUrl, applicationSecret });
    await latchkey.convert(code);
    used.grantIsUsed = true;
    used.handlers = handlers;
    const onAlready = vi.fn(() => '/already');
    const onFailed = vi.fn();
    const linking = fetchLinking({ ...options, latchkey, onAlready, onFailed });
    const { answer, cookie } = await begin(linking);
    const request = requestWith(answer, cookie);
    expect(readResponse(await linking.callback(request)).location).toMatch(/\/already$/);
    expect(onAlready).toHaveBeenCalledExactlyOnceWith(grantId, request);
    for (const other of [options.onLinked, onFailed]) expect(other).not.toHaveBeenCalled();
    await used.close();
  });

  it('leads to the start page without onAlready', async () => {
    service.reply = refusal('code_already_used', { grant_id: grantId });
    const linking = fetchLinking({ ...options, onFailed: () => '/failed' });
    const { answer, cookie } = await begin(linking);
    const { location } = readResponse(await linking.callback(requestWith(answer, cookie)));
    expect(location).toBe('https://acme.example/');
  });

  it('fails with the same error if the other one can’t store it', async () => {
    const onLinked = vi.fn(() => Promise.reject(new Error('The database is down.')));
    const { latchkey } = options;
    const finishLinking = vi.spyOn(latchkey, 'finishLinking');
    // Both callbacks wait for the response, which they share.
    service.reply = async (response, request) => {
      await vi.waitFor(() => expect(finishLinking).toHaveBeenCalledTimes(2), { timeout: 60_000 });
      result(fullGrant)(response, request);
    };
    const linking = fetchLinking({ ...options, latchkey, onLinked });
    const { answer, cookie } = await begin(linking);
    const callbacks = [1, 2].map(() => reason(linking.callback(requestWith(answer, cookie))));
    for (const error of await Promise.all(callbacks)) {
      expect(error).toMatchObject({ message: 'The database is down.' });
    }
    expect(onLinked).toHaveBeenCalledOnce();
  });
});

describe('an option that depends on the request', () => {
  const from = new Request('https://acme.example/connect?plan=pro&from=/settings%3Fa=1%26b=ä;', {
    headers: { 'accept-language': 'de' },
  });
  const query = ({ url }: Request, name: string) => new URL(url).searchParams.get(name);

  it('is a function of it', async () => {
    const linking = fetchLinking({
      ...options,
      scope: async (request) => (query(request, 'plan') ? 'profile.read photos.read' : 'none'),
      optionalScope: (request) => query(request, 'plan') && 'photos.write',
      loginHint: (request) => `${query(request, 'plan')}@acme.example`,
      uiLocales: (request) => request.headers.get('accept-language'),
    });
    const { url } = await begin(linking, from);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      scope: 'profile.read photos.read',
      optional_scope: 'photos.write',
      login_hint: 'pro@acme.example',
      ui_locales: 'de',
    });
  });

  it('is left out if it is null', async () => {
    const none = () => null;
    const linking = fetchLinking({
      ...{ ...options, optionalScope: none },
      ...{ loginHint: none, uiLocales: none, returnTo: none },
    });
    const { url, cookie } = await begin(linking);
    expect(url.searchParams.has('optional_scope')).toBe(false);
    expect([...url.searchParams.keys()]).not.toEqual(expect.arrayContaining(['login_hint']));
    expect([...url.searchParams.keys()]).not.toEqual(expect.arrayContaining(['ui_locales']));
    expect(cookie).toMatch(/=[\w-]{43}$/);
  });

  const returnTo = (request: Request) => query(request, 'from');

  it.each<[string, Partial<LinkingOptions<Request>>, string, string]>([
    ['a link', {}, 'ok', '/settings?a=1&b=%C3%A4;'],
    ['a link, if onLinked says nothing else', { onLinked: () => '/else' }, 'ok', '/else'],
    ['a denial', {}, 'access_denied', '/settings?a=1&b=%C3%A4;'],
    ['a failure', { onFailed: () => {} }, 'server_error', '/settings?a=1&b=%C3%A4;'],
  ])('returnTo is the path after %s', async (_, more, error, expected) => {
    const linking = fetchLinking({ ...options, returnTo, ...more });
    const { answer, cookie, state } = await begin(linking, from);
    // Every character of it may be in a cookie (RFC 6265, section 4.1.1).
    expect(cookie.split('=').slice(1).join('=')).toMatch(/^[\w.%*+-]+$/);
    const failed = { error, state, iss: publicUrl };
    const request = requestWith(error === 'ok' ? answer : failed, cookie);
    const { location } = readResponse(await linking.callback(request));
    expect(location).toBe(`https://acme.example${expected}`);
  });

  it.each(['https://evil.example/', '//evil.example', '/\\evil.example', 'settings', ''])(
    'returnTo never leads outside of the application: %j',
    async (path) => {
      const linking = fetchLinking({ ...options, returnTo: () => path });
      await expect(linking.connect(from)).rejects.toThrow(/must return a path/);
      expect(() => fetchLinking({ ...options, returnTo: path })).toThrow(/must return a path/);
    },
  );

  it('returnTo from a changed cookie does not either', async () => {
    const linking = fetchLinking({ ...options, returnTo });
    const { answer, cookie } = await begin(linking, from);
    const changed = `${cookie.split('.')[0]}.https%3A%2F%2Fevil.example%2F`;
    const request = requestWith(answer, changed);
    await expect(linking.callback(request)).rejects.toThrow(/must return a path/);
  });

  it('returnTo fits into a cookie', async () => {
    const linking = fetchLinking({ ...options, returnTo: () => `/${'ä'.repeat(200)}` });
    await expect(linking.connect(from)).rejects.toThrow(/returnTo has more than 1024/);
  });
});

describe('the host name', () => {
  const at = (url: string, headers = {}) => new Request(url, { headers });

  it.each([
    ['localhost', '127.0.0.1'],
    ['127.0.0.1', 'localhost'],
    ['[::1]', 'localhost'],
  ])('%s: connect goes to %s first', async (opened, registered) => {
    options.redirectUri = `http://${registered}:4000/callback`;
    const linking = fetchLinking(options);
    const response = await linking.connect(at(`http://${opened}:4000/connect?plan=pro`));
    const there = `http://${registered}:4000/connect?plan=pro`;
    expect(response.headers.get('Location')).toBe(there);
    expect(response.headers.getSetCookie()).toEqual([]);
    expect((await begin(linking, at(there))).url.pathname).toBe('/oauth/authorize');
  });

  it.each<[string, string, Request]>([
    ['the same name', 'localhost', at('http://localhost:4000/connect')],
    // Next.js makes up the name in the URL.
    [
      'the same name in the header',
      'localhost',
      at('http://127.0.0.1:4000/connect', { host: 'localhost:4000' }),
    ],
    // A development server that passes requests on with the host of its target.
    ['another port', 'localhost', at('http://127.0.0.1:5173/connect')],
    ['no name of this machine', 'localhost', at('http://acme.example:4000/connect')],
    ['no name at all', 'localhost', at('http://127.0.0.1:4000/connect', { host: 'a b' })],
  ])('is left as it is: %s', async (_, registered, request) => {
    options.redirectUri = `http://${registered}:4000/callback`;
    expect((await begin(fetchLinking(options), request)).url.pathname).toBe('/oauth/authorize');
  });

  it('is in the error if no cookie came along', async () => {
    const onFailed = vi.fn();
    const linking = fetchLinking({ ...options, onFailed });
    const { answer } = await begin(linking, at('https://www.acme.example/connect'));
    await linking.callback(requestWith(answer));
    const [[error]] = onFailed.mock.calls as [[Error]];
    expect(error.name).toBe('StateMismatchError');
    expect(error.message).toMatch(/cookie .* did not come .* sends it only to acme\.example/);
    expect(error.message).not.toContain(answer.state);
  });
});

it('expressLinking reads the address that was requested, whatever a router has made of `url`', async () => {
  const { connect, callback } = expressLinking(options as never);
  const cookies: string[] = [];
  const appendHeader = (_: string, value: string) => cookies.push(value);
  const writeHead = vi.fn((..._: [number, Record<string, string>]) => ({ end() {} }));
  await connect({ url: '/', headers: {} }, { appendHeader, writeHead }, () => {});
  const state = new URL(writeHead.mock.lastCall?.[1].Location ?? '').searchParams.get('state');
  const originalUrl = `/app/callback?${new URLSearchParams({ code, state: `${state}`, iss: publicUrl })}`;
  const headers = { cookie: cookies[0]?.split(';')[0] };
  const next = vi.fn();
  await callback({ url: '/callback', originalUrl, headers }, { appendHeader, writeHead }, next);
  expect(next).not.toHaveBeenCalled();
  expect(options.onLinked).toHaveBeenCalledOnce();
});

it('expressLinking leaves to the framework what can no longer be sent', async () => {
  const error = new Error('The headers are sent.');
  const response = {
    appendHeader() {},
    writeHead() {
      throw error;
    },
  };
  const next = vi.fn();
  const { connect } = expressLinking(options as never);
  await connect({ url: '/connect', headers: {} }, response, next);
  expect(next.mock.calls).toEqual([[error]]);
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

it('refuses a misspelt option as new Latchkey does', () => {
  const misspelt = { ...options, onfailed: () => {}, loginhint: 'ada' };
  expect(() => fetchLinking(misspelt)).toThrow(LatchkeyConfigError);
  expect(() => fetchLinking(misspelt)).toThrow(
    'fetchLinking has no option onfailed. Did you mean onFailed?',
  );
  expect(() => fetchLinking({ ...options, loginhint: 'ada' } as never)).toThrow(/loginHint/);
});
