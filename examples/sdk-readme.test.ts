import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { codeBlocks } from './test/markdown.ts';
import { typeCheck } from './test/type-check.ts';

/** What an application has, and the README of the SDK does not show. */
const APPLICATION = `
declare const latchkey: Latchkey;
declare const code: string, grantId: string, grantSecret: string, user: string;
declare const baseUrl: string, applicationSecret: string;
declare const links: { save(user: string, link: { id: string; secret: string }): Promise<void> };
declare const encrypt: (text: string) => string;
declare const greet: (name: string) => void;
declare const startAgain: () => void;
declare const request: Request;
declare const photosOf: (accountId: string) => Promise<object>;
declare const app: import('express').Express;
declare const log: Record<'debug' | 'warn', (details: object, message: string) => void>;

// Of undici, which is not installed here.
declare class EnvHttpProxyAgent {}
declare const fetch: (url: string, init: object) => Promise<Response>;
`;

test('the programs in the README of the SDK compile', async () => {
  const readme = await readFile(new URL('../packages/client/README.md', import.meta.url), 'utf8');
  const programs = codeBlocks(readme).filter(({ language }) => language === 'ts');
  expect(programs.length).toBeGreaterThan(5);

  const text = programs.map(({ code }) => code).join('\n');
  // Each name once, however many of them import it.
  const imports = new Set<string>();
  const line = /^import (type )?\{ (.*) \} from '(@latchkey\/client[\w/]*)';$/gm;
  for (const [, type = '', names = '', from] of text.matchAll(line)) {
    for (const name of names.split(', ')) imports.add(`import ${type}{ ${name} } from '${from}';`);
  }
  const functions = programs.map(
    ({ code, line }) =>
      `export async function ofLine${line}() {\n${code.replaceAll(/^import .*$/gm, '')}\n}`,
  );
  expect(typeCheck([...imports, APPLICATION, ...functions].join('\n'))).toEqual([]);
});
