import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ConnectionError, type ErrorDetails, InvalidRequestError } from '../index.ts';
import { expressHost, fetchHost, type HostOptions } from './index.ts';

// What the routes ask the service for, and what becomes of its answers. tests/host.test.ts has the
// frameworks and the real service.

const HOST = 'https://photos.example';
const ADA = { account_id: '0193aa00-0000-7000-8000-0000000000a1', username: 'ada' };
const PAGE = 'https://link.example/link/1?ticket=lk_ticket_1';
const CALLBACK = 'https://acme.example/callback?code=lk_code_1';

const admin = {
  accounts: { put: vi.fn() },
  links: { identify: vi.fn(), approve: vi.fn(), deny: vi.fn() },
  pages: { create: vi.fn(), end: vi.fn() },
};
let account: typeof ADA | null;
let options: HostOptions<Request>;
beforeEach(() => {
  vi.resetAllMocks();
  account = ADA;
  admin.links.identify.mockImplementation(async ({ own_page }) => ({
    redirect_to: own_page ? null : PAGE,
  }));
  admin.links.approve.mockResolvedValue({ redirect_to: CALLBACK });
  admin.links.deny.mockResolvedValue({ redirect_to: `${CALLBACK}&error=access_denied` });
  admin.pages.create.mockResolvedValue({ url: PAGE });
  options = {
    admin: admin as never,
    signInUrl: `${HOST}/link?from=latchkey`,
    accountOf: async () => account,
    signInPage: (next, hints) => `/sign-in?${new URLSearchParams({ ...hints, next } as never)}`,
    home: '/start',
  };
});

const refusal = (error_code: string, more: ErrorDetails = {}) =>
  new InvalidRequestError('refused', { error_code, status: 400, ...more });

/** Opens the hand-off with parameters of the service. */
const open = (query: Record<string, string>, host = fetchHost(options)) =>
  host.handOff(new Request(`${HOST}/link?${new URLSearchParams(query)}`));

/** A form as a page of the host sends it. */
const form = (fields: Record<string, string>, headers?: Record<string, string>) =>
  new Request(`${HOST}/consent`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: headers ?? { 'Sec-Fetch-Site': 'same-origin' },
  });

const locationOf = ({ status, headers }: Response) => {
  expect({ status, cache: headers.get('Cache-Control') }).toEqual({
    status: 303,
    cache: 'no-store',
  });
  // The address that led here has a link in it.
  expect(headers.get('Referrer-Policy')).toBe('no-referrer');
  return headers.get('Location') as string;
};

/** The parameters of the sign-in page that a response leads to. */
function signInOf(response: Response) {
  const url = new URL(locationOf(response));
  expect(url.origin + url.pathname).toBe(`${HOST}/sign-in`);
  return Object.fromEntries(url.searchParams);
}

describe('handOff', () => {
  it('says who is signed in, and goes to the consent page', async () => {
    expect(locationOf(await open({ link: 'lk_link_1' }))).toBe(PAGE);
    expect(admin.links.identify.mock.calls).toEqual([
      [{ link: 'lk_link_1', account_id: ADA.account_id }],
    ]);
    expect(admin.accounts.put).not.toHaveBeenCalled();
  });

  it('lets the consent page ask what to choose', async () => {
    const question = { title: 'Which workspace?', options: [{ id: 'ws-7', label: 'Acme' }] };
    const choice = vi.fn(async () => question);
    const host = fetchHost({ ...options, choice });
    const request = new Request(`${HOST}/link?link=lk_link_1`);
    expect(locationOf(await host.handOff(request))).toBe(PAGE);
    expect(choice.mock.calls).toEqual([[ADA, request]]);
    const identified = { link: 'lk_link_1', account_id: ADA.account_id };
    expect(admin.links.identify.mock.calls).toEqual([[{ ...identified, choice: question }]]);

    await open({ link: 'lk_link_1' }, fetchHost({ ...options, choice: () => null }));
    expect(admin.links.identify).toHaveBeenLastCalledWith({ ...identified, choice: null });
    const consentPage = () => '/consent';
    expect(() => fetchHost({ ...options, choice, consentPage })).toThrow(
      'Leave choice out with consentPage',
    );
  });

  it('leads to the sign-in page first, with a way back that keeps the link', async () => {
    account = null;
    const hints = { login_hint: 'ada@example.com', ui_locales: 'de en' };
    expect(signInOf(await open({ link: 'lk_link_1', ...hints }))).toEqual({
      next: '/link?from=latchkey&link=lk_link_1',
      loginHint: hints.login_hint,
      uiLocales: hints.ui_locales,
      selectAccount: 'false',
    });
    expect(admin.links.identify).not.toHaveBeenCalled();
  });

  it('asks again who the user is, once, if the user wants another account', async () => {
    const asked = signInOf(await open({ link: 'lk_link_1', prompt: 'select_account' }));
    expect(asked.selectAccount).toBe('true');
    const back = await fetchHost(options).handOff(new Request(HOST + asked.next));
    expect(locationOf(back)).toBe(PAGE);
  });

  it.each([{}, { link: '' }])('is an ordinary sign-in with %j', async (query) => {
    expect(locationOf(await open(query))).toBe(`${HOST}/start`);
    account = null;
    expect(signInOf(await open(query)).next).toBe('/start');
    expect(admin.links.identify).not.toHaveBeenCalled();
  });

  it('puts an account that the service does not know, and repeats the call', async () => {
    admin.links.identify.mockRejectedValueOnce(refusal('account_not_found'));
    expect(locationOf(await open({ link: 'lk_link_1' }))).toBe(PAGE);
    expect(admin.accounts.put.mock.calls).toEqual([[ADA]]);
    expect(admin.links.identify).toHaveBeenCalledTimes(2);
  });

  it('leads back to the application if the user took too long', async () => {
    const expired = refusal('link_expired', { redirect_to: 'com.acme:/callback?error=%61' });
    admin.links.identify.mockRejectedValue(expired);
    // As the service wrote it.
    expect(locationOf(await open({ link: 'lk_link_1' }))).toBe('com.acme:/callback?error=%61');
  });

  it.each([
    ['link_decided', 409],
    ['link_not_found', 404],
  ] as const)('shows a page for %s', async (error_code, status) => {
    admin.links.identify.mockRejectedValue(refusal(error_code));
    options.home = '/start?a="1"&b=<2>';
    const response = await open({ link: 'lk_link_1' });
    expect(response.status).toBe(status);
    expect(response.headers.get('Content-Security-Policy')).toMatch(/frame-ancestors 'none'/);
    const text = await response.text();
    expect(text).toContain(`href="${HOST}/start?a=%221%22&amp;b=%3C2%3E"`);
    expect(text).not.toContain('lk_link');

    options.onDeadEnd = (reason) => `/sorry?why=${reason}`;
    expect(locationOf(await open({ link: 'lk_link_1' }))).toBe(`${HOST}/sorry?why=${error_code}`);
  });

  it('leaves every other error to the framework', async () => {
    for (const error of [new ConnectionError('no'), refusal('rate_limited'), new TypeError()]) {
      admin.links.identify.mockRejectedValue(error);
      await expect(open({ link: 'lk_link_1' })).rejects.toBe(error);
    }
    options.accountOf = () => Promise.reject(new Error('The session is broken.'));
    await expect(open({ link: 'lk_link_1' })).rejects.toThrow('The session is broken.');
  });
});

const POSTS = {
  connections: () => fetchHost(options).connections,
  decide: () => fetchHost(options).decide,
  signOut: () => fetchHost(options).signOut(endSession),
};
const endSession = vi.fn();
const fields = { link: 'lk_link_1', account_id: ADA.account_id, decision: 'allow' };

describe.each(Object.entries(POSTS))('a form of %s', (_, route) => {
  beforeEach(() => {
    options.consentPage = (link) => `/consent?link=${link}`;
    endSession.mockImplementation(() => new Response(null, { status: 303 }));
  });

  it.each<Record<string, string>>([
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'none' },
    { 'Sec-Fetch-Site': 'cross-site', Origin: HOST },
    { Origin: 'https://evil.example' },
    { Origin: 'https://photos.example.evil.example' },
    { Origin: 'http://photos.example' },
    { Origin: 'null' },
    {},
  ])('with %j is refused, and does nothing', async (headers) => {
    const response = await route()(form(fields, headers));
    expect(response.status).toBe(403);
    for (const call of [admin.links.approve, admin.links.deny, admin.pages.create]) {
      expect(call).not.toHaveBeenCalled();
    }
    expect([admin.pages.end, endSession].flatMap(({ mock }) => mock.calls)).toEqual([]);
  });

  it.each([{ 'Sec-Fetch-Site': 'same-origin', Origin: 'null' }, { Origin: HOST }])(
    'with %j is of this host',
    async (headers) => {
      expect((await route()(form(fields, headers))).status).toBe(303);
    },
  );
});

describe('connections', () => {
  const press = () => fetchHost(options).connections(form({}));

  it('leads to the page of the service, which leads back', async () => {
    expect(locationOf(await press())).toBe(PAGE);
    const { account_id } = ADA;
    const page = { page: 'connections', account_id, return_url: `${HOST}/start` };
    expect(admin.pages.create.mock.calls).toEqual([[page]]);
  });

  it('puts an account that the service does not know', async () => {
    admin.pages.create.mockRejectedValueOnce(refusal('account_not_found'));
    expect(locationOf(await press())).toBe(PAGE);
    expect(admin.accounts.put).toHaveBeenCalledExactlyOnceWith(ADA);
  });

  it('leads to the sign-in page first', async () => {
    account = null;
    expect(signInOf(await press()).next).toBe('/start');
  });
});

describe('signOut', () => {
  const press = () =>
    fetchHost(options).signOut(endSession.mockImplementation(() => new Response('bye')))(form({}));

  it('ends the pages of the account, then the session', async () => {
    admin.pages.end.mockImplementation(async () => expect(endSession).not.toHaveBeenCalled());
    expect(await (await press()).text()).toBe('bye');
    expect(admin.pages.end.mock.calls).toEqual([
      [{ account_id: ADA.account_id }, { timeoutMs: 3_000 }],
    ]);
    account = null;
    await press();
    expect([admin.pages.end, endSession].map(({ mock }) => mock.calls.length)).toEqual([1, 2]);
  });

  it('ends the session also if the service is not reachable', async () => {
    admin.pages.end.mockRejectedValue(new ConnectionError('no'));
    expect(await (await press()).text()).toBe('bye');
    admin.pages.end.mockRejectedValue(new TypeError('A fault of the program.'));
    await expect(press()).rejects.toThrow('A fault of the program.');
  });
});

describe('a consent page of the host', () => {
  beforeEach(() => {
    options.consentPage = (link) => `/consent?link=${link}`;
  });
  const press = (more: Record<string, string> = {}) =>
    fetchHost(options).decide(form({ ...fields, ...more }));
  const HAND_OFF = `${HOST}/link?from=latchkey&link=lk_link_1`;

  it('is shown for the account that is identified', async () => {
    expect(locationOf(await open({ link: 'lk_link_1' }))).toBe(`${HOST}/consent?link=lk_link_1`);
    expect(admin.links.identify.mock.calls).toEqual([
      [{ link: 'lk_link_1', account_id: ADA.account_id, own_page: true }],
    ]);
  });

  it('approves for whom it was shown', async () => {
    expect(locationOf(await press())).toBe(CALLBACK);
    expect(locationOf(await press({ account_id: ADA.account_id.toUpperCase() }))).toBe(CALLBACK);
    const approval = [{ link: 'lk_link_1', account_id: ADA.account_id }];
    expect(admin.links.approve.mock.calls).toEqual([approval, approval]);
  });

  it('asks again, and decides nothing, where somebody else is signed in by now', async () => {
    // This browser has another user.
    account = { account_id: '0193aa00-0000-7000-8000-0000000000a2', username: 'grace' };
    expect(locationOf(await press())).toBe(HAND_OFF);
    account = null;
    expect(locationOf(await press())).toBe(HAND_OFF);
    expect(admin.links.approve).not.toHaveBeenCalled();
    // The link was opened by another user since.
    account = ADA;
    admin.links.approve.mockRejectedValue(refusal('account_changed'));
    expect(locationOf(await press())).toBe(HAND_OFF);
  });

  it('denies, also for nobody', async () => {
    account = null;
    expect(locationOf(await press({ decision: 'deny' }))).toMatch(/error=access_denied$/);
    expect(admin.links.deny.mock.calls).toEqual([[{ link: 'lk_link_1' }]]);
    admin.links.deny.mockRejectedValue(refusal('link_decided'));
    expect((await press({ decision: 'deny' })).status).toBe(409);
  });

  it.each([{ decision: '' }, { decision: 'Allow' }, { link: '' }, { account_id: '' }])(
    'approves nothing with %j',
    async (more) => {
      expect([303, 403]).toContain((await press(more)).status);
      expect(admin.links.approve).not.toHaveBeenCalled();
    },
  );

  it.each<[string, RequestInit]>([
    ['no body', {}],
    ['JSON', { body: JSON.stringify(fields) }],
    ['half a form', { body: 'a', headers: { 'Content-Type': 'multipart/form-data; boundary=b' } }],
  ])('refuses %s, and leaves no error to the framework', async (_, init) => {
    const request = new Request(`${HOST}/consent`, { method: 'POST', ...init });
    request.headers.set('Sec-Fetch-Site', 'same-origin');
    expect((await fetchHost(options).decide(request)).status).toBe(403);
  });

  it('approves nothing that the page of the service asks', async () => {
    options.consentPage = undefined;
    expect((await press()).status).toBe(403);
    expect(locationOf(await press({ decision: 'deny' }))).toMatch(/error=access_denied$/);
    expect(admin.links.approve).not.toHaveBeenCalled();
  });
});

it('expressHost leaves to the framework what can no longer be sent', async () => {
  const error = new Error('The headers are sent.');
  const response = {
    writeHead() {
      throw error;
    },
  };
  const next = vi.fn();
  await expressHost(options as never).handOff({ url: '/link', headers: {} }, response, next);
  expect(next.mock.calls).toEqual([[error]]);
});

describe('the options', () => {
  it.each([undefined, '/link', 'http://photos.example/link', 'com.photos:/link'])(
    'have no signInUrl %j',
    (signInUrl) => {
      expect(() => fetchHost({ ...options, signInUrl: signInUrl as string })).toThrow(
        /^signInUrl must be/,
      );
    },
  );

  it('are checked before the first request arrives', () => {
    expect(() => fetchHost({ ...options, signInURL: '' } as never)).toThrow(/mean signInUrl\?/);
    for (const name of ['accountOf', 'signInPage']) {
      expect(() => fetchHost({ ...options, [name]: undefined })).toThrow(`${name} must be`);
    }
  });

  it('lead to other origins only where they say so', async () => {
    account = null;
    options.signInPage = (next) => `https://id.photos.example/?next=${next}`;
    expect(locationOf(await open({}))).toBe('https://id.photos.example/?next=/start');
  });
});
