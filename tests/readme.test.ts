import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
// Declares the types of `inject`.
import type {} from '@latchkey/test-kit/global-setup';
import { slow } from '@latchkey/test-kit/long';
import { createDatabase, dropDatabase } from '@latchkey/test-kit/postgresql/test-databases';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { Browser } from './clients/browser.ts';
import { examplesFolder } from './support/examples-folder.ts';
import {
  connectAda,
  freePort,
  PORT_OF_PAGES,
  startLinkingProgram,
} from './support/linking-program.ts';
import { type CodeBlock, codeBlocks, links, prose, tableBelow } from './support/markdown.ts';
import { Reader } from './support/reader.ts';
import { environment, run } from './support/service.ts';
import { requireTools } from './support/tools.ts';
import { typeCheck } from './support/type-check.ts';

// Runs and compiles every block of README.md, docs/core.md and docs/operations/first-steps.md.

const root = new URL('../', import.meta.url);

const postgresql = inject('postgresqlUrl');

/** Reads the page under test. */
let reader: Reader;
/** The blocks of that page. */
let blocks: CodeBlock[];

/** A text in which the parts that differ from run to run are replaced. */
function leveled(text: string): string {
  return text
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replaceAll(/(?<=^Its database is ).*(?=\/data\/latchkey\.db$)/gm, 'FOLDER')
    .replaceAll(/lk_(app|code|grant)_(?:…|\w{71})/g, 'lk_$1_…')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00/g, 'TIME')
    .replaceAll(/"grant_id": ?"[0-9a-f-]{36}"/g, '"grant_id":"UUID"');
}

/** The `curl` commands in a text. */
const curls = (text: string) => text.match(/^curl (?:.*\\\n)*.*$/gm) ?? [];

/** What the output of a block that should work must not contain. */
const FAULT = /"error_code"|"error"/;

/** Runs a block in the shell and expects every call in it to succeed. */
async function shell(code: string): Promise<string> {
  const { exitCode, stdout, stderr } = await reader.shell(code);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).not.toMatch(FAULT);
  // `latchkey demo` prints the commands to paste next.
  for (const command of curls(stdout)) await shell(command);
  if (curls(code).length > 0) expect(stdout).toMatch(/\n$/);
  return stdout;
}

/** The last matching block before another one. */
function blockBefore(block: CodeBlock, pattern: RegExp): CodeBlock {
  const found = blocks.findLast(({ code, line }) => line < block.line && pattern.test(code));
  if (found === undefined) throw new Error(`No block before line ${block.line} has ${pattern}.`);
  return found;
}

/** Converts the code that a block has issued, if there is one, and expects it to be valid. */
async function convertIssued(): Promise<void> {
  const code = reader.take('an issued code');
  if (code === undefined) return;
  const secret = reader.noted('the secret of a new application');
  const response = await fetch(`${reader.service.url}/oauth/convert`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  expect(await response.json()).toMatchObject({ object: 'oauth_grant', scope: 'profile.read' });
}

/** Runs a program twice. The second time, its code is used already. */
async function linksAndUnlinks({ code }: CodeBlock, cwd: string): Promise<void> {
  await shell("export LATCHKEY_APPLICATION_SECRET='lk_app_…'\nexport LATCHKEY_CODE='lk_code_…'");

  expect(await reader.program(TYPESCRIPT, code, cwd)).toEqual({
    exitCode: 0,
    stdout: 'Linked ada\nUnlinked ada\n',
    stderr: '',
  });
  const again = await reader.program(TYPESCRIPT, code, cwd);
  expect(again.stdout).toBe('');
  expect(again.stderr).toMatch(/already converted|code_already_used/);
}

const TYPESCRIPT = [process.execPath, '--input-type=module-typescript', '--eval'];

/** Has the client of tRPC installed, as `examplesFolder` has the SDK. */
const serverFolder = fileURLToPath(new URL('apps/server/', root));

// tests/trpc-page.slow.test.ts compiles the same calls.
const isOfTrpc = ({ code }: CodeBlock) => code.includes("'@trpc/client'");

/** What stands around a block that adds routes to an `app`. */
const app = (routes: string) => `
import express from 'express';
const app = express();
${routes}
app.listen(8080, '127.0.0.1');
`;

/** Registers an application, runs it with these routes, and links an account with it in a browser. */
async function linksWith(routes: string): Promise<void> {
  await shell('bin/latchkey app create Acme --redirect-uri http://127.0.0.1/callback');
  const port = await freePort();
  const program = app(routes).replaceAll(PORT_OF_PAGES, port);
  const application = await startLinkingProgram([...TYPESCRIPT, program], port, {
    cwd: examplesFolder,
    env: environment({
      LATCHKEY_URL: reader.service.url,
      LATCHKEY_APPLICATION_SECRET: reader.noted('the secret of a new application'),
    }),
  });
  await connectAda(new Browser(), `${application.url}/connect`);
  expect(application.printed()).toBe('Linked ada\n');
  await application.stop();
}

/** Runs an MCP server with these routes: a call without a grant learns where to get one. */
async function leadsToLatchkey(routes: string): Promise<void> {
  const port = await freePort();
  const program = app(routes).replaceAll(PORT_OF_PAGES, port);
  const mcp = await startLinkingProgram([...TYPESCRIPT, program], port, {
    cwd: examplesFolder,
    env: environment({ LATCHKEY_URL: reader.service.url }),
  });
  const refused = await fetch(`${mcp.url}/mcp`, { method: 'POST' });
  expect(refused.headers.get('WWW-Authenticate')).toMatch(/^Bearer .*, scope="notes\.read", /);
  const path = '/.well-known/oauth-protected-resource/mcp';
  expect(await (await fetch(mcp.url + path)).json()).toMatchObject({
    authorization_servers: ['https://link.example.com'],
  });
  await mcp.stop();
}

/** In a block that begins with the path of a file, lines of that file. */
const EXCERPT = /^(?:\/\/|--) ((?:packages|apps)\/\S+)\n/;

const isExcerpt = ({ code }: CodeBlock) => EXCERPT.test(code);

const withoutIndent = (text: string) => text.replaceAll(/^ +/gm, '').trim();

async function isInItsFile({ code }: CodeBlock): Promise<void> {
  const [first = '', path = ''] = EXCERPT.exec(code) ?? [];
  const file = await readFile(new URL(path, root), 'utf8');
  expect(withoutIndent(file)).toContain(withoutIndent(code.slice(first.length)));
}

const hasRoutes = ({ code }: CodeBlock) => /^app\.(?:get|use)\(/m.test(code);

/** How a block of each language is tested. */
const ways: Record<string, (block: CodeBlock) => Promise<void>> = {
  async sh(block) {
    await shell(block.code);
    await convertIssued();
    if (!block.code.includes('postgresql://')) return;

    // "It creates no demo if DATABASE_URL is set: create an application as shown above."
    for (const command of [/ app create /, / code issue /]) {
      await shell(blockBefore(block, command).code);
    }
    await convertIssued();
    expect(reader.service.stdout()).toMatch(/^Latchkey listens on .+\n$/);
  },

  /** What the first start prints. */
  async text({ code }) {
    const { service } = reader;
    // It listens before it prints the rest.
    await expect.poll(() => leveled(service.stdout())).toBe(leveled(code));
  },

  /** The response to the first printed command. The second command works too. */
  async json({ code }) {
    const [convert = '', revoke = ''] = curls(reader.service.stdout());
    const grant = await shell(convert);
    expect(JSON.parse(leveled(grant))).toEqual(JSON.parse(leveled(code)));
    expect(Object.keys(JSON.parse(grant))).toEqual(Object.keys(JSON.parse(code)));

    expect(JSON.parse(await shell(revoke))).toMatchObject({ object: 'oauth_grant', revoked: true });
  },

  sql: isInItsFile,

  async ts(block) {
    if (isExcerpt(block)) return isInItsFile(block);
    // tests/hosts-guide.test.ts runs that of the host.
    if (block.code.includes('@latchkey/client/host')) return;
    if (block.code.includes('@latchkey/client/guards')) return leadsToLatchkey(block.code);
    if (hasRoutes(block)) return linksWith(block.code);
    await linksAndUnlinks(block, isOfTrpc(block) ? serverFolder : examplesFolder);
  },
};

describe.each(['README.md', 'docs/core.md'])('every block of %s works', describePage);
describe.each(['docs/operations/first-steps.md'])('every block of %s works', slow, describePage);

async function describePage(page: string): Promise<void> {
  const text = await readFile(new URL(page, root), 'utf8');

  beforeAll(async () => {
    await requireTools(['bash', 'curl']);
    blocks = codeBlocks(text);
    const databaseUrl = postgresql && (await createDatabase(postgresql));
    reader = await Reader.create(databaseUrl);
    return async () => {
      await reader.close();
      if (databaseUrl !== undefined) await dropDatabase(databaseUrl);
    };
  });

  // In order and in one shell: a block uses what the blocks before it start or export.
  for (const block of codeBlocks(text)) {
    test(`line ${block.line}, ${block.language}`, async (context) => {
      const way = ways[block.language];
      if (way === undefined) {
        throw new Error(`Nothing runs a block of "${block.language}": add a way to do it here.`);
      }
      if (block.code.includes('postgresql://') && postgresql === undefined) {
        context.skip('there is no PostgreSQL');
      }
      await way(block);
    });
    if (block.language !== 'ts' || isExcerpt(block) || isOfTrpc(block)) continue;
    test(`line ${block.line} compiles`, slow, () => {
      expect(typeCheck(hasRoutes(block) ? app(block.code) : block.code)).toEqual([]);
    });
  }

  if (page === 'README.md') test('each call of its table works', () => callAsTheTableSays(text));

  test('all code is in these blocks', () => {
    const around = prose(text).split('\n');
    expect(around.filter((line) => /^\s*(?:```|~~~)|^(?: {4}|\t)/.test(line))).toEqual([]);
  });
}

/** Makes the calls of the table: a conversion and a revocation, in each way. */
async function callAsTheTableSays(text: string): Promise<void> {
  const rows = tableBelow(text, INSIDE);
  const [sdk, trpc, rest, commands] = rows.map(([, ...cells]) => cells as [string, string]);
  const programOf = (client: string, [convert, revoke]: [string, string]) => `${client}
const { grant_id: id } = await ${convert.replace('code', "'lk_code_…'")};
console.log((await ${revoke}).revoked);
`;
  const ended = { exitCode: 0, stdout: 'true\n', stderr: '' };

  const ofSdk = `import { Latchkey } from '@latchkey/client';
const latchkey = new Latchkey({ baseUrl: '${reader.service.url}', applicationSecret: 'lk_app_…' });`;
  const convertBySdk = programOf(ofSdk, sdk as [string, string]);
  expect(await reader.program(TYPESCRIPT, convertBySdk, examplesFolder)).toEqual(ended);

  const ofTrpc = `import { createTRPCClient, httpLink } from '@trpc/client';
const headers = { authorization: 'Bearer lk_app_…' };
const trpc = createTRPCClient({ links: [httpLink({ url: '${reader.service.url}/trpc', headers })] });`;
  const convertByTrpc = programOf(ofTrpc, trpc as [string, string]).replace(
    "{ 'lk_code_…' }",
    "{ code: 'lk_code_…' }",
  );
  expect(await reader.program(TYPESCRIPT, convertByTrpc, serverFolder)).toEqual(ended);

  const [convert, revoke] = (rest as [string, string]).map((call) =>
    call.replace('curl', String.raw`curl -sS -w '\n'`),
  );
  const variables = `export URL='${reader.service.url}' AUTH='Authorization: Bearer lk_app_…'`;
  expect(await shell(`${variables}\n${convert}`)).toContain('"object":"oauth_grant"');
  expect(await shell(`${revoke}`)).toContain('"revoked":true');

  const [demo = '', end = ''] = commands ?? [];
  expect(await shell(demo.replace(/ prints .*/, ''))).toContain('/oauth/revoke');
  expect(await shell(end)).toContain('revoked');
}

const INSIDE = 'What is inside';

const readme = await readFile(new URL('README.md', root), 'utf8');
const [, inside = ''] = new RegExp(`^## ${INSIDE}\n([\\s\\S]*?)^## `, 'm').exec(readme) ?? [];

test('the first screen of README.md says what is inside, in 20 lines', async () => {
  expect(readme.indexOf(inside)).toBeLessThan(readme.indexOf('## Try it'));
  // Without the empty line at its end, but with the heading.
  expect(inside.split('\n').length - 1).toBeLessThanOrEqual(20);
  for (const word of ['tRPC', 'convert', 'schema', 'zod', 'monorepo', 'MongoDB TTL', 'SDK']) {
    expect(inside).toContain(word);
  }
  const packages = await readdir(new URL('packages', root));
  expect(packages.filter((name) => !inside.includes(name))).toEqual([]);
});

test('the six files of README.md have what it says of them', async () => {
  const items = [...inside.matchAll(/^\d\. (.+)$/gm)].map(([, item]) => item as string);
  const paths = items.map((item) => links(item).map((link) => link.split('#')[0] as string));
  expect(paths.map(([first]) => first)).toEqual([
    'docs/protocol/operations.md',
    'packages/schema/src/operations.ts',
    'apps/server/src/http/trpc/router.ts',
    'packages/rules/src/grants/redeem.ts',
    'packages/store/src/operations/codes.ts',
    'packages/client/src/latchkey.ts',
  ]);
  for (const [index, item] of items.entries()) {
    const files = (paths[index] ?? []).map((path) => readFile(new URL(path, root), 'utf8'));
    const text = (await Promise.all(files)).join('\n');
    // Outside of the links.
    const claims = item.replaceAll(/\[.*?\]\(.*?\)/g, '').matchAll(/`([^`]+)`/g);
    const missing = [...claims].filter(([, word = '']) => !text.includes(word));
    expect(missing, item).toEqual([]);
  }
});

test('the picture of README.md moves, is small, and is told to who does not see it', async () => {
  const [, path = '', alt = ''] = /<img src="(\S+\.webp)"[^>]* alt="([^"]+)">/.exec(readme) ?? [];
  const picture = await readFile(new URL(path, root));
  expect(picture.length).toBeLessThanOrEqual(400 * 1024);
  const chunks = picture.toString('latin1');
  expect(chunks).toMatch(/^RIFF.{4}WEBPVP8X/s);
  expect(chunks.match(/ANMF/g)?.length).toBeGreaterThan(3);
  for (const part of ['consent page', 'Allow', 'disconnects', 'refused'])
    expect(alt).toContain(part);
});

test('README.md can be read in a minute', () => {
  expect(readme.split('\n').length - 1).toBeLessThanOrEqual(115);
});

test('the figures of README.md are the measured ones', async () => {
  const races = await readFile(new URL('benchmarks/results/races.md', root), 'utf8');
  const [, measured = ''] = /^\*\*The race\.\*\*([\s\S]*?)^\*\*/m.exec(races) ?? [];
  /** How many codes were redeemed once, and more than once, by each store of a server. */
  const rowsOf = (server: string) =>
    measured.split('\n').flatMap((line) => {
      const [, name, , once, , several] = line.split('|').map((cell) => cell.trim());
      return name === server ? [[once, several]] : [];
    });
  expect(rowsOf('Latchkey')).toEqual(Array(6).fill(['100', '0']));
  expect(rowsOf('Keycloak')).toEqual([['0', '0']]);
  const [[, several] = []] = rowsOf('fosite');
  expect(several).toMatch(/^\[\d+\]/);
  const said = tableBelow(readme, 'Or something else?');
  expect(said.map(([server, often]) => [server?.split(',')[0], often])).toEqual([
    ['**Latchkey**', '**none**'],
    ['Keycloak 26.7', 'none'],
    ['fosite 0.49', several],
  ]);
});

test('the block of packages/schema/README.md prints what its comments say', async () => {
  const folder = new URL('packages/schema/', root);
  const [block] = codeBlocks(await readFile(new URL('README.md', folder), 'utf8'));
  const { code } = block as CodeBlock;
  const said = [...code.matchAll(/^console\.log\(.+\); \/\/ (.+)$/gm)].map(([, value]) => value);
  const words = ['--input-type=module-typescript', '--eval', code];
  const cwd = fileURLToPath(folder);
  expect(await run(process.execPath, words, { cwd, env: environment() })).toEqual({
    exitCode: 0,
    stdout: `${said.join('\n')}\n`,
    stderr: '',
  });
});
