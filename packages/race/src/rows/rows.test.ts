import { expect, onTestFinished, test } from 'vitest';
import {
  CLIENT,
  type Fault,
  OTHER_CLIENT,
  REQUESTS,
  startFaultyServer,
} from '../../test/faulty-server.ts';
import type { Login } from '../login/login.ts';
import type { RowResult } from '../measure.ts';
import { type Report, type RunOptions, run } from '../run.ts';
import type { Verdict } from './row.ts';
import { rows } from './rows.ts';

// Every row, with a server that has its fault, and with a server that has none.

/** Measures a server with faults; few codes are enough where the fault is planted. */
async function measure(faults: readonly Fault[], more: Partial<RunOptions> = {}): Promise<Report> {
  const server = await startFaultyServer(...faults);
  onTestFinished(server.close);
  const report = await run({
    issuer: server.url,
    tokenEndpoints: [`${server.url}/token`, `${server.url}/token-too`],
    resource: `${server.url}/resource`,
    client: CLIENT,
    otherClient: OTHER_CLIENT,
    login: (url, browser) => browser.open(url),
    codes: 2,
    pause: 0,
    requests: REQUESTS,
    onProgress: server.playRow,
    ...more,
  });
  const text = JSON.stringify(report);
  for (const secret of server.secrets) expect(text).not.toContain(secret);
  return report;
}

/** The rows that do not pass. */
const notPassing = ({ rows }: Report) =>
  Object.fromEntries(
    rows.filter(({ verdict }) => verdict !== 'pass').map(({ id, verdict }) => [id, verdict]),
  );

test('a server without a fault passes every row', async () => {
  const report = await measure([]);
  expect(notPassing(report)).toEqual({});
  expect(report.rows.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
});

const ALL_BEFORE = ['wrong-secret', 'no-secret', 'other-client', 'other-redirect-uri'];

/** The rows that a fault shows in, and in no other. */
const cases: [Fault[], Record<string, Verdict>][] = [
  [['a window without PKCE'], { race: 'fail' }],
  [['a window with PKCE'], { 'race-pkce': 'fail', 'race-routes': 'fail' }],
  [['a mark for each route'], { 'race-routes': 'fail' }],
  [['nobody wins a race'], { race: 'fail', 'race-pkce': 'fail', 'race-routes': 'fail' }],
  [
    ['losers get a 500'],
    { race: 'fail', 'race-pkce': 'fail', 'race-routes': 'fail', replay: 'error' },
  ],
  [
    ['losers get HTML'],
    { race: 'fail', 'race-pkce': 'fail', 'race-routes': 'fail', replay: 'error' },
  ],
  [
    ['losers get a redirect'],
    { race: 'fail', 'race-pkce': 'fail', 'race-routes': 'fail', replay: 'error' },
  ],
  [
    ['losers get nothing'],
    { race: 'error', 'race-pkce': 'error', 'race-routes': 'error', replay: 'error' },
  ],
  [
    ['losers wait and are busy'],
    { race: 'error', 'race-pkce': 'error', 'race-routes': 'error', replay: 'error' },
  ],
  [['some losers are busy'], { race: 'note', 'race-pkce': 'note', 'race-routes': 'note' }],
  [['a race revokes'], { race: 'note', 'race-pkce': 'note', 'race-routes': 'note' }],
  [['accepts a wrong secret'], { 'wrong-secret': 'fail' }],
  [['accepts no secret'], { 'no-secret': 'fail' }],
  [['accepts another client'], { 'other-client': 'fail' }],
  [['calls another client invalid'], {}],
  [['accepts another redirect URI'], { 'other-redirect-uri': 'fail' }],
  [['accepts a wrong verifier'], { 'wrong-verifier': 'fail' }],
  [['accepts no verifier'], { 'no-verifier': 'fail' }],
  [['accepts a verifier without a challenge'], { downgrade: 'fail' }],
  [
    ['a refusal uses the code up'],
    Object.fromEntries([...ALL_BEFORE, 'wrong-verifier', 'no-verifier'].map((id) => [id, 'note'])),
  ],
  [
    ['accepts a replay of the client'],
    { race: 'fail', 'race-pkce': 'fail', 'race-routes': 'fail', replay: 'fail' },
  ],
  [['accepts a replay with a wrong secret'], { 'replay-wrong-secret': 'fail' }],
  [['accepts a replay without a secret'], { 'replay-no-secret': 'fail' }],
  [['accepts a replay of another client'], { 'replay-other-client': 'fail' }],
  [['a replay keeps the token'], { replay: 'note' }],
  [
    ['a replay of a stranger revokes'],
    { 'replay-wrong-secret': 'note', 'replay-no-secret': 'note', 'replay-other-client': 'note' },
  ],
  [['introspects from a cache'], { 'revoked-introspection': 'fail' }],
  [['lets revoked tokens pass'], { 'revoked-resource': 'fail' }],
  [['revokes late'], { 'revoked-introspection': 'note', 'revoked-resource': 'note' }],
  [['refuses to introspect'], { exchange: 'note', 'revoked-introspection': 'skipped' }],
  [['introspects for others'], { exchange: 'note', 'revoked-introspection': 'skipped' }],
  [['demands PKCE by an error page'], { race: 'note', downgrade: 'note' }],
  [['demands PKCE to redeem'], { race: 'note' }],
  [['issues one code without PKCE'], { race: 'error' }],
  [['the login is busy without PKCE'], { race: 'error', downgrade: 'error' }],
  [['the login is undecided without PKCE'], { race: 'error', downgrade: 'error' }],
];
test.each(cases)('%j shows in its row alone', async (faults, expected) => {
  expect(notPassing(await measure(faults))).toEqual(expected);
});

test('what the losers of a race get is counted', async () => {
  const responses = async (fault: Fault) =>
    (await measure([fault])).rows.find(({ id }) => id === 'race')?.responses;
  const times = { median: expect.any(Number), longest: expect.any(Number) };
  expect(await responses('losers wait and are busy')).toEqual([
    { count: 14, status: 429, error: null, retryAfter: '1', ...times },
  ]);
  expect(await responses('losers get a redirect')).toEqual([
    { count: 14, status: 302, error: '302, a redirect', retryAfter: null, ...times },
  ]);
});

test('every row but the first has a fault that fails it', () => {
  const failed = new Set(
    cases.flatMap(([, found]) => Object.keys(found).filter((id) => found[id] === 'fail')),
  );
  expect(rows.map(({ id }) => id).filter((id) => !failed.has(id))).toEqual(['exchange']);
});

/** What happened to the codes of a row, and why. */
const rowOf = ({ rows }: Report, id: string) => {
  const { verdict, outcomes, reason } = rows.find((row) => row.id === id) as RowResult;
  return { verdict, outcomes, reason };
};

test('a server that demands PKCE issues no code without it, which passes', async () => {
  // The rest of a login does not hide that the browser is back.
  const login: Login = async (url, browser) => {
    await browser.open(url);
    return browser.isDone && !browser.url.includes('error') ? browser.url : browser.submit();
  };
  const report = await measure(['demands PKCE'], { login });
  expect(notPassing(report)).toEqual({});
  expect(rowOf(report, 'race').outcomes).toEqual({ 'not issued': 1 });
  expect(rowOf(report, 'downgrade').outcomes).toEqual({ 'not issued': 2 });
});

test('one that redeems no code without it gets a note, which is no failed race', async () => {
  const { outcomes } = rowOf(await measure(['demands PKCE to redeem'], { rows: ['race'] }), 'race');
  expect(outcomes).toEqual({ 'not redeemable without PKCE': 1 });
});

test.each<[string, Login, string]>([
  ['throws', () => Promise.reject(new Error('fetch failed')), 'The login failed: fetch failed'],
  [
    'ends at its own error',
    async (url) => new URL('/login?error', url),
    'The login ended without a code, at /login.',
  ],
])('a login that %s is no refusal of the server', async (_, failing, reason) => {
  const login: Login = (url, browser) =>
    url.includes('code_challenge') ? browser.open(url) : failing(url, browser);
  const report = await measure([], { login });
  const error = { verdict: 'error', outcomes: { unclear: 2 }, reason };
  expect([rowOf(report, 'race'), rowOf(report, 'downgrade')]).toEqual([error, error]);
});

test('the same token for every call is told apart', async () => {
  const faults: Fault[] = ['accepts a replay of the client', 'the same token for a code'];
  const report = await measure(faults, { rows: ['race'] });
  expect(rowOf(report, 'race')).toMatchObject({
    verdict: 'fail',
    outcomes: { 'the same token more than once': 2 },
  });
});

test('a revocation that takes effect late is told apart', async () => {
  const report = await measure(['revokes late'], { rows: ['revoked-resource'], codes: 1 });
  expect(rowOf(report, 'revoked-resource').outcomes).toEqual({ 'ended late': 1 });
});

test('a row says how many requests of its race were answered', async () => {
  const report = await measure(['losers wait and are busy'], { rows: ['race'] });
  expect(rowOf(report, 'race')).toEqual({
    verdict: 'error',
    outcomes: { 'once, and others busy': 2 },
    reason: "7 of 8 requests were answered by 429. Raise the server's limit for this test.",
  });
});

test('what could not be measured has its reason beside a row that fails', async () => {
  let logins = 0;
  const login: Login = async (url, browser) => {
    if (++logins === 3) throw new Error('no more');
    return browser.open(url);
  };
  const report = await measure(['a window with PKCE'], { login, rows: ['race-pkce'] });
  expect(rowOf(report, 'race-pkce')).toEqual({
    verdict: 'fail',
    outcomes: { 'more than once': 1, unclear: 1 },
    reason: 'The login failed: no more',
  });
});

test('a server that nothing can check is said to be exchanged', async () => {
  const more = { rows: ['revoked-introspection'], resource: undefined };
  const report = await measure(['refuses to introspect'], more);
  expect(rowOf(report, 'exchange')).toEqual({
    verdict: 'note',
    outcomes: { 'exchanged (no way to check the token)': 1 },
    reason: expect.stringMatching(
      /^The introspection endpoint responded with 401.* is left out\.$/,
    ),
  });
  expect(rowOf(report, 'revoked-introspection').reason).toMatch(/that answers this client/);
});
