import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { examplesFolder } from './support/examples-folder.ts';
import {
  type Hosted,
  onAnotherSite,
  startHosted,
  testHandOff,
  toCallback,
} from './support/hosted.ts';
import { PORT_OF_PAGES } from './support/linking-program.ts';
import { codeBlocks } from './support/markdown.ts';
import { environment, run } from './support/service.ts';

// Runs the functions of docs/guides/hosts.md and of the examples that it names, and the route of README.md, as a host,
// with the real service.

const read = (page: string) => readFile(new URL(`../${page}`, import.meta.url), 'utf8');
const guide = await read('docs/guides/hosts.md');
const blocks = codeBlocks(guide).filter(({ language }) => language === 'ts');
const inBlocks = blocks.map(({ code }) => code);
const files = ['hosts/fastify.ts', 'hosts/fetch.ts', 'express/consent.ts', 'testing/host.ts'];
const mainOfGuide = blocks.find(({ file }) => file === 'main.ts')?.code ?? '';
const inFiles = await Promise.all(files.map((file) => read(`examples/${file}`)));

/** The blocks of the guide, and the programs that it names, that define some functions. */
function codeOf(functions: readonly string[]): string[] {
  const found = [...inBlocks, ...inFiles].filter((code) =>
    functions.some((name) => code.includes(`function ${name}(`)),
  );
  expect(found).toHaveLength(functions.length);
  return found;
}

const ANY_IMPORT = /^import .*;$/gm;
const IMPORT = /^import (type )?\{([^}]*)\} from '(.*)';$/gm;

/** A program of the code that defines some functions. Each name is imported once. */
function programWith(functions: readonly string[], main: string): Program {
  const code = [...codeOf(functions), main].join('\n');
  const imports = new Set<string>();
  for (const [, type, names = '', from] of code.matchAll(IMPORT)) {
    for (const name of type ? [] : names.split(',').map((each) => each.trim())) {
      if (name && !name.startsWith('type ')) imports.add(`import { ${name} } from '${from}';`);
    }
  }
  return { 'host.ts': [...imports, code.replaceAll(IMPORT, '')].join('\n') };
}

const ACCOUNT = '0193aa00-0000-7000-8000-0000000000a1';
const OTHER_ACCOUNT = '0193aa00-0000-7000-8000-0000000000b0';

/** What a host has, with one user, whose account Latchkey does not know. */
const COMMON = `
import { LatchkeyAdmin } from '@latchkey/client/admin';
const ADA = { account_id: '${ACCOUNT}', username: 'ada' };
const admin = new LatchkeyAdmin();
const url = 'http://127.0.0.1:' + process.env.PORT;
const form = (action, fields) => '<form method="post" action="' + action + '">' + fields + '</form>';
const hidden = (name, value) => '<input type="hidden" name="' + name + '" value="' + value + '">';
const button = (value) => '<button name="decision" value="' + value + '">' + value + '</button>';
const signInForm = (next) => form('/sign-in', hidden('next', next) + '<button>Sign in</button>') +
  form('/give-up', hidden('link', new URL(next, url).searchParams.get('link')) +
    '<button name="decision" value="deny">Cancel</button>');
const home = form('/connected-applications', '<button>Connected applications</button>') +
  form('/sign-out', '<button>Sign out</button>');
const cookieOf = (cookies) => (cookies?.includes('user=ada') ? ADA : null);
`;

const EXPRESS = `
import { default as express } from 'express';
import { default as session } from 'express-session';
const app = express();
app.use(session({ secret: 'a secret of the tests', resave: false, saveUninitialized: false }));
app.get('/sign-in', ({ query }, response) => response.send(signInForm(query.next)));
addSignIn(app, url, async () => ADA);
`;

/** The texts of a program by the names of its files. `host.ts` is run. */
type Program = Record<string, string>;

const programs: Record<string, Program> = {
  // The guide shows the program that runs the example.
  Express: {
    'host.ts': mainOfGuide.replaceAll('./host.ts', './express/host.ts'),
    'express/host.ts': await read('examples/express/host.ts'),
    'express/page.ts': await read('examples/express/page.ts'),
  },
  Fastify: programWith(
    ['addToFastify'],
    `${COMMON}
import { fastify } from 'fastify';
const app = fastify();
addToFastify(app, admin, url, {
  accountOf: ({ headers }) => cookieOf(headers.cookie),
  end: (reply) => reply.header('Set-Cookie', 'user=; Max-Age=0'),
});
const html = (reply, text) => reply.type('text/html').send(text);
app.get('/sign-in', ({ query }, reply) => html(reply, signInForm(query.next)));
app.post('/sign-in', ({ body }, reply) => reply.header('Set-Cookie', 'user=ada').redirect(body.next, 303));
app.get('/', (_request, reply) => html(reply, home));
await app.listen({ port: Number(process.env.PORT) });
`,
  ),
  'the handlers of Next.js': programWith(
    ['hostRoutes'],
    `${COMMON}
import { createServer } from 'node:http';
const redirect = (Location, cookie) =>
  new Response(null, { status: 303, headers: { Location, 'Set-Cookie': cookie } });
const routes = hostRoutes(admin, url, {
  accountOf: async ({ headers }) => cookieOf(headers.get('cookie')),
  end: async () => redirect('/', 'user=; Max-Age=0'),
});
const html = (text) => new Response(text, { headers: { 'Content-Type': 'text/html' } });
const handlers = {
  'GET /link': routes.link.GET,
  'POST /give-up': routes.giveUp.POST,
  'POST /connected-applications': routes.connectedApplications.POST,
  'POST /sign-out': routes.signOut.POST,
  'GET /sign-in': ({ url }) => html(signInForm(new URL(url).searchParams.get('next'))),
  'POST /sign-in': async (request) => redirect((await request.formData()).get('next'), 'user=ada'),
  'GET /': () => html(home),
};
createServer(async (incoming, outgoing) => {
  const { method, headers } = incoming;
  const body = method === 'POST' ? { body: incoming, duplex: 'half' } : {};
  const request = new Request(url + incoming.url, { method, headers, ...body });
  const response = await handlers[method + ' ' + new URL(request.url).pathname](request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(await response.text());
}).listen(process.env.PORT, '127.0.0.1');
`,
  ),
};

const ownPage = programWith(
  ['addConsent', 'addSignIn'],
  `${COMMON}${EXPRESS}
app.get('/bob', ({ session }, response) => {
  session.account = { account_id: '${OTHER_ACCOUNT.toUpperCase()}', username: 'bob' };
  response.send('Signed in as Bob');
});
addConsent(app, admin, url, (response, asked, link) => {
  const fields = hidden('link', link) + hidden('account_id', asked.account_id);
  response.send(asked.scopes[0].title + form('/consent', fields + button('allow') + button('deny')));
});
app.listen(process.env.PORT, '127.0.0.1');
`,
);

const routeOfReadme = codeBlocks(await read('README.md')).find(({ code }) =>
  code.includes('@latchkey/client/host'),
);
const withRouteOfReadme = programWith(
  ['addSignIn'],
  `${COMMON}${EXPRESS}${routeOfReadme?.code}
app.listen(process.env.PORT, '127.0.0.1');
`,
);

const ownTest = programWith(
  ['testHost', 'addToExpress', 'accountFor'],
  `
import { default as express } from 'express';
const account = await accountFor({ id: 42, name: 'ada' });
const hostOf = (admin, url) => {
  const app = express();
  app.use((request, _response, next) => {
    request.session = { account };
    next();
  });
  addToExpress(app, admin, url);
  return app;
};
console.log(await testHost(hostOf, ''));
`,
);

test('examples/express/host.ts has what the guide shows', async () => {
  const program = await read('examples/express/host.ts');
  for (const code of codeOf(['addToExpress', 'addSignIn'])) {
    expect(program).toContain(code.replaceAll(ANY_IMPORT, '').trim());
  }
});

test.each(files)('the guide names examples/%s', (file) => {
  expect(guide).toContain(`(../../examples/${file})`);
});

let hosted: Hosted;

/** Starts a host of Node with the service. */
async function start(program: Program): Promise<void> {
  hosted = await startHosted(async (port, folder) => {
    await symlink(join(examplesFolder, 'node_modules'), join(folder, 'node_modules'));
    for (const [file, code] of Object.entries(program)) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), code.replaceAll(PORT_OF_PAGES, port));
    }
    return [process.execPath, join(folder, 'host.ts')];
  });
}

const stop = () => hosted.stop();

describe.each(Object.entries(programs))('a host with %s', (name, program) => {
  const button = name === 'Express' ? 'Ada Lovelace' : 'Sign in';
  beforeAll(() => start(program));
  afterAll(stop);

  testHandOff(() => hosted, button);

  test('leads to the connected applications, and to the sign-in page without a link', async () => {
    const browser = toCallback();
    const signIn = await browser.open(`${hosted.host.url}/link`);
    const home = await browser.press(signIn, button);
    expect(home.url.href).toBe(`${hosted.host.url}/`);
    const list = await browser.press(home, 'Connected applications');
    expect(list.url.origin + list.url.pathname).toBe(`${hosted.service.url}/connections`);
    expect(list.text).toContain(`href="${hosted.host.url}/"`);
  });

  test('ends the pages of a user who signs out', async () => {
    const browser = toCallback();
    const consent = await browser.press(await browser.open(hosted.authorizationUrl), button);
    const home = await browser.open(`${hosted.host.url}/`);
    expect((await browser.press(home, 'Sign out')).url.origin).toBe(hosted.host.url);
    expect(await browser.press(consent, 'Allow')).toMatchObject({ status: 410 });
    expect((await browser.open(hosted.authorizationUrl)).url.pathname).toBe('/sign-in');
  });

  test('has a key that can delete no application', async () => {
    const response = await fetch(
      `${hosted.service.url}/admin/applications/${hosted.application_id}`,
      {
        method: 'DELETE',
        headers: { authorization: `Bearer ${hosted.keyOfHost}` },
      },
    );
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error_code: 'right_missing' });
  });
});

describe('a host with nothing but the route of the README', () => {
  beforeAll(() => start(withRouteOfReadme));
  afterAll(stop);

  test('links an account', async () => {
    const browser = toCallback();
    const consent = await browser.press(await browser.open(hosted.authorizationUrl), 'Sign in');
    const { url } = await browser.press(consent, 'Allow');
    expect(url.searchParams.get('code')).toMatch(/^lk_code_/);
  });
});

describe('a host with a consent page of its own', () => {
  beforeAll(() => start(ownPage));
  afterAll(stop);

  test('decides as the user does, and for no other site', async () => {
    const browser = toCallback();
    const asked = await browser.press(await browser.open(hosted.authorizationUrl), 'Sign in');
    expect(asked.text).toContain('Read your profile');
    const allowed = await browser.press(asked, 'allow');
    expect(allowed.url.searchParams.get('code')).toMatch(/^lk_code_/);

    const denied = await browser.press(await browser.open(hosted.authorizationUrl), 'deny');
    expect(denied.url.searchParams.get('error')).toBe('access_denied');

    const third = onAnotherSite(await browser.open(hosted.authorizationUrl));
    expect(await browser.press(third, 'allow')).toMatchObject({ status: 403 });
  });

  test('links no account of somebody who has signed in since the question was shown', async () => {
    const browser = toCallback();
    const asked = await browser.press(await browser.open(hosted.authorizationUrl), 'Sign in');
    expect(asked.text).toContain(ACCOUNT);
    await browser.open(`${hosted.host.url}/bob`);
    const again = await browser.press(asked, 'allow');
    expect(again.text).toContain(OTHER_ACCOUNT);
    expect(again.url.pathname).toBe('/consent');
    const allowed = await browser.press(again, 'allow');
    expect(allowed.url.searchParams.get('code')).toMatch(/^lk_code_/);
  });

  test('signs nobody in for another site, and leads to no other site', async () => {
    const browser = toCallback();
    const signIn = await browser.open(`${hosted.host.url}/sign-in?next=https://evil.example/`);
    expect(await browser.press(onAnotherSite(signIn), 'Sign in')).toMatchObject({ status: 403 });
    expect((await browser.press(signIn, 'Sign in')).url.href).toBe(`${hosted.host.url}/`);
  });
});

test('the test of the guide links an account', async () => {
  const words = ['--input-type=module-typescript', '--eval', ownTest['host.ts'] ?? ''];
  const ran = await run(process.execPath, words, { cwd: examplesFolder, env: environment() });
  expect(ran).toMatchObject({ exitCode: 0, stdout: 'ada\n' });
});
