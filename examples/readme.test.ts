import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { dropDatabase, freshName, urlOf } from '../apps/server/src/store/mongodb/mongo-harness.ts';
// Declares what `inject` gives.
import type {} from '../apps/server/test/global-setup.ts';
import { type CodeBlock, codeBlocks, prose } from './test/markdown.ts';
import { Reader } from './test/reader.ts';
import { environment, run } from './test/service.ts';
import { requireTools } from './test/tools.ts';
import { typeCheck } from './test/type-check.ts';

const root = new URL('../', import.meta.url);
const readme = await readFile(new URL('README.md', root), 'utf8');
const blocks = codeBlocks(readme);

const mongodbServer = inject('mongodbUrl');
const mongodbName = freshName();

let reader: Reader;

beforeAll(async () => {
  reader = await Reader.create(mongodbServer && urlOf(mongodbServer, mongodbName));
});

afterAll(async () => {
  await reader?.close();
  if (mongodbServer !== undefined) await dropDatabase(mongodbServer, mongodbName);
});

/** A text with what differs from run to run written the same way. */
function leveled(text: string): string {
  return text
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replaceAll(/lk_(app|code|grant)_(?:…|\w{71})/g, 'lk_$1_…')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00/g, 'TIME')
    .replaceAll(/"grant_id": ?"[0-9a-f-]{36}"/g, '"grant_id":"UUID"');
}

/** The `curl` commands in a text. */
const curls = (text: string) => text.match(/^curl (?:.*\\\n)*.*$/gm) ?? [];

/** What may not be in the output of a block that is said to work. */
const FAULT = /"error_code"|"error"/;

/** Runs a block of a shell; every call in it has to succeed. */
async function shell(code: string): Promise<string> {
  const { exitCode, stdout, stderr } = await reader.shell(code);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).not.toMatch(FAULT);
  // `latchkey demo` prints what is to be pasted next.
  for (const command of curls(stdout)) await shell(command);
  return stdout;
}

/** The last block before another that matches. */
function blockBefore(block: CodeBlock, pattern: RegExp): CodeBlock {
  const found = blocks.findLast(({ code, line }) => line < block.line && pattern.test(code));
  if (found === undefined) throw new Error(`No block before line ${block.line} has ${pattern}.`);
  return found;
}

/** Exchanges a code that a block has issued, if one has: it has to be good. */
async function exchangeIssued(): Promise<void> {
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

/** Runs a program twice: the second time, its code is used up. */
async function linksAndUnlinks(block: CodeBlock, words: string[], cwd?: string): Promise<void> {
  await shell(blockBefore(block, /^export LATCHKEY_CODE=/m).code);

  expect(await reader.program(words, block.code, cwd)).toEqual({
    exitCode: 0,
    stdout: 'Linked ada\nUnlinked ada\n',
    stderr: '',
  });
  const again = await reader.program(words, block.code, cwd);
  expect(again.stdout).toBe('');
  expect(again.stderr).toMatch(/exchanged before|code_already_used/);
}

/** How a block of each language is held to what it says. */
const ways: Record<string, (block: CodeBlock) => Promise<void>> = {
  async sh(block) {
    await shell(block.code);
    await exchangeIssued();
    if (!block.code.includes('mongodb://')) return;

    // "No demo is made up there: create an application as above."
    for (const command of [/ app create /, / code issue /]) {
      await shell(blockBefore(block, command).code);
    }
    await exchangeIssued();
    expect(reader.service.stdout()).toMatch(/^Latchkey listens on .+\n$/);
  },

  /** What the first start prints. */
  async text({ code }) {
    const { service } = reader;
    // It listens before it says the rest.
    await expect.poll(() => leveled(service.stdout()), { timeout: 30_000 }).toBe(leveled(code));
  },

  /** What the first of the printed commands answers. The second works as well. */
  async json({ code }) {
    const [convert = '', revoke = ''] = curls(reader.service.stdout());
    const grant = await shell(convert);
    expect(JSON.parse(leveled(grant))).toEqual(JSON.parse(leveled(code)));
    expect(Object.keys(JSON.parse(grant))).toEqual(Object.keys(JSON.parse(code)));

    expect(JSON.parse(await shell(revoke))).toMatchObject({ object: 'oauth_grant', revoked: true });
  },

  async ts(block) {
    expect(typeCheck(block.code)).toEqual([]);
    // In the folder whose packages include the SDK.
    const words = [process.execPath, '--input-type=module-typescript', '--eval'];
    await linksAndUnlinks(block, words, fileURLToPath(new URL('.', import.meta.url)));
  },

  async python(block) {
    await linksAndUnlinks(block, ['python3', '-c']);
  },
};

describe('every block of README.md does what it says', () => {
  beforeAll(() => requireTools(['bash', 'curl', 'python3']));

  // In order, in one shell: what one block starts or exports, the next one uses.
  for (const block of blocks) {
    test(`line ${block.line}, ${block.language}`, async (context) => {
      const way = ways[block.language];
      if (way === undefined) {
        throw new Error(`Nothing runs a block of "${block.language}": add a way to do it here.`);
      }
      if (block.code.includes('mongodb://') && mongodbServer === undefined) {
        context.skip('There is no MongoDB.');
      }
      await way(block);
    });
  }

  test('there is no other code than in these blocks', () => {
    const around = prose(readme).split('\n');
    expect(around.filter((line) => /^\s*(?:```|~~~)|^(?: {4}|\t)/.test(line))).toEqual([]);
  });
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
