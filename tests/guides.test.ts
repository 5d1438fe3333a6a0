import { glob, readFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import * as client from '@latchkey/client';
import { slow } from '@latchkey/test-kit/long';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from './clients/browser.ts';
import { PAGES_OF_PARTS } from './support/application.ts';
import { examplesFolder } from './support/examples-folder.ts';
import { type Fault, startFaultyService } from './support/faulty-service.ts';
import { connectAda, disconnect, freePort, PORT_OF_PAGES } from './support/linking-program.ts';
import { type CodeBlock, codeBlocks, prose, tableBelow } from './support/markdown.ts';
import { type RunningProgram, startProgram } from './support/program.ts';
import { Reader } from './support/reader.ts';
import { environment } from './support/service.ts';
import { requireTools } from './support/tools.ts';
import { tsc } from './support/tsc.ts';
import { typeCheck } from './support/type-check.ts';

// Runs and compiles every block of docs/quickstart.md and docs/guides, except the parts of programs
// that sdk-readme.test.ts compiles.

const docs = new URL('../docs/', import.meta.url);
const read = (page: string) => readFile(new URL(page, docs), 'utf8');

const guides: string[] = [];
for await (const guide of glob('guides/*.md', { cwd: fileURLToPath(docs) })) guides.push(guide);

const quickstart = 'quickstart.md';
const pages = [quickstart, ...guides.sort()];
const isOfParts = (page: string) => PAGES_OF_PARTS.includes(`docs/${page}`);

/** Runs a block in the shell and expects it to succeed. */
async function shell(reader: Reader, code: string): Promise<string> {
  const { exitCode, stdout, stderr } = await reader.shell(code);
  // npm warns about settings of the machine.
  const said = stderr.replaceAll(/^npm (?:warn|notice).*\n/gm, '');
  expect({ exitCode, stderr: said }).toEqual({ exitCode: 0, stderr: '' });
  return stdout;
}

/** Runs a program that starts with a block, in the folder that has the SDK installed. */
async function program(reader: Reader, code: string): Promise<string> {
  const words = [process.execPath, '--input-type=module-typescript', '--eval'];
  const { exitCode, stdout, stderr } = await reader.program(words, code, examplesFolder);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout;
}

/** Calls a function of a block with a fresh code, behind faults. Returns its outcome. */
async function callBehind(
  reader: Reader,
  { code }: CodeBlock,
  name: string,
  faults: Record<string, Fault[]>,
): Promise<string> {
  const faulty = await startFaultyService(reader.service.url, faults);
  const call = `
import { Latchkey as Client } from '@latchkey/client';
const client = new Client({ baseUrl: '${faulty.url}', applicationSecret: 'lk_app_…' });
const told = await ${name}(client, 'lk_code_…').catch((error: Error) => error.name);
console.log(typeof told === 'string' ? told : (await client.account(told.grant_secret)).username);
`;
  const printed = await program(reader, code + call);
  await faulty.close();
  return printed.trim();
}

/** Where the application of the quickstart listens, and the host of the guide. */
const port = await freePort();

/** Saves a block as the file that its page names. */
const save = (reader: Reader, { code, file = '' }: CodeBlock) =>
  reader.save(file, code.replaceAll(PORT_OF_PAGES, port));

/** Compiles a file of the reader's project, which has no settings for the compiler. */
async function compiles(reader: Reader, file: string): Promise<void> {
  const { exitCode, stdout } = await reader.shell(
    `'${tsc}' --noEmit --allowImportingTsExtensions ${file}`,
  );
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' });
}

/** The receivers of the guides to events, which run until the end of their page. */
const receivers = new WeakMap<Reader, RunningProgram>();

/**
 * Runs a block of a guide to events, whose receiver runs beside it.
 *
 * @param hears - what the receiver prints after a block with these words
 */
async function besideReceiver(
  reader: Reader,
  { code }: CodeBlock,
  hears: Record<string, () => string>,
): Promise<string> {
  const text = code.replaceAll(PORT_OF_PAGES, port);
  const [, file] = / (\w+\.ts)$/m.exec(code) ?? [];
  if (file !== undefined) {
    await compiles(reader, file);
    receivers.set(reader, await reader.start(text, port));
    return '';
  }
  if (code.includes('curl')) await requireTools(['curl']);
  const said = await shell(reader, text);
  for (const [words, line] of Object.entries(hears)) {
    if (!code.includes(words)) continue;
    const printed = () => receivers.get(reader)?.printed();
    await expect.poll(printed, { timeout: 10_000 }).toContain(`${line()}\n`);
  }
  return said;
}

type Way = (block: CodeBlock, reader: Reader, blocks: CodeBlock[]) => Promise<void>;

/** What the programs of the guide to events are run with, by a name in them, and what they then tell. */
const ofEvents: [name: string, run: string, told: unknown[]][] = [
  [
    'createLinks',
    `
import { DatabaseSync as Database } from 'node:sqlite';
const database = new Database(':memory:');
const links = createLinks(database);
const told: unknown[] = [links.save('1', 'ada', 'secret 1'), links.save('2', 'ada', 'secret 2')];
links.end('1');
links.end('1');
links.end('3');
told.push(links.save('3', 'ada', 'secret 3'), links.save('1', 'ada', 'secret 1'));
const secrets = database.prepare('SELECT secret FROM links WHERE secret IS NOT NULL').all();
told.push(...secrets.map(({ secret }) => secret));
`,
    [true, true, false, false, 'secret 2'],
  ],
  [
    'isLinked',
    `
import { Latchkey as Client } from '@latchkey/client';
import { createTestServer } from '@latchkey/testing';
await using server = await createTestServer();
const client = new Client(server);
const { code } = await server.issueCode();
const { grant_id, grant_secret } = await client.convert(code);
const told = [await isLinked(client, grant_secret)];
await server.revoke(grant_id);
told.push(await isLinked(client, grant_secret));
`,
    [true, false],
  ],
];

/** Compares a block with the program that it is a part of, which `npm run test:clients` runs. */
const partOf =
  (file: string): Way =>
  async ({ code }) =>
    expect(await readFile(join(examplesFolder, file), 'utf8')).toContain(code);

/** The tests of the programs, by page. */
const ways: Record<string, Record<string, Way>> = {
  'quickstart.md': {
    async ts(block, reader) {
      await save(reader, block);
      await compiles(reader, 'app.ts');
    },
    async sh({ code }, reader, blocks) {
      if (!code.includes('app.ts')) return void (await shell(reader, code));
      const application = await reader.start(code, port);
      const browser = new Browser();
      const account = () => browser.open(`${application.url}/account`);
      const home = await browser.open(application.url);
      const [, path] = /<a href="(.+)">Connect your account</.exec(home.text) ?? [];
      const shown = await connectAda(browser, application.url + path);
      const response = blocks.find(({ language }) => language === 'json')?.code ?? '';
      expect(JSON.parse(shown.text)).toEqual(JSON.parse(response));
      await disconnect(browser, reader.service.url, reader.noted('APPLICATION_ID'));
      expect(await account()).toMatchObject({ status: 401 });
    },
    // Compared above.
    async json() {},
  },

  // tests/hosts-guide.test.ts runs its functions.
  'guides/hosts.md': {
    async ts(block, reader) {
      if (block.file !== undefined) await save(reader, block);
    },
    async sh({ code }, reader) {
      const text = code.replaceAll(PORT_OF_PAGES, port);
      if (!code.includes('tsx')) return void (await shell(reader, text));
      await compiles(reader, 'main.ts');
      const host = await reader.start(text, port);
      const browser = new Browser();
      const home = await browser.press(await browser.open(`${host.url}/link`), 'Ada');
      const { url } = await browser.press(home, 'Connected applications');
      expect(url.origin + url.pathname).toBe(`${reader.service.url}/connections`);
    },
    python: partOf('hosts/fastapi/host.py'),
  },

  // tests/ai-clients.test.ts compares server.ts with the example.
  'guides/ai-clients.md': {
    async ts(block, reader) {
      if (block.file === 'main.ts') await save(reader, block);
    },
    async sh({ code }, reader, blocks) {
      const text = code.replaceAll(PORT_OF_PAGES, port);
      if (code.includes('main.ts')) {
        await compiles(reader, 'main.ts client.ts');
        await reader.start(text, port);
      } else if (code.includes('tsx@4 client.ts')) {
        const client = await reader.start(text, port);
        const opened = () => /^Open (\S+)\n/m.exec(client.printed())?.[1];
        await expect.poll(opened).toBeDefined();
        const page = await connectAda(new Browser(), opened() ?? '');
        expect(page.text).toBe('Go back to the terminal.');
        await expect.poll(client.printed).toMatch(/^The first note of [0-9a-f-]{36}$/m);
      } else if (code.startsWith('curl')) {
        await requireTools(['curl']);
        const said = await shell(reader, text);
        const response = blocks.find(({ language }) => language === 'http')?.code ?? '';
        for (const line of response.replaceAll(PORT_OF_PAGES, port).trim().split('\n')) {
          expect(said.split('\r\n')).toContain(line);
        }
      } else await shell(reader, text);
    },
    // Compared above.
    async http() {},
    async json({ code }) {
      expect(code).toContain('http://127.0.0.1:8092/mcp');
      JSON.parse(code);
    },
  },

  'guides/answer-a-user.md': {
    async sh({ code }, reader) {
      if (code.includes('curl')) await requireTools(['curl']);
      const said = await shell(reader, code);
      if (code.includes('grant history')) {
        const happened = [...said.matchAll(/^\S+ {2}(\S+): /gm)].map(([, what]) => what);
        expect(happened).toEqual(['issued', 'converted', 'revoked', 'account.get']);
      }
    },
    async text({ code }, reader, blocks) {
      const asked = blocks.at(blocks.findIndex((block) => block.code === code) - 1)?.code ?? '';
      const masked = (text: string) =>
        text
          .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
          .replaceAll(/20\d\d-\S+\+00:00/g, 'TIME');
      expect(masked(await shell(reader, asked)).trim()).toBe(masked(code).trim());
    },
  },

  'guides/store-the-grant.md': {
    async sql({ code }) {
      const database = new DatabaseSync(':memory:');
      database.exec(code);
      const columns = database.prepare("SELECT name FROM pragma_table_info('links')").all();
      expect(columns.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['grant_id', 'sealed_secret']),
      );
      database.close();
    },
    async ts({ code }, reader) {
      const key = await shell(reader, 'openssl rand -base64 32');
      await shell(reader, `export LINKS_KEY='${key.trim()}'`);
      const use = `
const [sealed, other] = [seal('grant 1', 'a secret'), seal('grant 1', 'a secret')];
const refused = (id: string, stored: Buffer) => {
  try { return !open(id, stored); } catch { return true; }
};
const changed = Buffer.from(sealed);
changed[14]! ^= 1;
console.log(JSON.stringify([
  open('grant 1', sealed), sealed.equals(other), sealed.includes('secret'),
  refused('grant 2', sealed), refused('grant 1', changed), refused('grant 1', sealed.subarray(0, -1)),
]));
`;
      const printed = JSON.parse(await program(reader, code + use));
      expect(printed).toEqual(['a secret', false, false, true, true, true]);
    },
  },

  'guides/treat-each-error.md': {
    async ts(block, reader) {
      const told: Record<string, string> = {};
      const refusals = [
        'code_expired',
        'application_disabled',
        'rate_limited',
        'internal_error',
      ] as const;
      for (const refuse of refusals) {
        // More often than the SDK tries again by itself.
        const faults = { '/trpc/grants.convert': Array(9).fill({ refuse }) };
        told[refuse] = await callBehind(reader, block, 'connect', faults);
      }
      expect(told).toEqual({
        code_expired: 'connect again',
        application_disabled: 'ApplicationDisabledError',
        rate_limited: 'try again in a minute',
        internal_error: 'ServerError',
      });
      expect(await callBehind(reader, block, 'connect', {})).toBe('ada');
    },
  },

  'guides/survive-a-lost-answer.md': {
    async ts(block, reader) {
      const convert = (...faults: Fault[]) =>
        callBehind(reader, block, 'convertSurely', { '/trpc/grants.convert': faults });
      expect(await convert('lose')).toBe('ada');
      expect(await convert({ loseBehind: 'outcome_unknown' })).toBe('ada');
      expect(await convert({ refuse: 'outcome_unknown' })).toBe('ada');
      // The user clicked twice.
      expect(await convert({ loseBehind: 'code_already_used' })).toBe('CodeAlreadyUsedError');
    },
  },

  // The program of a command line asks its user to open a page.
  'guides/recipes.md': {
    async sh({ code }, reader) {
      if (!code.includes('link-in-browser.ts')) return void (await shell(reader, code));
      const text = code
        .replaceAll('http://127.0.0.1:3000', reader.service.url)
        .replaceAll('APPLICATION_ID', reader.noted('APPLICATION_ID'));
      const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
      const options = { cwd: dirname(examplesFolder), env: environment({ PATH }) };
      const program = await startProgram(['bash', '-c', text], options, async (printed) =>
        printed.match(/^Open (\S+)$/m)?.at(1),
      );
      await connectAda(new Browser(), program.url);
      await expect.poll(() => program.printed()).toMatch(/^Linked ada$/m);
      await program.stop();
    },
  },

  'guides/linking-with-the-sdk.md': {
    async ts({ code }, reader) {
      const isExpress = code.includes('expressLinking');
      const callback = 'http://127.0.0.1:4000/callback';
      const server = `
import { Latchkey as Client } from '@latchkey/client';
import { createTestServer } from '@latchkey/testing';
await using server = await createTestServer();
const client = new Client(server);
`;
      const run = isExpress
        ? `
const saved: string[] = [];
const listening = createApp(client, {
  userOf: () => 'user-1',
  save: async (user, { account }) => void saved.push(user, account.username),
}).listen(0, '127.0.0.1');
await new Promise((resolve) => listening.once('listening', resolve));
const { port } = listening.address() as { port: number };
const visit = (url: string, cookie = '') =>
  fetch(url.replace(':4000', ':' + port), { redirect: 'manual', headers: { cookie } });
for (const decide of ['approve', 'deny'] as const) {
  const begun = await visit('http://127.0.0.1:4000/connect');
  const returned = await server[decide](begun.headers.get('Location')!);
  const ended = await visit(returned, begun.headers.get('Set-Cookie')!);
  saved.push(ended.headers.get('Location')!);
}
const lost = await visit('${callback}?state=forged');
saved.push(lost.headers.get('Location')!);
listening.close();
console.log(JSON.stringify(saved));
`
        : `
const { url, kept } = await begin(client);
const grant = await finish(client, await server.approve(url), kept);
console.log(JSON.stringify([grant.account.username]));
`;
      const at = (path: string) => `http://127.0.0.1:4000${path}`;
      expect(JSON.parse(await program(reader, server + code + run))).toEqual(
        isExpress ? ['user-1', 'ada', at('/settings'), at('/settings'), at('/try-again')] : ['ada'],
      );
    },
  },

  'guides/hear-when-a-link-ends.md': {
    async sh(block, reader) {
      const said = await besideReceiver(reader, block, {
        'endpoint ping': () => 'The operator tried this address.',
        'connection revoke': () => `${reader.noted('GRANT_ID')} ended: host`,
      });
      if (block.code.includes('endpoint ping')) expect(said).toContain('status code 204');
      if (block.code.includes('delivery list')) {
        expect(said).toMatch(/\tgrant\.revoked\tdelivered\t/);
      }
      if (block.code.includes('endpoint rotate')) expect(said).toMatch(/^whsec_/m);
      if (block.code.includes('endpoint replay')) expect(said).toMatch(/\b0\b/);
    },
    async ts(block, reader) {
      const { code } = block;
      if (block.file !== undefined) return save(reader, block);
      const [, run = '', expected] = ofEvents.find(([name]) => code.includes(name)) ?? [];
      const printed = await program(reader, `${code}${run}console.log(JSON.stringify(told));`);
      expect(JSON.parse(printed)).toEqual(expected);
    },
  },

  'guides/tell-your-users.md': {
    ts: (block, reader) => save(reader, block),
    async sh(block, reader) {
      const mail = (what: string) => () => `To ${reader.noted('ACCOUNT_ID')}: Acme was ${what}`;
      await besideReceiver(reader, block, {
        curl: mail('connected'),
        'connection revoke': mail('disconnected'),
      });
    },
  },

  'guides/test-your-integration.md': {
    ts: (block, reader) => reader.save('linking.test.ts', block.code),
    async sh({ code }, reader, blocks) {
      const said = await shell(reader, code);
      if (!code.startsWith('node --test')) return;
      const tests = blocks.flatMap((block) => block.code.match(/^test\(/gm) ?? []).length;
      expect(tests).toBeGreaterThan(4);
      expect(said).toMatch(new RegExp(`^(?:#|ℹ) pass ${tests}$`, 'm'));
      expect(said).toMatch(/^(?:#|ℹ) fail 0$/m);
    },
  },
};

/** The tests of the blocks that are the same on every page. */
const anywhere: Record<string, Way> = {
  async sh({ code }, reader) {
    await shell(reader, code);
  },
  // A drawing.
  mermaid: async ({ code }) => expect(code).toMatch(/^(?:sequenceDiagram|stateDiagram-v2)\n/),
};

/** These sections of the quickstart need libraries that `npm run test:clients` installs. */
const OF_TEST_CLIENTS = /^## In Python$[\s\S]*(?=^## Next$)/m;

describe.each([quickstart])('docs/%s', describePage);
describe.each(guides.filter((page) => !isOfParts(page)))('docs/%s', slow, describePage);

function describePage(page: string): void {
  let reader: Reader;
  beforeAll(async () => {
    await requireTools(['bash']);
    reader = await Reader.create(undefined);
    await shell(reader, 'npm start');
    await shell(reader, 'bin/latchkey app create Acme');
    await shell(reader, "bin/latchkey key create 'Sign-in page' --role host");
  });
  afterAll(() => reader?.close());

  test('does what its blocks say', { timeout: 600_000 }, async () => {
    const text = await read(page);
    const blocks = codeBlocks(text.replace(OF_TEST_CLIENTS, ''));
    for (const block of blocks) {
      const way = ways[page]?.[block.language] ?? anywhere[block.language];
      if (way === undefined) {
        throw new Error(`Nothing runs a block of "${block.language}": add a way to do it here.`);
      }
      // A response is shown below the block that requested it.
      if (blocks[blocks.indexOf(block) + 1]?.language === 'text') continue;
      await way(block, reader, blocks);
    }
    const around = prose(text).split('\n');
    expect(around.filter((line) => /^\s*(?:```|~~~)|^(?: {4}|\t)/.test(line))).toEqual([]);
  });
}

test('every program in them compiles', slow, async () => {
  const whole = pages.filter((page) => !isOfParts(page));
  const blocks = (await Promise.all(whole.map(read))).flatMap(codeBlocks);
  const programs = blocks
    .filter(({ language }) => language === 'ts')
    .map(({ code }) => code)
    // The test of its page compiles it, beside the files that it imports.
    .filter((code) => !code.includes("from './"));
  expect(programs.length).toBeGreaterThan(4);
  expect(typeCheck(...programs)).toEqual([]);
});

test('the guide to the answers names reasons that there are', async () => {
  const { reasons } = await import('@latchkey/domain/reasons');
  const rows = tableBelow(await read('guides/answer-a-user.md'), '6. What to tell');
  expect(rows.length).toBeGreaterThan(5);
  for (const [reason] of rows) expect(Object.keys(reasons)).toContain(reason);
});

test('the guide to the errors names each error class of the SDK', async () => {
  const text = await read('guides/treat-each-error.md');
  const classes = Object.entries(client)
    .filter(([, value]) => (Object.getPrototypeOf(value)?.name ?? '').endsWith('Error'))
    .map(([name]) => name)
    .filter((name) => name !== 'LatchkeyError');
  expect(classes.length).toBeGreaterThan(10);
  expect(classes.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});
