import { readFile } from 'node:fs/promises';
import { INSTALL_TIMEOUT_MS } from '@latchkey/test-kit/tools-from-lockfile';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CodeBlock, codeBlocks } from './support/markdown.ts';
import { Reader } from './support/reader.ts';
import { hasRuntimes, installRuntimes } from './support/runtimes/runtimes.ts';
import { requireTools } from './support/tools.ts';
import { tsc } from './support/tsc.ts';

// docs/trpc.md: its blocks are pasted, compiled and run, in their order.

/** The packages of tRPC demand each other in exactly one version. */
const TRPC = '11.22.1';

const TSCONFIG = JSON.stringify({
  compilerOptions: {
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom', 'esnext.disposable'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  },
});
/** Without @types/node. */
const PROCESS =
  'declare const process: { env: Record<string, string | undefined> };\ndeclare const console: { log(text: string): void };\n';

let reader: Reader;
/** Words before a command. */
let onNode20 = '';
beforeAll(async () => {
  await requireTools(['bash']);
  if (hasRuntimes) onNode20 = `PATH='${await installRuntimes()}/node20/bin':"$PATH" `;
  reader = await Reader.create(undefined);
}, INSTALL_TIMEOUT_MS);
afterAll(() => reader?.close());

async function shell(code: string): Promise<string> {
  const { exitCode, stdout, stderr } = await reader.shell(code);
  // The compiler writes what it finds to stdout, and npm warns about settings of the machine.
  const said =
    exitCode === 0 ? stderr.replaceAll(/^npm (?:warn|notice).*\n/gm, '') : stdout + stderr;
  expect({ exitCode, said }).toEqual({ exitCode: 0, said: '' });
  return stdout;
}

const node = (...words: string[]) =>
  shell([process.execPath, ...words].map((word) => `'${word}'`).join(' '));

test('docs/trpc.md does what its blocks say', { timeout: INSTALL_TIMEOUT_MS }, async () => {
  const text = await readFile(new URL('../docs/trpc.md', import.meta.url), 'utf8');
  /** The last program. */
  let program: string | undefined;
  /** What tsx printed. */
  let printed: string | undefined;
  const ways: Record<string, (block: CodeBlock) => Promise<unknown>> = {
    async sh({ code }) {
      if (code.startsWith('npx ')) printed = await shell(`${onNode20}${code}`);
      else await shell(code.replaceAll(/@trpc\/[\w-]+/g, (name) => `${name}@${TRPC}`));
    },
    async ts({ code, line }) {
      [, program] = /^\/\/ (\w+\.ts)\n/.exec(code) ?? [];
      if (program === undefined) throw new Error(`Line ${line}: the program has no name.`);
      await reader.save(program, code);
    },
    async text({ code }) {
      if (printed !== undefined) expect(printed).toBe(code);
      printed = undefined;
      expect(await node(program as string)).toBe(code);
    },
  };
  const blocks = codeBlocks(text);
  for (const block of blocks) {
    const way = ways[block.language];
    if (way === undefined) throw new Error(`Nothing runs a block of "${block.language}".`);
    await way(block);
  }
  expect(blocks.filter(({ language }) => language === 'text')).toHaveLength(3);

  await reader.save('environment.d.ts', PROCESS);
  await reader.save('tsconfig.json', TSCONFIG);
  await shell(`'${tsc}' -p .`);
});
