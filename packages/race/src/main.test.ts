import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { cli, command, commandOn, env } from '../test/command.ts';
import { CLIENT, OTHER_CLIENT, startFaultyServer } from '../test/faulty-server.ts';
import { Hosts } from './hosts.ts';
import { Browser } from './http/browser.ts';
import { loadLogin } from './login/module.ts';
import { main } from './main.ts';
import { rows } from './rows/rows.ts';
import { USAGE } from './usage.ts';

// The command, in a process of its own.

let folder: string;
let login: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oauth-race-'));
  login = join(folder, 'login.mjs');
  await writeFile(login, 'export default (url, browser) => browser.open(url);');
});
afterAll(() => rm(folder, { recursive: true }));

describe('the exit code', () => {
  test('is 0 where no row fails, and the table has each row', async () => {
    const { exitCode, stdout, stderr } = await commandOn([], '--login', login, '--seed=7');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /^· note {3}race {19}Requests at once, without PKCE: 2 once, then token revoked$/m,
    );
    expect(stdout).toMatch(/^ +\d+ × 400 invalid_grant, \d+ ms \(longest \d+ ms\)$/m);
    expect(stdout).toMatch(/^13 pass, 0 fail, 2 note, 0 error, 2 skipped\. Seed 7\.$/m);
    expect(stderr).toContain('race-pkce …\n');
  });

  test('is 1 where one fails, also where another is unclear', async () => {
    const { exitCode, stdout } = await commandOn(['losers get a 500'], '--login', login);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /^✗ FAIL {3}race .*once, and others broken: 500, JSON of another shape$/m,
    );
    expect(stdout).toMatch(/^! error {2}replay /m);
  });

  test('is 2 where nothing could be measured', async () => {
    const { exitCode, stdout } = await commandOn(['the login is a 500'], '--login', login);
    expect(exitCode).toBe(2);
    expect(stdout).toMatch(/^! error {2}exchange .*The login ended without a code/m);
  });

  test.each([
    [[], /Give one of --login/],
    [['--sede=1'], /Unknown option '--sede'/],
    [['--login', 'missing.mjs'], /--login missing\.mjs can't be loaded/],
    [['--login-command=exit'], /Give --client/],
    [['--login-command=exit', '--client=a', '--client-auth=jwt'], /basic, post or none/],
    [['--login-command=exit', '--client=a', '--codes=many'], /--codes has to be a whole number/],
    [
      ['--login-command=exit', '--client=a', '--seed=99999999999'],
      /--seed .* from 0 to 2147483647/,
    ],
    [
      ['--login-command=exit', '--json=missing/report.json'],
      /--json .* can't be written \(ENOENT\)/,
    ],
    [['--login-command=exit', '--junit='], /--junit .* can't be written \(ENOENT\)/],
    [['--login-command=exit', '--markdown=.'], /--markdown .* can't be written \(EISDIR\)/],
    [['--login-page', '--redirect-uri=https://a.example/callback'], /--login-page needs/],
    [
      ['--login-page', '--redirect-uri=http://127.0.0.1:0/', '--client=a', '--codes=500'],
      /1 to 100/,
    ],
  ])('is 2 for %j', async (words, message) => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    onTestFinished(() => write.mockRestore());
    expect(await main(words, env)).toBe(2);
    expect(write.mock.calls).toEqual([[expect.stringMatching(message)]]);
  });

  test('is 2 where a row that --row names was skipped', async () => {
    const words = ['--login', login, '--row=replay', '--row=race-routes'];
    const { exitCode, stdout } = await commandOn([], ...words);
    expect(stdout).toMatch(/^2 pass, 0 fail, 0 note, 0 error, 1 skipped/m);
    expect(exitCode).toBe(2);
  });
});

test('a file is checked before the run, and left as it was', async () => {
  const [absent, present] = [join(folder, 'absent.json'), join(folder, 'present.md')];
  await writeFile(present, 'Of an earlier run.');
  const words = ['--login-command=exit', '--json', absent, '--markdown', present];
  const { exitCode, stderr } = await command(words);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: expect.stringContaining('Give --client'),
  });
  await expect(readFile(absent)).rejects.toThrow('ENOENT');
  expect(await readFile(present, 'utf8')).toBe('Of an earlier run.');
});

test('the table is printed also where a file can no longer be written', async () => {
  const output = await mkdtemp(join(folder, 'output-'));
  const removing = join(folder, 'removing.mjs');
  await writeFile(
    removing,
    `import { rm } from 'node:fs/promises';
export default async (url, browser) => {
  await rm(${JSON.stringify(output)}, { recursive: true, force: true });
  return browser.open(url);
};`,
  );
  const files = ['--json', join(output, 'report.json'), '--junit', join(folder, 'kept.xml')];
  const words = ['--login', removing, '--row=replay', ...files];
  const { exitCode, stdout, stderr } = await commandOn([], ...words);
  expect(stdout).toMatch(/^✓ pass {3}replay /m);
  expect(stderr).toMatch(/^--json '.*' can't be written \(ENOENT\)/m);
  expect(exitCode).toBe(2);
  expect(await readFile(join(folder, 'kept.xml'), 'utf8')).toContain('tests="2"');
});

test('the reports have the rows and the verdicts, and no secret', async () => {
  const files = ['markdown', 'json', 'junit'].map((kind) => join(folder, `report.${kind}`));
  const [markdown = '', json = '', junit = ''] = files;
  const server = await startFaultyServer('accepts another client', 'a replay keeps the token');
  onTestFinished(server.close);
  const words = ['--issuer', server.url, '--client', CLIENT.id, '--other-client', OTHER_CLIENT.id];
  const outputs = ['--markdown', markdown, '--json', json, '--junit', junit];
  await command([...words, '--login', login, '--codes=1', ...outputs]);
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  for (const text of texts) {
    for (const secret of server.secrets) expect(text).not.toContain(secret);
  }
  const [page, data, cases] = texts as [string, string, string];
  expect(page).toMatch(
    /^\| `other-client` \| Another client first \| fail \| 1 accepted \| {2}\| RFC 6749/m,
  );
  const { rows, load } = JSON.parse(data);
  expect(load).toMatchObject({ codes: 1, requests: 8, pause: 10 });
  expect(rows[1]).toMatchObject({
    ...{ id: 'race', verdict: 'pass', outcomes: { once: 1 }, reason: null },
    responses: [{ count: 7, status: 400, error: 'invalid_grant', retryAfter: null }],
  });
  expect(cases).toMatch(/tests="17" failures="1" errors="0" skipped="2"/);
  expect(cases).toMatch(
    /name="other-client: Another client first"><failure message="1 accepted"\/>/,
  );
  expect(cases).toMatch(/name="replay: [^>]+><system-out>note: 1 refused, token kept\n/);
});

test('--row measures one row, and the exchange before it', async () => {
  const words = ['--login', login, '--row', 'replay'];
  const { stdout } = await commandOn([], ...words);
  expect(stdout.match(/^✓ pass +\S+/gm)).toEqual(['✓ pass   exchange', '✓ pass   replay']);
});

const hasOpenssl = await promisify(execFile)('openssl', ['version']).then(
  () => true,
  () => false,
);
const notRun = hasOpenssl || process.env.CI ? '' : ' (not run: there is no openssl)';

test.skipIf(notRun)(
  `a server with TLS is raced, if its certificate is trusted${notRun}`,
  async () => {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const names = ['-subj', '/CN=race', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const files = ['-keyout', key, '-out', cert];
    await promisify(execFile)('openssl', ['req', '-x509', ...curve, ...names, ...files]);
    const { handle, close } = await startFaultyServer();
    onTestFinished(close);
    const server = createTlsServer(
      { key: await readFile(key), cert: await readFile(cert) },
      handle,
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const url = `https://127.0.0.1:${(server.address() as { port: number }).port}`;
    const words = ['--login', login, '--client', CLIENT.id, '--codes=2', '--row=race-pkce'];
    const endpoints = [
      '--authorization-endpoint',
      `${url}/authorize`,
      '--token-endpoint',
      `${url}/token`,
    ];

    const trusting = await command([...words, ...endpoints], { NODE_EXTRA_CA_CERTS: cert });
    expect(trusting.stdout).toMatch(/^✓ pass +race-pkce .*: 2 once$/m);
    expect(trusting.stderr).not.toContain('Warning');
    const distrusting = await command([...words, ...endpoints]);
    expect(distrusting.stdout).toMatch(/^! error +exchange .*DEPTH_ZERO_SELF_SIGNED_CERT/m);
  },
);

test('a person opens a page, and is asked for one code after the other', async () => {
  const server = await startFaultyServer();
  onTestFinished(server.close);
  const redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
  const words = ['--issuer', server.url, '--client', CLIENT.id, '--redirect-uri', redirectUri];
  const limits = ['--login-page', '--codes=2', '--row=replay', '--row=race'];
  const child = spawn(process.execPath, [cli, ...words, ...limits], { env });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  const ended = once(child, 'close');
  const page = await new Promise<string>((resolve) => {
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
      const [, url] = /Open (\S+) in a browser/.exec(stderr) ?? [];
      if (url) resolve(url);
    });
  });
  // A browser that opens the page and does what its `refresh` says.
  const browser = new Browser({ redirectUri: '', hosts: new Hosts([]), timeout: 60_000 });
  let pages = 0;
  while (child.exitCode === null) {
    await browser.open(page).catch(() => undefined);
    if (/codes so far/.test(browser.text)) pages++;
  }
  const [exitCode] = await ended;
  expect({ exitCode, pages, stdout }).toMatchObject({ exitCode: 0 });
  expect(pages).toBeGreaterThanOrEqual(5);
});

/** The tool listens at an address that is known before. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

test('the login of the README runs on every Node', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const [, name = '', code = ''] =
    /--login \.\/(\S+)`[\s\S]*?```\w+\n([\s\S]*?)```/.exec(readme) ?? [];
  expect(readme).toContain(`--client my-client --login ./${name}\n`);
  await writeFile(join(folder, name), code);
  // Only from 22.18, Node takes types out, and never of a .mjs file.
  expect(name).toMatch(/\.mjs$/);
  expect(await loadLogin(join(folder, name))).toBeTypeOf('function');
});

test('the README has every row, with its source', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const described = [...readme.matchAll(/^\| `([\w-]+)` .*\| (RFC [^|]*?) +\|$/gm)];
  expect(described.map(([, id, source]) => [id, source])).toEqual(
    rows.map(({ id, source }) => [id, source]),
  );
});

test('--help shows the options that the README shows', async () => {
  const { exitCode, stdout } = await command(['--help']);
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: USAGE });
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const [, options] = /^## Options\n\n```text\n([\s\S]*?)```/m.exec(readme) ?? [];
  expect(USAGE.split('\n').slice(2).join('\n')).toBe(options);
});
