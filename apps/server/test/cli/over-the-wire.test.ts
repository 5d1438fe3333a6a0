import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatCredential } from '@latchkey/schema';
import { type Authority, createAuthority } from '@latchkey/test-kit/certificates';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callsOverTheWire } from '../../src/cli/calls-over-the-wire.ts';
import { type Json, succeed } from '../http/call.ts';
import { type Run, runCommand, runInProcess } from '../http/command-process.ts';
import { describeOnAnyStore, type TestDatabase } from '../http/databases.ts';
import { ADMIN_SECRET, EVENTS, startTestServer, type TestServer } from '../http/running-server.ts';
import { authorize, CHALLENGE } from '../linking/link-flow.ts';
import { commands } from './examples-of-help.ts';

const SECRET = { LATCHKEY_ADMIN_SECRET: ADMIN_SECRET };
const SETTINGS = {
  ADMIN_SECRET,
  SIGN_IN_URL: 'https://host.example/sign-in',
  PUBLIC_URL: 'https://link.example',
  ...EVENTS,
};
const CALLBACK = 'https://acme.example/callback';

const leaves = commands.filter(([, command]) => command.commands.length === 0);
const optionOf = (command: (typeof commands)[number][1]) =>
  command.options.find(({ short, long }) => short === '--service' || long === '--service');
const operations = leaves.filter(([, command]) => optionOf(command)?.hidden === false);
const others = leaves.filter((leaf) => !operations.includes(leaf));

describeOnAnyStore('commands with --url', (fresh) => {
  let database: TestDatabase;
  let server: TestServer;
  beforeAll(async () => {
    database = await fresh();
    server = await startTestServer(database.url, SETTINGS);
  });
  afterAll(async () => {
    await server.close();
    await database.remove();
  });

  const onDatabase = (words: string[], input = '') =>
    runInProcess(words, { DATABASE_URL: database.url, ...SETTINGS }, { input });
  // Without DATABASE_URL, a command that opened a database would find none.
  const overTheWire = (words: string[], input = '') => {
    const option = /^(app|endpoint)$/.test(words[0] ?? '') ? '--service' : '--url';
    return runInProcess([...words, option, server.url], SECRET, { input });
  };

  async function json(run: Promise<Run>) {
    const { code, stdout, stderr } = await run;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout);
  }

  async function newLink(id: string): Promise<string> {
    const { headers } = await authorize(server, {
      ...{ response_type: 'code', client_id: id, redirect_uri: CALLBACK },
      ...{ scope: 'profile.read', state: 'a-state' },
      ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256' },
    });
    return new URL(headers.get('location') ?? '').searchParams.get('link') ?? '';
  }

  /** Runs the commands that are written by hand, and others that are refused. Returns what they print. */
  async function walk(run: typeof overTheWire): Promise<Run[]> {
    const runs: Run[] = [];
    const latchkey = async (...words: string[]): Promise<Run> => {
      const done = await run(words);
      runs.push(done);
      return done;
    };
    const as = (...words: string[]) => json(latchkey(...words, '--json'));

    await as('scope', 'put', 'profile.read', '--title', 'Your profile');
    const app = await as('app', 'create', 'Acme & Co', '--redirect-uri', CALLBACK);
    const account = await as('account', 'put', '--username', 'ada');
    const who = ['--app', app.id, '--account', account.id];
    const { grant_id } = await as('code', 'issue', ...who, '--scope', 'profile.read');
    await latchkey('code', 'cancel', grant_id);
    await latchkey('code', 'cancel', grant_id);
    const refusals = await as('refusals', '--grant', grant_id);
    await latchkey('refusals', '--account', account.id);
    await latchkey('explain', refusals.data[0].request_id);
    await latchkey('explain', 'of-nobody');
    await latchkey('grant', 'history', grant_id);
    await latchkey('grant', 'history', account.id);
    await latchkey('link', 'approve', await newLink(app.id), '--account', account.id);
    await latchkey('connection', 'list', '--account', account.id);
    await latchkey('connection', 'revoke', ...who);
    await latchkey('grant', 'revoke', grant_id);
    await latchkey('grant', 'revoke', grant_id, grant_id);
    await latchkey('grant', 'revoke', 'no-id');
    await latchkey('app', 'update', app.id, '--redirect-uri', 'no address');
    await latchkey('app', 'delete', app.id);
    await latchkey('app', 'disable', app.id);
    await latchkey('app', 'delete', app.id, '--yes');
    await latchkey('app', 'get', app.id);
    await latchkey('endpoint', 'create', 'ftp://host.example/events');
    await latchkey('summary');
    await latchkey('settings');
    return runs;
  }

  test('print what they print on the database', async () => {
    const expected = await walk(onDatabase);
    const found = await walk(overTheWire);
    // Both runs make records of their own, so ids, credentials and times differ.
    expect(found.map(masked)).toEqual(expected.map(masked));
  });

  test('name the key of an operator to those who may list keys, and to itself', async () => {
    const key = (name: string) =>
      json(overTheWire(['key', 'create', name, '--role', 'support', '--json']));
    const [ada, grace] = [await key('Ada'), await key('Grace')];
    const withKey = (secret: string, ...words: string[]) =>
      runInProcess([...words, '--url', server.url], { LATCHKEY_ADMIN_SECRET: secret });
    const grant_id = randomUUID();
    await withKey(ada.secret, 'grant', 'revoke', grant_id);
    const { data } = await json(overTheWire(['refusals', '--grant', grant_id, '--json']));
    const told = async (secret: string) => {
      const [explained, history, listed] = await Promise.all([
        withKey(secret, 'explain', data[0].request_id),
        withKey(secret, 'grant', 'history', grant_id),
        withKey(secret, 'refusals', '--grant', grant_id),
      ]);
      for (const { code, stderr } of [explained, history, listed]) {
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      }
      return [explained, history, listed].map(({ stdout }) => stdout.includes(`Ada (${ada.id})`));
    };
    expect(await told(ADMIN_SECRET)).toEqual([true, true, true]);
    expect(await told(ada.secret)).toEqual([true, true, true]);
    expect(await told(grace.secret)).toEqual([false, false, false]);
    // To have been asked is no refusal.
    const after = await json(overTheWire(['refusals', '--json']));
    expect(after.data.filter((each: Json) => each.key_id === grace.id)).toEqual([]);
  });

  test('refuse a time to come before they call anything', async () => {
    const run = await overTheWire(['refusals', '--since', '2999-01-01T00:00:00Z']);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain('must not be in the future');
    const two = await overTheWire(['refusals', '--app', randomUUID(), '--grant', randomUUID()]);
    expect(two).toMatchObject({ code: 2, stdout: '' });
  });

  test('tell how many grants and codes of an application they end', async () => {
    await json(overTheWire(['scope', 'put', 'profile.read', '--title', 'Your profile', '--json']));
    const app = await json(overTheWire(['app', 'create', 'Acme', '--json']));
    const account = await json(overTheWire(['account', 'put', '--username', 'ada', '--json']));
    const issue = () =>
      json(
        overTheWire([
          ...['code', 'issue', '--app', app.id, '--account', account.id],
          ...['--scope', 'profile.read', '--json'],
        ]),
      );
    const { code } = await issue();
    await succeed(server, 'grants.convert', { code }, `Bearer ${app.secret}`);
    await issue();
    const revoke = (...words: string[]) => overTheWire(['grant', 'revoke', ...words, '--yes']);
    expect(await revoke('--app', app.id)).toEqual({
      code: 0,
      stdout: '1 grant is revoked.\n',
      stderr: '1 pending code is cancelled.\n',
    });
    expect(await json(revoke('--account', account.id, '--json'))).toEqual({
      object: 'grant_revocations',
      state: 'revoked',
      grants_revoked: 0,
      codes_cancelled: 0,
    });
  });
});

function masked({ code, stdout, stderr }: Run): Run {
  const mask = (text: string) =>
    text
      // Who ran a command, and from where.
      .replaceAll(/on the command line|by the operator from \S+[^\s,]/g, 'ACTOR')
      .replaceAll(/"by":"\w+"/g, '"by":"ACTOR"')
      .replaceAll(/"address":(?:null|"127.0.0.1")/g, '"address":"ADDRESS"')
      .replaceAll(/lk_\w+/g, 'lk_…')
      .replaceAll(/…\w{4}/g, '…')
      .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)/g, 'TIME')
      // Commands and the service have settings of their own.
      .replace(/^PORT +\d+ \(.*\n$/s, 'SETTINGS')
      .replaceAll(/https:\/\/link\.example\/\S+/g, 'PAGE')
      // A summary has what both runs did.
      .replace(/^from .* approximate\.\n$/s, (summary) => summary.replaceAll(/\d+/g, 'N'));
  return { code, stdout: mask(stdout), stderr: mask(stderr) };
}

test.each(others)('%j refuses --url and --service', async (words, command) => {
  const given = [...words, ...command.registeredArguments.map(() => 'bash')];
  for (const option of ['--url', '--service']) {
    const run = await runInProcess([...given, option, 'https://link.example'], SECRET);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain('has no --url');
  }
});

test('every command that calls a service takes --service, and --url if no endpoint is meant', () => {
  const withoutUrl = operations.filter(([, command]) => optionOf(command)?.long !== '--url');
  expect(withoutUrl.map(([words]) => words.join(' '))).toEqual([
    'endpoint create',
    'endpoint update',
  ]);
});

test('endpoint update sends no secret to the address of an endpoint', async () => {
  const words = ['endpoint', 'update', randomUUID(), '--url', 'http://127.0.0.1:9/events'];
  const { code, stdout, stderr } = await runInProcess(words, SECRET);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('--service');
});

const LIST = ['scope', 'list'];
const CHANGE = ['scope', 'put', 'a', '--title', 'A'];

describe('what is wrong before a request', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'latchkey-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([
    ['link.example', /must be the https: address/],
    ['ftp://link.example', /must be the https: address/],
    ['https://user:hidden@link.example', /must be the https: address/],
    ['https://link.example?hidden', /no query/],
    ['http://link.example', /cross the network in clear/],
    ['http://127.0.0.1.example', /cross the network in clear/],
  ])('%s', async (url, message) => {
    const { code, stdout, stderr } = await runInProcess([...LIST, '--url', url], SECRET);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('hidden');
  });

  test('no secret, two of them, a file that is not there, and one that no header can have', async () => {
    const run = (environment: NodeJS.ProcessEnv) =>
      runInProcess([...LIST, '--url', 'http://127.0.0.1:1'], environment);
    const file = join(folder, 'secret');
    writeFileSync(file, 'two\nlines');
    const cases: [NodeJS.ProcessEnv, RegExp][] = [
      [{}, /needs a credential/],
      [{ LATCHKEY_ADMIN_SECRET: '' }, /needs a credential/],
      [{ ...SECRET, LATCHKEY_ADMIN_SECRET_FILE: file }, /both set/],
      [{ LATCHKEY_ADMIN_SECRET_FILE: `${file}s` }, /cannot be read \(ENOENT\)/],
      [{ LATCHKEY_ADMIN_SECRET_FILE: file }, /printable ASCII/],
      [{ LATCHKEY_ADMIN_SECRET: '"two-lines"' }, /LATCHKEY_ADMIN_SECRET.* no quotes around it/],
    ];
    for (const [environment, message] of cases) {
      const { code, stderr } = await run(environment);
      expect(code).toBe(2);
      expect(stderr).toMatch(message);
      expect(stderr).not.toMatch(/two|lines/);
    }
  });
});

describeOnAnyStore('a key', (fresh) => {
  test('may what its role may, and says what it may not', async () => {
    const database = await fresh();
    const server = await startTestServer(database.url);
    const { secret } = JSON.parse(
      (
        await runInProcess(['key', 'create', 'Ada', '--role', 'read', '--json'], {
          DATABASE_URL: database.url,
        })
      ).stdout,
    );
    const run = (words: string[]) =>
      runInProcess([...words, '--url', server.url], { LATCHKEY_ADMIN_SECRET: secret });
    expect(await run(LIST)).toEqual({ code: 0, stdout: '', stderr: '' });
    const refused = await run(CHANGE);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^right_missing: /);
    await server.close();
    await database.remove();
  });
});

describe('a service that does not answer as Latchkey does', () => {
  /** Runs a command with a server that answers with the listener. */
  async function printed(listener: RequestListener, words: string[], path = ''): Promise<Run> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const run = await runInProcess([...words, '--url', `http://127.0.0.1:${port}${path}`], SECRET);
    server.closeAllConnections();
    server.close();
    expect(run.stdout + run.stderr).not.toContain(ADMIN_SECRET);
    return run;
  }
  async function against(...given: Parameters<typeof printed>): Promise<Run> {
    const run = await printed(...given);
    expect(run).toMatchObject({ code: 1, stdout: '' });
    return run;
  }
  // Proxies log the URLs of requests.
  test('gets no credential in a URL that was pasted instead of an id', async () => {
    const credential = formatCredential('grantSecret', randomUUID(), new Uint8Array(32));
    const urls: string[] = [];
    const listener: RequestListener = ({ url = '' }, response) => {
      urls.push(decodeURIComponent(url));
      response.writeHead(500).end();
    };
    for (const words of [
      ['explain', credential],
      ['grant', 'history', credential],
    ]) {
      await against(listener, words);
    }
    expect(urls).toHaveLength(2);
    for (const url of urls) {
      expect(url).toContain('[redacted]');
      expect(url).not.toContain(credential);
    }
  });

  const answers =
    (status: number, body: unknown, headers = {}): RequestListener =>
    (_, response) => {
      response
        .writeHead(status, headers)
        .end(typeof body === 'string' ? body : JSON.stringify(body));
    };
  const error = (error_code: string, more = {}) => ({ error: { data: { error_code, ...more } } });

  test.each<[string, RequestListener, RegExp]>([
    ['a redirect', answers(302, '', { location: 'http://127.0.0.1:1/' }), /Redirects are not/],
    ['a page', answers(200, '<html>'), /is not one of Latchkey.*Check --url/],
    ['null', answers(200, 'null'), /is not one of Latchkey/],
    ['a list of something else', answers(200, { result: { data: { data: 1 } } }), /not one of/],
    ['a 502 of a proxy', answers(502, '<html>'), /A proxy in between/],
    ['an unknown code', answers(418, error('teapot')), /is not one of Latchkey/],
    ['a code of Object', answers(400, error('constructor')), /is not one of Latchkey/],
    ['401', answers(401, error('credentials_invalid')), /does not accept the secret/],
    ['429', answers(429, error('rate_limited'), { 'retry-after': '7' }), /in 7 s/],
    ['503', answers(503, error('store_unavailable'), { 'retry-after': '5' }), /in 5 s/],
    ['another path', answers(404, { error_code: 'route_not_found' }), /does not offer this/],
    ['an error of its own', answers(500, error('internal_error', { request_id: 'r-1' })), /r-1/],
    ['issues that are none', answers(400, error('parameter_invalid', { issues: [1] })), /Correct/],
    [
      'an issue whose path is none',
      answers(
        400,
        error('parameter_invalid', { issues: [{ path: [{ toString: 1 }], message: '' }] }),
      ),
      /Correct/,
    ],
    [
      'the secret itself',
      answers(400, error('parameter_invalid', { issues: [{ path: [], message: ADMIN_SECRET }] })),
      /\[redacted\]/,
    ],
    ['a connection that ends', ({ socket }) => socket.destroy(), /ended before the response/],
  ])('%s', async (_, listener, message) => {
    expect((await against(listener, LIST)).stderr).toMatch(message);
  });

  test('moves no cursor', async () => {
    const moving = '\u001b[2J\u009b1A\u202e\n\u2028\r';
    const shown = String.raw`\u001b[2J\u009b1A\u202e\u000a\u2028\u000d`;
    const issues = [{ path: [moving], message: moving }];
    const refused = await against(answers(400, error('parameter_invalid', { issues })), LIST);
    expect(refused.stderr).toContain(`  ${shown}: ${shown}\n`);
    const scope = { object: 'scope', scope: 'a', title: moving, description: null, texts: {} };
    const list = { object: 'list', data: [{ ...scope, sensitive: false }], next_cursor: null };
    const listed = await printed(answers(200, { result: { data: list } }), LIST);
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(listed.stdout).toContain(shown);
    expect(listed.stdout).not.toContain('\u001b');
  });

  test('sends at most 64 MiB', async () => {
    let sent = 0;
    const listener: RequestListener = (_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(2 ** 20))) sent += 1;
        sent += 1;
      };
      response.on('drain', more);
      more();
    };
    expect((await against(listener, LIST)).stderr).toContain('more than 64 MiB');
    expect(sent).toBeLessThan(100);
  });

  test('sends at most 2,500,000 values, which take more room than their text', async () => {
    const listener = answers(
      200,
      `{"result":{"data":{"object":"list","data":[${'0,'.repeat(2_500_000)}0]}}}`,
    );
    expect((await against(listener, LIST)).stderr).toContain('or than 2500000 values');
  });

  test('says of a change that it may have been made', async () => {
    const { stderr } = await against(({ socket }) => void socket.destroy(), CHANGE);
    expect(stderr).toContain('look before you repeat');
  });

  test('gets requests below the path of the URL', async () => {
    const paths: (string | undefined)[] = [];
    const listener: RequestListener = ({ url }, response) => {
      paths.push(url);
      response.end();
    };
    await against(listener, CHANGE, '/latchkey');
    expect(paths).toEqual(['/latchkey/trpc/admin.scopes.put']);
  });

  test('nobody listens', async () => {
    const run = await runInProcess([...LIST, '--url', 'http://127.0.0.1:1'], SECRET);
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/Nothing was sent|ended before/);
  });

  test('nothing comes, or nothing more', async () => {
    for (const begins of [false, true]) {
      const server = createServer((_, response) => {
        if (begins) response.write('{');
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const call = callsOverTheWire(`http://127.0.0.1:${port}`, SECRET, 50);
      await expect(call('admin.scopes.list', {})).rejects.toThrow('sent nothing for 0.05 s');
      server.closeAllConnections();
      server.close();
    }
  });
});

describe('a server with TLS', () => {
  let folder: string;
  let authority: Authority;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'latchkey-tls-'));
    authority = await createAuthority(folder, 'authority');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Runs a change against a server with that certificate, which counts what reaches it. */
  async function against(certificate: string, environment: NodeJS.ProcessEnv) {
    const pem = readFileSync(certificate);
    let requests = 0;
    const server = createHttpsServer({ key: pem, cert: pem }, (_, response) => {
      requests += 1;
      const scope = { object: 'scope', scope: 'a', title: 'A', description: null, texts: {} };
      response.end(JSON.stringify({ result: { data: { ...scope, sensitive: false } } }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const url = `https://127.0.0.1:${port}`;
    // Node reads the file of NODE_EXTRA_CA_CERTS at the start of a process.
    const run = await runCommand([...CHANGE, '--url', url], { ...SECRET, ...environment });
    server.closeAllConnections();
    server.close();
    expect(run.stdout + run.stderr).not.toContain(ADMIN_SECRET);
    return { ...run, requests };
  }

  const trusting = () => ({ NODE_EXTRA_CA_CERTS: authority.file });

  test.each<[string, string, () => Promise<string>, () => NodeJS.ProcessEnv]>([
    [
      'of an unknown authority',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      () => authority.issue('/CN=unknown'),
      () => ({}),
    ],
    [
      'that signed itself',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      async () => (await createAuthority(folder, 'itself')).both,
      trusting,
    ],
    [
      'of another host',
      'ERR_TLS_CERT_ALTNAME_INVALID',
      () => authority.issue('/CN=other', 'DNS:other.example'),
      trusting,
    ],
    [
      'that has expired',
      'CERT_HAS_EXPIRED',
      () => authority.issue('/CN=expired', undefined, -1),
      trusting,
    ],
  ])('and a certificate %s gets nothing', async (_, code, certificate, environment) => {
    const run = await against(await certificate(), environment());
    expect(run).toMatchObject({ code: 1, stdout: '', requests: 0 });
    expect(run.stderr).toMatch(/^No secure connection to https:\/\/127\.0\.0\.1:\d+ \(/);
    expect(run.stderr).toContain(`(${code}). Nothing was sent.`);
    expect(run.stderr).toContain('NODE_EXTRA_CA_CERTS');
  });

  test('and a certificate of an authority in NODE_EXTRA_CA_CERTS gets the call', async () => {
    const run = await against(await authority.issue('/CN=known'), trusting());
    expect(run).toMatchObject({ code: 0, stderr: '', requests: 1 });
  });

  test('is missed where there is none', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const run = await runInProcess([...CHANGE, '--url', `https://127.0.0.1:${port}`], SECRET);
    server.closeAllConnections();
    server.close();
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toContain('Nothing was sent.');
  });
});
