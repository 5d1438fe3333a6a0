import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installFromLockfile } from '@latchkey/test-kit/tools-from-lockfile';

// TypeDoc and its own TypeScript are 48 MB that `npm start` does not need.

const here = (file: string) => fileURLToPath(new URL(`./${file}`, import.meta.url));

/** A part of a docstring. */
interface Piece {
  kind: string;
  text: string;
}

/** TypeDoc's description of a name, as far as it is used here. */
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

/** The names of the pages' files without `.md`, as `@module` in the entry points sets them. */
export const pages = [
  'client',
  'client/guards',
  'client/linking',
  'client/events',
  'client/host',
  'client/admin',
  'testing',
] as const;

/** The reference of the packages that applications import. */
export interface Reference {
  /** The expected content of each page. */
  pages: Record<(typeof pages)[number], string>;
  /** The exports of all entry points. */
  names: Named[];
}

/** Generates the reference from the docstrings. */
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
        '\n\n<!-- Made from the docstrings: npm run generate -->\n',
      );
    const made = await Promise.all(pages.map(async (name) => [name, await page(name)]));
    const { children } = JSON.parse(await readFile(join(folder, 'names.json'), 'utf8')) as {
      children: Required<Named>[];
    };
    return {
      pages: Object.fromEntries(made),
      // Without re-exports of another entry point: they are on the page of that one.
      names: children
        .flatMap((module) => module.children)
        .filter(({ variant }) => variant !== 'reference'),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
