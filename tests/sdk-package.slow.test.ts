import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { INSTALL_TIMEOUT_MS } from '@latchkey/test-kit/tools-from-lockfile';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { quickInfo } from './support/hover.ts';
import { PUBLIC_URL, startLinkingService } from './support/linking-service.ts';
import { ADMIN_SECRET } from './support/operator.ts';
import { installPackedSdk } from './support/packed-sdk.ts';
import { environment, latchkey, pairIn, type ServiceProcess, succeed } from './support/service.ts';

// What a user gets: the packed package and nothing else, in a folder of its own, compiled with the
// versions of TypeScript that users have, and run against the service. Only this finds a `.d.ts`
// that needs a package which is not installed: the workspace has them all.

/** By the names that they are installed under. */
const compilers = {
  ts59: 'npm:typescript@5.9.3',
  ts60: 'npm:typescript@6.0.3',
  ts70: 'npm:typescript@7.0.2',
};
/** By entry point. */
const MAX_GZIPPED_BYTES = {
  index: 12.75 * 1024,
  events: 4.5 * 1024,
  guards: 6.75 * 1024,
  // Three quarters of a KiB of it say what a request is for, and what a browser is shown instead.
  linking: 5.25 * 1024,
  host: 4.5 * 1024,
  admin: 8.25 * 1024,
};
const entries = Object.keys(MAX_GZIPPED_BYTES);

let consumer: string;
let service: ServiceProcess;

beforeAll(async () => {
  consumer = await mkdtemp(join(tmpdir(), 'latchkey-consumer-'));
  await cp(join(import.meta.dirname, 'support/consumer'), consumer, { recursive: true });
  for (const extension of ['mts', 'cts']) {
    await cp(join(consumer, 'program.ts'), join(consumer, `program.${extension}`));
  }

  await installPackedSdk(consumer, compilers);
  service = await startLinkingService(consumer);
}, INSTALL_TIMEOUT_MS);

afterAll(async () => {
  await service?.stop();
  await rm(consumer, { recursive: true, force: true });
});

describe('the installed package', () => {
  const file = (name: string) =>
    readFile(join(consumer, 'node_modules/@latchkey/client', name), 'utf8');

  it('needs no other package', async () => {
    const manifest = JSON.parse(await file('package.json'));
    expect(manifest).not.toHaveProperty('dependencies');
    expect(manifest).not.toHaveProperty('peerDependencies');
    const names = await readdir(join(consumer, 'node_modules/@latchkey/client/dist'));
    for (const name of names) {
      // The examples in the docstrings import the package itself.
      const text = (await file(`dist/${name}`)).replaceAll(/^ *\* .*$/gm, '');
      expect(text).not.toMatch(
        /\bfrom\s*["'](?!\.\/)|\bimport\s*(?:\(|["'](?!\.\/))|\brequire\((?!["']\.\/)/,
      );
      if (!name.includes('.d.')) expect(text).not.toMatch(/zod/i);
    }
  });

  it('has the files it should have', async () => {
    const names = await readdir(join(consumer, 'node_modules/@latchkey/client'), {
      recursive: true,
    });
    // Types that several entry points have are in files beside them, named by their contents.
    const plain = names.map((name) => name.replace(/-[\w-]{8}(\.d\.c?ts)$/, '-HASH$1'));
    expect(plain.sort()).toEqual(
      [
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'dist',
        ...entries.flatMap((entry) =>
          ['cjs', 'd.cts', 'd.ts', 'js'].map((extension) => `dist/${entry}.${extension}`),
        ),
        ...['dist/fastify.d-HASH.d.cts', 'dist/fastify.d-HASH.d.ts'],
        ...['dist/options.d-HASH.d.cts', 'dist/options.d-HASH.d.ts'],
        // One of each build.
        ...['dist/types.d-HASH.d.cts', 'dist/types.d-HASH.d.cts'],
        ...['dist/types.d-HASH.d.ts', 'dist/types.d-HASH.d.ts'],
        'package.json',
      ].sort(),
    );
  });

  it('can be read where a debugger or a stack leads to it', async () => {
    for (const name of entries.flatMap((entry) => [`${entry}.js`, `${entry}.cjs`])) {
      const code = await file(`dist/${name}`);
      expect(code).toMatch(/^ {2}const \{? ?[a-z]\w{3,}/m);
      const lines = code.split('\n');
      expect(code.length / lines.length).toBeLessThan(60);
    }
    expect(await file('dist/index.js')).toContain('async function withRetries(');
    expect(await file('dist/index.js')).not.toContain('/**');
  });

  it.each(Object.entries(MAX_GZIPPED_BYTES))(
    'has in %s at most %i gzipped bytes of code',
    async (entry, most) => {
      for (const name of [`dist/${entry}.js`, `dist/${entry}.cjs`]) {
        const { length } = gzipSync(await file(name));
        process.stdout.write(`@latchkey/client ${name}: ${length} of ${most} gzipped bytes\n`);
        expect(length).toBeLessThanOrEqual(most);
      }
    },
  );
});

// More than that of 80 characters scroll out of an editor's window.
const MOST_LINES = 40;

/** The number of lines of a text in a window of 80 characters. */
const linesOf = (text: string) =>
  text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 80)), 0);

// What an editor shows beside a name. TypeScript takes `@throws {@link X}` for a type in braces, and
// shows neither the link nor the name.
test.each([
  'convert',
  'revoke',
  'recover',
  'account',
  'grant',
  'revokeToken',
  'introspect',
  'authorizationUrl',
  'finishLinking',
  'constructor',
])('an editor shows the errors of %s, in what fits a screen', async (method) => {
  const expression = method === 'constructor' ? 'Latchkey()' : `Latchkey().${method}`;
  const program = `import { Latchkey } from '@latchkey/client';\nnew ${expression}`;
  const name = method === 'constructor' ? 'Latchkey()' : method;
  const { text: above, tags } = quickInfo(consumer, program, name);
  const shown = [above, ...tags.map(({ tag, text }) => `@${tag} ${text}`)];
  expect(shown.map(linesOf).reduce((sum, lines) => sum + lines)).toBeLessThanOrEqual(MOST_LINES);
  const throws = tags.filter(({ tag }) => tag === 'throws');
  expect(throws.length).toBeGreaterThan(0);
  for (const { text, links } of throws) {
    expect(text).toMatch(/^an? \w+Error (if|as|with) \S/);
    expect(links[0]).toMatch(/^\w+Error$/);
  }
});

describe.each(Object.keys(compilers))('with %s', (alias) => {
  const compile = (project: string, ...more: string[]) => {
    const tsc = join(consumer, 'node_modules', alias, 'bin/tsc');
    const words = [tsc, '-p', `tsconfig.${project}.json`, ...more];
    return succeed(process.execPath, words, { cwd: consumer, env: environment() });
  };

  it('compiles for Node, as ESM and as CommonJS, and runs as both', async () => {
    await compile('nodenext', '--outDir', `out-${alias}`);
    for (const program of ['program.mjs', 'program.cjs']) {
      const demo = await latchkey(['demo'], { cwd: consumer, env: environment() });
      const { applicationSecret, code } = pairIn(demo.stdout);
      const env = environment({
        LATCHKEY_URL: service.url,
        LATCHKEY_APPLICATION_SECRET: applicationSecret,
        LATCHKEY_PUBLIC_URL: PUBLIC_URL,
        LATCHKEY_ADMIN_SECRET: ADMIN_SECRET,
        LATCHKEY_CODE: code,
      });
      const words = [join(`out-${alias}`, program)];
      const printed = await succeed(process.execPath, words, { cwd: consumer, env });
      expect(JSON.parse(printed)).toMatchObject({ revoked: true });
    }
  });

  it('compiles for a bundler', async () => {
    await compile('bundler');
  });
});
