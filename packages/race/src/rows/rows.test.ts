import { expect, onTestFinished, test } from 'vitest';
import {
  CLIENT,
  type Fault,
  OTHER_CLIENT,
  REQUESTS,
  startFaultyServer,
} from '../../test/faulty-server.ts';
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
  [['losers wait and are busy'], { replay: 'error' }],
  [['a race revokes'], { race: 'note', 'race-pkce': 'note', 'race-routes': 'note' }],
  [['accepts a wrong secret'], { 'wrong-secret': 'fail' }],
  [['accepts no secret'], { 'no-secret': 'fail' }],
  [['accepts another client'], { 'other-client': 'fail' }],
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

test('a server that demands PKCE issues no code without it, which passes', async () => {
  const report = await measure(['demands PKCE']);
  expect(notPassing(report)).toEqual({});
  const outcomes = (id: string) => report.rows.find((row) => row.id === id)?.outcomes;
  expect(outcomes('race')).toEqual({ 'not issued': 1 });
  expect(outcomes('downgrade')).toEqual({ 'not issued': 2 });
});
