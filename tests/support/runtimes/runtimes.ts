import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installFromLockfile } from '@latchkey/test-kit/tools-from-lockfile';

// 890 MB that `npm start` does not need.

/** The only platform in the lockfile of the runtimes. */
export const hasRuntimes = process.platform === 'linux' && process.arch === 'x64';

/** Installs the runtimes if they are missing. Resolves to the folder of their packages. */
export async function installRuntimes(): Promise<string> {
  const tools = fileURLToPath(new URL('./tools', import.meta.url));
  return join(await installFromLockfile(tools, 'runtimes'), 'node_modules');
}

/** A runtime that applications use. */
export interface Runtime {
  name: string;
  /** The path of its program in the folder of the packages. */
  program: string;
  /** The command that prints its version, and the version that it must have. */
  version: { words: string[]; matches: RegExp };
  /** The arguments that run a program, for each kind of module that it supports. */
  runs: { modules: string; words: string[] }[];
  /** Whether its `fetch` distinguishes a refused connection from a broken one. */
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
  // The others come from npm, this one comes with the workspace.
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
    runs: [
      // The only permissions that an application must grant.
      ...scripts('run', '--no-prompt', '--allow-net', '--allow-env', '--allow-read'),
      {
        modules: 'ESM and options instead of the environment',
        // `GIVEN` is the test's own.
        words: ['run', '--no-prompt', '--allow-net', '--allow-env=GIVEN', 'options.mjs'],
      },
    ],
    tellsRefusal: false,
  },
  {
    name: 'workerd, the edge runtime of Cloudflare',
    program: '@cloudflare/workerd-linux-64/bin/workerd',
    version: { words: ['--version'], matches: /^workerd 2/ },
    // Only ESM is deployed to it.
    runs: [{ modules: 'ESM', words: ['test', 'workerd.capnp'] }],
    tellsRefusal: false,
  },
];
