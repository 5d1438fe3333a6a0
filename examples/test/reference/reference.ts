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
  flags?: { isExternal?: boolean };
  type?: { type: string; name?: string; types?: { type: string; name?: string }[] };
  children?: Named[];
  signatures?: Named[];
  parameters?: Named[];
}

/** The reference of the SDK. */
export interface Reference {
  /** What docs/reference/client.md has to be. */
  page: string;
  /** What is exported. */
  names: Named[];
}

/** Makes the reference of the docstrings of the SDK. */
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
    const page = await readFile(join(folder, 'pages/client.md'), 'utf8');
    return {
      page: page.replace(
        '\n',
        '\n\n<!-- Made from the docstrings: npm test -- examples/reference.test.ts -u -->\n',
      ),
      names: JSON.parse(await readFile(join(folder, 'names.json'), 'utf8')).children,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
