import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INSTALL_TIMEOUT_MS } from '../apps/server/test/tools-from-lockfile.ts';
import { installPackedSdk } from './test/packed-sdk.ts';
import {
  environment,
  latchkey,
  pairIn,
  type ServiceProcess,
  startService,
  succeed,
} from './test/service.ts';

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
const MAX_GZIPPED_BYTES = { index: 8 * 1024, guards: 3 * 1024 };

let consumer: string;
let service: ServiceProcess;

beforeAll(async () => {
  consumer = await mkdtemp(join(tmpdir(), 'latchkey-consumer-'));
  await cp(join(import.meta.dirname, 'test/consumer'), consumer, { recursive: true });
  for (const extension of ['mts', 'cts']) {
    await cp(join(consumer, 'program.ts'), join(consumer, `program.${extension}`));
  }

  await installPackedSdk(consumer, compilers);
  service = await startService({ cwd: consumer, env: environment() });
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
      expect(text).not.toMatch(/\bfrom\s*["'](?!\.\/)|\bimport\s*["'(]|\brequire\(/);
      if (!name.includes('.d.')) expect(text).not.toMatch(/zod/i);
    }
  });

  it('has the files it should have', async () => {
    const names = await readdir(join(consumer, 'node_modules/@latchkey/client'), {
      recursive: true,
    });
    // Types that both entry points have are in a file beside them, which is named by its contents.
    const plain = names.map((name) => name.replace(/types-[\w-]{8}\./, 'types-HASH.'));
    expect(plain.sort()).toEqual([
      'LICENSE',
      'README.md',
      'dist',
      'dist/guards.cjs',
      'dist/guards.d.cts',
      'dist/guards.d.ts',
      'dist/guards.js',
      'dist/index.cjs',
      'dist/index.d.cts',
      'dist/index.d.ts',
      'dist/index.js',
      'dist/types-HASH.d.cts',
      'dist/types-HASH.d.ts',
      'package.json',
    ]);
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

describe.each(Object.keys(compilers))('with %s', (alias) => {
  const compile = (project: string, ...more: string[]) => {
    const tsc = join(consumer, 'node_modules', alias, 'bin/tsc');
    const words = [tsc, '-p', `tsconfig.${project}.json`, ...more];
    return succeed(process.execPath, words, { cwd: consumer, env: environment() });
  };

  it('compiles for Node, as ESM and as CommonJS, and runs as both', {
    timeout: 60_000,
  }, async () => {
    await compile('nodenext', '--outDir', `out-${alias}`);
    for (const program of ['program.mjs', 'program.cjs']) {
      const demo = await latchkey(['demo'], { cwd: consumer, env: environment() });
      const { applicationSecret, code } = pairIn(demo.stdout);
      const env = environment({
        LATCHKEY_URL: service.url,
        LATCHKEY_APPLICATION_SECRET: applicationSecret,
        LATCHKEY_CODE: code,
      });
      const words = [join(`out-${alias}`, program)];
      const printed = await succeed(process.execPath, words, { cwd: consumer, env });
      expect(JSON.parse(printed)).toMatchObject({ revoked: true });
    }
  });

  it('compiles for a bundler', { timeout: 60_000 }, async () => {
    await compile('bundler');
  });
});
