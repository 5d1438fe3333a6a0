import { once } from 'node:events';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installFromRequirements } from '@latchkey/test-kit/tools-from-requirements';
import { createTestServer, type TestServer } from '@latchkey/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { makeProject } from '../../scripts/new/make-project.ts';
import { projects, type Role } from '../../scripts/new/projects.mjs';
import {
  connectAda,
  disconnect,
  freePort,
  startLinkingProgram,
} from '../support/linking-program.ts';
import { startProgram } from '../support/program.ts';
import {
  type Environment,
  environment,
  latchkey,
  run,
  type ServiceProcess,
  startService,
  succeed,
} from '../support/service.ts';
import { describeWith, requireTools } from '../support/tools.ts';
import { Browser } from './browser.ts';

// What `npm run new` makes: each of the projects, and one of each language as its two commands start it.

const root = fileURLToPath(new URL('../../', import.meta.url));
const script = join(root, 'scripts/new/new.ts');

let folder: string;
let sdk: string;
/** The demo, where the projects are registered in its database. */
let demo: ServiceProcess;
/** Where they are registered with a key. */
let server: TestServer;
let hostPort: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-new-'));
  const words = [join(root, 'scripts/run.mjs'), 'pack', folder];
  const env = process.env as Environment;
  sdk = (await succeed(process.execPath, words, { cwd: root, env })).trim();
  demo = await startService({ cwd: folder, env: environment({ CLIENT_REGISTRATION: 'on' }) });
  hostPort = await freePort();
  server = await createTestServer({ signInUrl: `http://127.0.0.1:${hostPort}/link` });
});
afterAll(async () => {
  await server?.close();
  await demo?.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Made {
  folder: string;
  commands: [string, string];
  port: string;
}

async function make(
  role: Role,
  framework: string,
  port?: string,
  isOfDemo = role === 'application',
): Promise<Made> {
  const own = port ?? (await freePort());
  const made = join(await mkdtemp(join(folder, `${role}-`)), `it's ${framework}`);
  const atDemo = { DATABASE_URL: `file:${join(folder, 'data/latchkey.db')}` };
  const commands = await makeProject({
    ...{ role, framework, folder: made, port: Number(own) },
    url: isOfDemo ? demo.url : server.baseUrl,
    environment: environment(isOfDemo ? atDemo : { LATCHKEY_ADMIN_SECRET: server.adminSecret }),
    async pack(to) {
      const tarball = join(to, basename(sdk));
      await cp(sdk, tarball);
      return tarball;
    },
  });
  return { folder: made, commands, port: own };
}

const started = async ({ folder, port }: Made, command: string) => {
  const program = await startLinkingProgram(['sh', '-c', command], port, {
    cwd: folder,
    // Package managers need the settings of the machine, such as its proxy.
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  });
  onTestFinished(() => program.stop());
  return program;
};

/** Runs a program in TypeScript with the packages of the examples, which saves an installation. */
async function startHere(made: Made) {
  await symlink(join(root, 'examples/node_modules'), join(made.folder, 'node_modules'));
  return started(made, `'${process.execPath}' --env-file=.env start.ts`);
}

const every = Object.entries(projects).flatMap(([role, frameworks]) =>
  Object.keys(frameworks).map((framework) => [role as Role, framework] as const),
);

test.each(every)('%s with %s: only its owner can read the credentials', async (role, framework) => {
  const made = await make(role, framework);
  const env = join(made.folder, '.env');
  expect((await stat(env)).mode & 0o777).toBe(0o600);
  expect(await readFile(join(made.folder, '.gitignore'), 'utf8')).toMatch(/^\.env$/m);
  const secrets = (await readFile(env, 'utf8')).match(/lk_\w+/g) ?? [];
  expect(secrets.length > 0).toBe(role !== 'mcp');
  for (const path of await readdir(made.folder, { recursive: true })) {
    if (path === '.env' || path.endsWith('.tgz')) continue;
    const text = await readFile(join(made.folder, path), 'utf8').catch(() => '');
    for (const secret of secrets) expect(text, path).not.toContain(secret);
    // Every file that it imports is there.
    for (const [, from = ''] of text.matchAll(/ from '(\.\/[^']+\.ts)'/g)) {
      await stat(join(made.folder, from));
    }
  }
});

test('a project has each file of its example that is committed, and no other', async () => {
  for (const [example, files] of [
    ['examples/linking/next', projects.application.next?.files],
    ['examples/oauth-clients/go', projects.application.go?.files],
    ['examples/hosts/go', projects.host.go?.files],
  ] as const) {
    const env = process.env as Environment;
    const committed = await succeed('git', ['ls-files', example], { cwd: root, env });
    expect(Object.values(files ?? {})).toEqual(committed.trim().split('\n'));
  }
});

/** Connects Ada with an application that greets her, and lets her disconnect there. */
async function connectAndDisconnect(url: string): Promise<void> {
  const browser = new Browser();
  const page = await connectAda(browser, `${url}/connect`);
  expect(page).toMatchObject({ status: 200, text: expect.stringContaining('Connected as Ada') });
  expect((await browser.press(page, 'Disconnect')).text).toContain('Welcome');
}

test('an application with Hono links and unlinks, as its two commands start it', async () => {
  const made = await make('application', 'hono');
  const [install, start] = made.commands;
  await succeed('sh', ['-c', install], { cwd: root, env: process.env as Environment });
  const program = await started(made, start);
  await connectAndDisconnect(program.url);
});

test('an application with Express links and unlinks', async () => {
  const program = await startHere(await make('application', 'express'));
  expect(program.printed()).toBe(`The application: ${program.url}\n`);
  await connectAndDisconnect(program.url);
});

await describeWith('python3', () => {
  test('an application with FastAPI links and unlinks, as its second command starts it', async () => {
    const made = await make('application', 'fastapi');
    const requirements = join(root, 'examples/hosts/fastapi/requirements.txt');
    const programs = await installFromRequirements(requirements, 'fastapi', process.env);
    await symlink(join(programs, '..'), join(made.folder, '.venv'));
    const program = await started(made, made.commands[1]);
    await connectAndDisconnect(program.url);
  });
});

await describeWith('go', () => {
  test('an application in Go links, as its second command starts it, until it is disconnected', async () => {
    await requireTools(['go']);
    const made = await make('application', 'go');
    const program = await started(made, made.commands[1]);
    const browser = new Browser();
    const account = await connectAda(browser, `${program.url}/connect`);
    expect(JSON.parse(account.text)).toMatchObject({ username: 'ada' });
    const env = await readFile(join(made.folder, '.env'), 'utf8');
    const [, id = ''] = /^CLIENT_ID=(.+)$/m.exec(env) ?? [];
    await disconnect(browser, demo.url, id);
    expect(await browser.open(account.url)).toMatchObject({ status: 401 });
  });
});

test('a host with Express signs a user in for the service', async () => {
  await startHere(await make('host', 'express', hostPort));
  const link = await server.beginLink();
  // The browser of the test server opens the consent page.
  const browser = new Browser(({ origin }) => origin === new URL(server.baseUrl).origin);
  const signIn = await browser.open(link.signInUrl);
  const consent = await browser.press(signIn, 'Ada Lovelace');
  const { grant } = await link.finish(consent.url.href);
  expect(grant?.account.username).toBe('ada');
});

test('an MCP server with Express lets its client in, which the user allows', async () => {
  const made = await make('mcp', 'express', undefined, true);
  const program = await startHere(made);
  expect(program.printed()).toBe(`The MCP server: ${program.url}/mcp\n`);
  const { scripts } = JSON.parse(await readFile(join(made.folder, 'package.json'), 'utf8'));
  expect(scripts.client).toBe('tsx --env-file=.env client.ts');
  const client = await startProgram(
    [process.execPath, '--env-file=.env', 'client.ts'],
    { cwd: made.folder, env: environment() },
    async (printed) => /^Open (\S+)$/m.exec(printed)?.[1],
  );
  onTestFinished(() => client.stop());
  await connectAda(new Browser(), client.url);
  await expect.poll(client.printed).toMatch(/\nA note of [-0-9a-f]{36}\n$/);
});

test('an MCP server with Express asks for a grant of the service', async () => {
  const program = await startHere(await make('mcp', 'express'));
  const refused = await fetch(`${program.url}/mcp`, { method: 'POST' });
  expect(refused.status).toBe(401);
  const [, metadata = ''] =
    /resource_metadata="([^"]+)"/.exec(refused.headers.get('WWW-Authenticate') ?? '') ?? [];
  expect(await (await fetch(metadata)).json()).toMatchObject({
    resource: `${program.url}/mcp`,
    authorization_servers: [server.baseUrl],
  });
});

describe('npm run new says what to do, and leaves nothing behind', () => {
  const refusal = async (...words: string[]) => {
    const options = { cwd: folder, env: environment() };
    const { stderr, exitCode } = await run(process.execPath, [script, ...words], options);
    expect(exitCode).toBe(1);
    return stderr;
  };

  test.each([
    [['aplication'], /^Choose what to make: application, host or mcp\. .* -- --help\n$/],
    [['host', '--with', 'hono'], /^host: choose --with express, fastapi or go\n$/],
    [['mcp'], /^Name one new folder: --in FOLDER\. /],
    [['host', '--with', 'go', '--in'], /^--in takes a value\. /],
    [['mcp', '--in', 'x', '--port', '0'], /^--port takes a number from 1 to 65535\.\n$/],
  ])('%j', async (words, message) => {
    expect(await refusal(...words)).toMatch(message);
  });

  test('where no service runs, and where something is in the folder', async () => {
    const own = await mkdtemp(join(folder, 'own-'));
    const words = ['application', '--with', 'go', '--in', join(own, 'new')];
    // Not one of the ports that fetch refuses by itself.
    const nobody = await freePort();
    const nowhere = ['--url', `http://127.0.0.1:${nobody}`];
    expect(await refusal(...words, ...nowhere)).toMatch(
      new RegExp(
        `^No service responds at http://127\\.0\\.0\\.1:${nobody}\\. .*:\n\nPORT=${nobody} npm start\n`,
      ),
    );
    const host = ['host', '--with', 'go', '--in', join(own, 'new'), '--name', "O'Hara", ...nowhere];
    expect(await refusal(...host)).toContain(
      `SIGN_IN_URL='http://127.0.0.1:4001/link' PAGE_NAME='O'\\''Hara'`,
    );
    await writeFile(join(own, 'file'), 'kept');
    expect(await refusal(...words.slice(0, -1), own, '--url', demo.url)).toMatch(
      /is not empty\. Name a new folder\.\n$/,
    );
    expect(await refusal(...words.slice(0, -1), join(own, 'file'), '--url', demo.url)).toMatch(
      /file cannot be used \(EEXIST\)\. Name another folder\.\n$/,
    );
    expect(await readdir(own)).toEqual(['file']);
  });

  test.each([
    ['a page', '<!doctype html>'],
    ['no address', '{"issuer":"http://127.0.0.1:3000/$(reboot)"}'],
  ])('where something else responds with %s', async (_, body) => {
    const other = createServer((_, response) => response.end(body)).listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const words = ['application', '--with', 'go', '--in', join(folder, 'none'), '--url', url];
    expect(await refusal(...words)).toMatch(
      /^What responds at .* links no accounts\. Start it in another terminal/,
    );
  });

  test('where the command works on another database', async () => {
    const own = await mkdtemp(join(folder, 'own-'));
    const env = environment({ DATABASE_URL: `file:${join(own, 'other.db')}` });
    await latchkey(['app', 'create', 'Other'], { cwd: own, env });
    const order = {
      ...{ framework: 'go', port: 4000, environment: env },
      pack: async () => sdk,
    };
    const there = join(own, 'there');
    await mkdir(there);
    const { ino } = await stat(there);
    for (const [role, folder, url] of [
      ['application', join(own, 'some/new'), demo.url],
      ['host', there, server.baseUrl],
    ] as const) {
      const making = makeProject({ ...order, role, folder, url });
      await expect(making).rejects.toThrow('does not know what was registered');
    }
    const listed = async (object: string) =>
      JSON.parse((await latchkey([object, 'list', '--json'], { cwd: own, env })).stdout).data;
    expect(await listed('app')).toMatchObject([{ name: 'Other' }]);
    expect([await listed('key'), await listed('scope')]).toEqual([[], []]);
    expect(await readdir(own)).not.toContain('some');
    expect([await readdir(there), (await stat(there)).ino]).toEqual([[], ino]);
  });
});
