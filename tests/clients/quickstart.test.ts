import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { connectAda, disconnect, freePort } from '../support/linking-program.ts';
import { type CodeBlock, codeBlocks } from '../support/markdown.ts';
import { Reader } from '../support/reader.ts';
import { describeWith, requireTools } from '../support/tools.ts';
import { Browser } from './browser.ts';

// Runs the sections of docs/quickstart.md whose libraries only this run installs. tests/guides.test.ts
// runs the others.

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFile(new URL(path, root), 'utf8');
const quickstart = await read('docs/quickstart.md');

/** The blocks below a heading of the second level, up to the next one. */
function blocksOf(heading: string): CodeBlock[] {
  const [, section = ''] = quickstart.split(`## ${heading}\n`);
  return codeBlocks(section.split(/^## /m)[0] ?? '');
}

/** What is done before each section: the service is started, and the application is created. */
const beginning = codeBlocks(quickstart.split(/^## /m)[0] ?? '');

const sections = [
  { heading: 'In Python', tool: 'python3', program: 'python/authlib_client.py' },
  { heading: 'In Go', tool: 'go', program: 'go/main.go' },
] as const;

for (const { heading, tool, program } of sections) {
  const blocks = blocksOf(heading);
  const commands = blocks.filter(({ language }) => language === 'sh');

  test(`the quickstart ${heading} shows a part of the program`, async () => {
    const text = await read(`examples/oauth-clients/${program}`);
    const [part] = blocks.filter((block) => !commands.includes(block));
    expect(part?.code.length).toBeGreaterThan(100);
    expect(text).toContain(part?.code);
  });

  await describeWith(tool, () => {
    test(`the quickstart ${heading} links an account`, { timeout: 240_000 }, async () => {
      await requireTools(['bash']);
      const reader = await Reader.create(undefined);
      for (const { code } of [...beginning, ...commands.slice(0, -1)]) {
        const { exitCode, stderr } = await reader.shell(code);
        expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
      }
      const application = await reader.start(commands.at(-1)?.code ?? '', await freePort());
      const browser = new Browser();
      const account = await connectAda(browser, `${application.url}/connect`);
      expect(JSON.parse(account.text)).toMatchObject({ username: 'ada' });
      await disconnect(browser, reader.service.url, reader.noted('APPLICATION_ID'));
      const refused = { status: 401, text: expect.stringContaining('"error":"invalid_token"') };
      expect(await browser.open(account.url)).toMatchObject(refused);
      await reader.close();
    });
  });
}
