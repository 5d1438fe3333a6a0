import { readFile } from 'node:fs/promises';
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
import { type CodeBlock, codeBlocks, prose, tableBelow } from './support/markdown.ts';
import { Reader } from './support/reader.ts';
import { environment, run } from './support/service.ts';
import { requireTools } from './support/tools.ts';
import { typeCheck } from './support/type-check.ts';

// Runs and compiles every block of README.md and docs/operations/first-steps.md.

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
async function linksAndUnlinks(block: CodeBlock, words: string[], cwd?: string): Promise<void> {
  await shell("export LATCHKEY_APPLICATION_SECRET='lk_app_…'\nexport LATCHKEY_CODE='lk_code_…'");

  expect(await reader.program(words, block.code, cwd)).toEqual({
    exitCode: 0,
    stdout: 'Linked ada\nUnlinked ada\n',
    stderr: '',
  });
  const again = await reader.program(words, block.code, cwd);
  expect(again.stdout).toBe('');
  expect(again.stderr).toMatch(/already converted|code_already_used/);
}

/** What stands around a block that adds routes to an `app`. */
const app = (routes: string) => `
import express from 'express';
const app = express();
${routes}
app.listen(8080, '127.0.0.1');
`;

/** Registers an application, runs it with these routes, and links an account with it in a browser. */
async function links(routes: string): Promise<void> {
  await shell('npm run -s latchkey -- app create Acme --redirect-uri http://127.0.0.1/callback');
  const port = await freePort();
  const program = app(routes).replaceAll(PORT_OF_PAGES, port);
  const words = [process.execPath, '--input-type=module-typescript', '--eval', program];
  const application = await startLinkingProgram(words, port, {
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

const hasRoutes = ({ code }: CodeBlock) => code.includes('app.get(');

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

  async ts(block) {
    // tests/hosts-guide.test.ts runs that of the host.
    if (hasRoutes(block)) return block.code.includes('/host') ? undefined : links(block.code);
    // In the folder that has the SDK installed.
    const words = [process.execPath, '--input-type=module-typescript', '--eval'];
    await linksAndUnlinks(block, words, examplesFolder);
  },

  async python(block) {
    await linksAndUnlinks(block, ['python3', '-c']);
  },
};

describe.each(['README.md'])('every block of %s works', describePage);
describe.each(['docs/operations/first-steps.md'])('every block of %s works', slow, describePage);

async function describePage(page: string): Promise<void> {
  const text = await readFile(new URL(page, root), 'utf8');

  beforeAll(async () => {
    await requireTools(['bash', 'curl', 'python3']);
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
    if (block.language !== 'ts') continue;
    test(`line ${block.line} compiles`, slow, () => {
      expect(typeCheck(hasRoutes(block) ? app(block.code) : block.code)).toEqual([]);
    });
  }

  test('all code is in these blocks', () => {
    const around = prose(text).split('\n');
    expect(around.filter((line) => /^\s*(?:```|~~~)|^(?: {4}|\t)/.test(line))).toEqual([]);
  });
}

test('README.md can be read in a minute', async () => {
  const text = await readFile(new URL('README.md', root), 'utf8');
  expect(text.split('\n').length - 1).toBeLessThanOrEqual(100);
});

test('the figures of README.md are the measured ones', async () => {
  const [readme, races] = await Promise.all(
    ['README.md', 'docs/races.md'].map((page) => readFile(new URL(page, root), 'utf8')),
  );
  const [, measured = ''] = /^\*\*The race\.\*\*([\s\S]*?)^\*\*/m.exec(races ?? '') ?? [];
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
  const said = tableBelow(readme ?? '', 'Or something else?');
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
