import { readFile } from 'node:fs/promises';
import { slow } from '@latchkey/test-kit/long';
import { expect, test } from 'vitest';
import { APPLICATION, PAGES_OF_PARTS } from './support/application.ts';
import { codeBlocks } from './support/markdown.ts';
import { typeCheck } from './support/type-check.ts';

const UNDICI = `
// Of undici, which is not installed here.
declare class EnvHttpProxyAgent {}
declare const fetch: (url: string, init: object) => Promise<Response>;
`;

test('the parts of programs in the pages about the SDK compile', {
  timeout: 300_000,
  ...slow,
}, async () => {
  // Each name once, however many of them import it.
  const imports = new Set<string>();
  const line =
    /^import (type )?\{ (.*) \} from '(@latchkey\/client[\w/]*|@modelcontextprotocol\/[\w./]+)';$/gm;
  const functions: string[] = [];
  for (const [index, page] of ['packages/client/README.md', ...PAGES_OF_PARTS].entries()) {
    const text = await readFile(new URL(`../${page}`, import.meta.url), 'utf8');
    const programs = codeBlocks(text).filter(({ language }) => language === 'ts');
    expect(programs.length, page).toBeGreaterThan(2);
    for (const { code, line: at } of programs) {
      for (const [, type = '', names = '', from] of code.matchAll(line)) {
        for (const name of names.split(', ')) {
          imports.add(`import ${type}{ ${name} } from '${from}';`);
        }
      }
      functions.push(
        `export async function page${index}Line${at}() {\n${code.replaceAll(/^import .*$/gm, '')}\n}`,
      );
    }
  }
  expect(typeCheck([...imports, APPLICATION, UNDICI, ...functions].join('\n'))).toEqual([]);
});
