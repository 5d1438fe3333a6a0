import { expect, onTestFinished, test } from 'vitest';
import { CLIENT, OTHER_CLIENT, PUBLIC_CLIENT, startFaultyServer } from '../test/faulty-server.ts';
import { randomOf } from './random.ts';
import { scheduleOf } from './rows/races.ts';
import { type RunOptions, run } from './run.ts';

const login = async (url: string) => url;

test.each([
  [
    { issuer: 'https://login.example.com' },
    /^--issuer is at login\.example\.com, which is not this machine.*--host login/,
  ],
  [
    { issuer: 'http://127.0.0.1:9', resource: 'http://127.0.0.1.example:9' },
    /127\.0\.0\.1\.example/,
  ],
  [{ issuer: 'ftp://127.0.0.1' }, /no address of HTTP/],
  [{ issuer: 'server' }, /--issuer needs a whole URL/],
  [{}, /Give --issuer, or/],
  [{ issuer: 'http://127.0.0.1:9', codes: 101 }, /--codes has to be a whole number from 1 to 100/],
  [{ issuer: 'http://127.0.0.1:9', requests: 9 }, /--requests .* 2 to 8/],
  [{ issuer: 'https://a.example', hosts: ['a.example'], pause: 99 }, /--pause .* 100 to/],
  [{ issuer: 'http://127.0.0.1:9', rows: ['rase'] }, /no row rase/],
  [{ issuer: 'http://127.0.0.1:9', loginTimeout: 1e12 }, /^loginTimeout has to be .* 2147483647/],
  // The attack on a server elsewhere is not led to this machine.
  [
    { issuer: 'http://127.0.0.1:9', hosts: ['login.example.com'] },
    /127\.0\.0\.1, which is not named by --host.*--host 127\.0\.0\.1/,
  ],
  // A name server may lead it elsewhere.
  [{ issuer: 'http://login.localhost:9' }, /login\.localhost, which is not this machine/],
  [
    { issuer: 'http://127.0.0.1:9', client: { id: 'a' }, clientAuth: 'post' as const },
    /OAUTH_RACE_SECRET/,
  ],
])('%j is a wrong option', async (options, message) => {
  await expect(run({ client: CLIENT, login, ...options })).rejects.toThrow(message);
});

test('an endpoint of the metadata on another host is refused, and named', async () => {
  const server = await startFaultyServer();
  onTestFinished(server.close);
  const options = { issuer: server.url, client: CLIENT, login };
  await expect(
    run({ ...options, tokenEndpoints: ['https://elsewhere.example/token'] }),
  ).rejects.toThrow('--token-endpoint is at elsewhere.example');
  server.publish({ revocation_endpoint: 'https://login.example.com/revoke' });
  await expect(run(options)).rejects.toThrow(
    'revocation_endpoint of the metadata is at login.example.com, which is not this machine.',
  );
  server.publish({ revocation_endpoint: null });
  // A redirect of the login ends in the row.
  const { rows } = await run({
    ...options,
    rows: [],
    login: (_, browser) => browser.open('https://elsewhere.example'),
  });
  expect(rows[0]?.reason).toMatch(/elsewhere\.example, which is not this machine/);
});

test.each(['basic', 'post'] as const)('clients authenticate by %s', async (clientAuth) => {
  const server = await startFaultyServer();
  onTestFinished(server.close);
  const { rows } = await run({
    issuer: server.url,
    client: CLIENT,
    otherClient: OTHER_CLIENT,
    clientAuth,
    login: (url, browser) => browser.open(url),
    rows: ['wrong-secret', 'other-client'],
    codes: 1,
  });
  expect(rows.map(({ verdict }) => verdict)).toEqual(['pass', 'pass', 'pass']);
});

test.each([
  ['confidential', 'public', CLIENT, PUBLIC_CLIENT, 'post'],
  ['confidential', 'confidential', CLIENT, OTHER_CLIENT, undefined],
  ['public', 'confidential', PUBLIC_CLIENT, OTHER_CLIENT, undefined],
  ['public', 'confidential', PUBLIC_CLIENT, OTHER_CLIENT, 'none'],
] as const)('a %s client and a %s other one authenticate, each in its way', async (...clients) => {
  const [, , client, otherClient, clientAuth] = clients;
  const rows = await measureOther({ client, otherClient, clientAuth });
  expect(rows).toEqual([
    ['pass', null],
    ['pass', null],
    ['pass', null],
  ]);
});

test.each([
  { ...OTHER_CLIENT, secret: 'a-wrong-secret' },
  { id: 'unknown', secret: 'any' },
  { id: 'unknown' },
])('a second client that is not authenticated is no attempt: %j', async (otherClient) => {
  const error = [
    'error',
    'The second client was not authenticated. Is OAUTH_RACE_OTHER_SECRET right?',
  ];
  expect(await measureOther({ client: CLIENT, otherClient })).toEqual([
    ['pass', null],
    error,
    error,
  ]);
});

/** The verdicts of the rows with another client, and their reasons. */
async function measureOther(options: Pick<RunOptions, 'client' | 'otherClient' | 'clientAuth'>) {
  const server = await startFaultyServer();
  onTestFinished(server.close);
  const { rows } = await run({
    ...options,
    issuer: server.url,
    login: (url, browser) => browser.open(url),
    rows: ['other-client', 'replay-other-client'],
    codes: 1,
  });
  return rows.map(({ verdict, reason }) => [verdict, reason]);
}

test('without a way to check the token, the report says so', async () => {
  const server = await startFaultyServer();
  onTestFinished(server.close);
  const { rows } = await run({
    authorizationEndpoint: `${server.url}/authorize`,
    tokenEndpoints: [`${server.url}/token`],
    client: CLIENT,
    login: (url, browser) => browser.open(url),
    rows: [],
  });
  expect(rows).toMatchObject([
    { verdict: 'pass', outcomes: { 'exchanged (no way to check the token)': 1 } },
  ]);
});

test('a client without a secret has no rows about secrets, and one alone none with another', async () => {
  const server = await startFaultyServer();
  onTestFinished(server.close);
  const { rows } = await run({
    issuer: server.url,
    client: PUBLIC_CLIENT,
    login: (url, browser) => browser.open(url),
    rows: ['wrong-secret', 'no-secret', 'other-client', 'race-routes', 'revoked-resource'],
    codes: 1,
  });
  expect(rows.slice(1).map(({ verdict, reason }) => [verdict, reason])).toEqual([
    ['skipped', 'There is one token endpoint only.'],
    ['skipped', 'The client has no secret.'],
    ['skipped', 'The client has no secret.'],
    ['skipped', 'There is no --other-client.'],
    ['skipped', 'There is no --resource.'],
  ]);
});

test('a seed repeats the order and the offsets of a race', () => {
  const schedule = (seed: number, row: string) => {
    const random = randomOf(seed, row);
    return [0, 1, 2].map((index) => scheduleOf({ requests: 8, index, random }, 2));
  };
  const [together, spread, again] = schedule(1, 'race-routes');
  expect(schedule(1, 'race-routes')).toEqual([together, spread, again]);
  expect(schedule(2, 'race-routes')).not.toEqual([together, spread, again]);
  expect(schedule(1, 'race-pkce')).not.toEqual([together, spread, again]);
  for (const calls of [together, spread, again]) {
    expect(calls?.filter(({ route }) => route === 0)).toHaveLength(4);
  }
  const delays = (calls: typeof spread) => new Set(calls?.map(({ delay }) => delay));
  expect(delays(together)).toEqual(new Set([0]));
  expect(delays(again)).toEqual(new Set([0]));
  expect(delays(spread).size).toBe(8);
  expect(Math.max(...delays(spread))).toBeLessThan(4);
});
