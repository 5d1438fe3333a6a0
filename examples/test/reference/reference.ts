import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installFromLockfile } from '../../../apps/server/test/tools-from-lockfile.ts';

// TypeDoc and its own TypeScript are 48 MB, of which `npm start` needs none.

const here = (file: string) => fileURLToPath(new URL(`./${file}`, import.meta.url));

/** A piece of a docstring. */
export interface Piece {
  kind: string;
  text: string;
}

/** What TypeDoc knows of a name; as much of it as is used here. */
export interface Named {
  name: string;
  variant: string;
  comment?: { summary: Piece[]; blockTags?: { tag: string; content: Piece[] }[] };
  flags?: { isExternal?: boolean; isOptional?: boolean };
  type?: {
    type: string;
    name?: string;
    types?: { type: string; name?: string }[];
    typeArguments?: { name?: string }[];
  };
  children?: Named[];
  signatures?: Named[];
  parameters?: Named[];
}

/** The pages, by the names of their files without `.md`; `@module` in the entry points says them. */
export const pages = ['client', 'client/guards', 'testing'] as const;

/** The reference of what applications import. */
export interface Reference {
  /** What each page has to be. */
  pages: Record<(typeof pages)[number], string>;
  /** What is exported, by all of the entry points. */
  names: Named[];
}

/** Makes the reference of the docstrings. */
export async function makeReference(): Promise<Reference> {
  const tools = join(await installFromLockfile(here('tools'), 'reference-tools'), 'node_modules');
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-reference-'));
  try {
    await promisify(execFile)(process.execPath, [
      ...[join(tools, 'typedoc/bin/typedoc'), '--options', here('typedoc.json')],
      ...['--plugin', join(tools, 'typedoc-plugin-markdown/dist/index.js')],
      ...['--plugin', here('page.mjs')],
      ...['--markdown', join(folder, 'pages'), '--json', join(folder, 'names.json')],
    ]).catch(({ stdout, stderr }) => {
      throw new Error(`TypeDoc failed.\n${stdout}${stderr}`);
    });
    const page = async (name: string) =>
      (await readFile(join(folder, 'pages', `${name}.md`), 'utf8')).replace(
        '\n',
        '\n\n<!-- Made from the docstrings: npm test -- examples/reference.test.ts -u -->\n',
      );
    const made = await Promise.all(pages.map(async (name) => [name, await page(name)]));
    const { children } = JSON.parse(await readFile(join(folder, 'names.json'), 'utf8')) as {
      children: Required<Named>[];
    };
    return {
      pages: Object.fromEntries(made),
      // Without what an entry point has of another: it is on that one's page.
      names: children
        .flatMap((module) => module.children)
        .filter(({ variant }) => variant !== 'reference'),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
