import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installFromLockfile } from '../../../apps/server/test/tools-from-lockfile.ts';

// 890 MB, of which `npm start` needs none.

/** The platform that the lockfile beside this has runtimes for. */
export const hasRuntimes = process.platform === 'linux' && process.arch === 'x64';

/** Installs the runtimes, where they are not there yet; resolves to where their packages are. */
export async function installRuntimes(): Promise<string> {
  const tools = fileURLToPath(new URL('./tools', import.meta.url));
  return join(await installFromLockfile(tools, 'runtimes'), 'node_modules');
}

/** Something that applications run on. */
export interface Runtime {
  name: string;
  /** Its program, within the folder of the packages. */
  program: string;
  /** How it says its version, and the version that it has to be. */
  version: { words: string[]; matches: RegExp };
  /** How it runs a program: the words for each kind of module that it has. */
  runs: { modules: string; words: string[] }[];
  /** Whether its `fetch` tells a connection that was refused from one that broke. */
  tellsRefusal: boolean;
}

const scripts = (...words: string[]) => [
  { modules: 'ESM', words: [...words, 'esm.mjs'] },
  { modules: 'CommonJS', words: [...words, 'commonjs.cjs'] },
];

const node = (major: number, program = `node${major}/bin/node`): Runtime => ({
  name: `Node ${major}`,
  program,
  version: { words: ['--version'], matches: new RegExp(`^v${major}\\.`) },
  runs: scripts(),
  tellsRefusal: true,
});

export const runtimes: Runtime[] = [
  node(20),
  node(22),
  // Where the others come from npm, this comes with the workspace.
  node(24, process.execPath),
  node(26),
  {
    name: 'Bun',
    program: '@oven/bun-linux-x64/bin/bun',
    version: { words: ['--version'], matches: /^1\./ },
    runs: scripts(),
    tellsRefusal: true,
  },
  {
    name: 'Deno',
    program: '@deno/linux-x64-glibc/deno',
    version: { words: ['--version'], matches: /^deno 2\./ },
    // All that an application has to allow.
    runs: scripts('run', '--no-prompt', '--allow-net', '--allow-env', '--allow-read'),
    tellsRefusal: false,
  },
  {
    name: 'workerd, the edge runtime of Cloudflare',
    program: '@cloudflare/workerd-linux-64/bin/workerd',
    version: { words: ['--version'], matches: /^workerd 2/ },
    // What is deployed to it is ESM.
    runs: [{ modules: 'ESM', words: ['test', 'workerd.capnp'] }],
    tellsRefusal: false,
  },
];
