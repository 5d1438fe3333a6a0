import { readFile } from 'node:fs/promises';
import { slow } from '@latchkey/test-kit/long';
import { expect, test } from 'vitest';
import { APPLICATION } from './support/application.ts';
import { codeBlocks } from './support/markdown.ts';
import { typeCheck } from './support/type-check.ts';

const UNDICI = `
// Of undici, which is not installed here.
declare class EnvHttpProxyAgent {}
declare const fetch: (url: string, init: object) => Promise<Response>;
`;

test('the programs in the README of the SDK compile', { timeout: 300_000, ...slow }, async () => {
  const readme = await readFile(new URL('../packages/client/README.md', import.meta.url), 'utf8');
  const programs = codeBlocks(readme).filter(({ language }) => language === 'ts');
  expect(programs.length).toBeGreaterThan(5);

  const text = programs.map(({ code }) => code).join('\n');
  // Each name once, however many of them import it.
  const imports = new Set<string>();
  const line =
    /^import (type )?\{ (.*) \} from '(@latchkey\/client[\w/]*|@modelcontextprotocol\/[\w./]+)';$/gm;
  for (const [, type = '', names = '', from] of text.matchAll(line)) {
    for (const name of names.split(', ')) imports.add(`import ${type}{ ${name} } from '${from}';`);
  }
  const functions = programs.map(
    ({ code, line }) =>
      `export async function ofLine${line}() {\n${code.replaceAll(/^import .*$/gm, '')}\n}`,
  );
  expect(typeCheck([...imports, APPLICATION, UNDICI, ...functions].join('\n'))).toEqual([]);
});
