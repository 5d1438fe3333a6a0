import { existsSync } from 'node:fs';
import { cp, glob, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { INSTALL_TIMEOUT_MS } from '@latchkey/test-kit/tools-from-lockfile';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { CLIENT, OTHER_CLIENT, startFaultyServer } from '../packages/race/test/faulty-server.ts';
import { anchors, links } from './support/markdown.ts';
import { type Environment, environment, run, succeed } from './support/service.ts';
import { tsc } from './support/tsc.ts';

// The published packages, as a user gets them: packed, then installed into an empty project.

const root = fileURLToPath(new URL('..', import.meta.url));
const REPOSITORY = 'https://github.com/latchkey/latchkey';

/** The folder of each package in the repository. */
const folders: Record<string, string> = {
  '@latchkey/client': 'packages/client',
  '@latchkey/schema': 'packages/schema',
  '@latchkey/server': 'apps/server',
  '@latchkey/testing': 'packages/testing',
  'oauth-race': 'packages/race',
};
const names = Object.keys(folders);

/** With a little room over the 66 packages and 23 MB of November 2026. The driver of PostgreSQL is 14 small ones. */
const MAX_INSTALLED_PACKAGES = 70;
const MAX_INSTALLED_BYTES = 25_000_000;

/** With room for settings over the 220 lines of November 2026: whoever reads them reads them all. */
const MAX_LINES_OF_SERVER_TYPES = 300;

// npm needs the machine's own settings.
const npmEnvironment = process.env as Environment;
const NPM_FLAGS = ['--ignore-scripts', '--no-audit', '--no-fund'];

let project: string;
let tarballs: string[];

const installed = (name: string, ...path: string[]) => join(project, 'node_modules', name, ...path);
const manifestOf = async (name: string) =>
  JSON.parse(await readFile(installed(name, 'package.json'), 'utf8'));

async function install(folder: string, ...packages: string[]): Promise<void> {
  const options = { cwd: folder, env: npmEnvironment };
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await succeed('npm', ['install', ...NPM_FLAGS, ...packages], options);
}

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'latchkey-packages-'));
  const words = [join(root, 'scripts/pack.mjs'), '--release', project];
  const printed = await succeed(process.execPath, words, { cwd: root, env: npmEnvironment });
  tarballs = printed.trim().split('\n');
  await install(project, ...tarballs);
}, INSTALL_TIMEOUT_MS);

afterAll(() => rm(project, { recursive: true, force: true }));

test('every public package of the workspace is tested here', async () => {
  const found: string[] = [];
  for await (const path of glob('{packages,apps}/*/package.json', { cwd: root })) {
    const { name, private: isPrivate } = JSON.parse(await readFile(join(root, path), 'utf8'));
    if (!isPrivate) found.push(name);
  }
  expect(found.sort()).toEqual(names);
});

describe.each(names)('%s', (name) => {
  test('says where it comes from', async () => {
    const folder = folders[name] as string;
    const manifest = await manifestOf(name);
    expect(manifest).toMatchObject({
      license: 'Apache-2.0',
      homepage: `${REPOSITORY}/tree/main/${folder}#readme`,
      bugs: { url: `${REPOSITORY}/issues` },
      repository: { type: 'git', url: `git+${REPOSITORY}.git`, directory: folder },
    });
    expect(manifest.description).toBeTruthy();
    expect(manifest.keywords.length).toBeGreaterThan(3);
  });

  test('contains its licence, its changelog and its README', async () => {
    const license = await readFile(join(root, 'LICENSE'), 'utf8');
    expect(await readFile(installed(name, 'LICENSE'), 'utf8')).toBe(license);
    expect(await readFile(installed(name, 'CHANGELOG.md'), 'utf8')).toMatch(`# ${name}\n`);
    expect(await readFile(installed(name, 'README.md'), 'utf8')).toMatch(`# ${name}\n`);
  });

  test('contains the licence of each package that is bundled', async () => {
    const bundled = new Set<string>();
    const missing: string[] = [];
    for await (const path of glob('dist/**/*.{js,cjs}', { cwd: installed(name) })) {
      const code = await readFile(installed(name, path), 'utf8');
      // esbuild names the file that each part of a bundle came from.
      for (const [, from] of code.matchAll(/^\/\/ .*node_modules\/((?:@[^/]+\/)?[^/]+)\//gm)) {
        bundled.add(from as string);
      }
      for (const [, file] of code.matchAll(/For license information please see (\S+)/g)) {
        if (!existsSync(installed(name, path, '..', file as string))) missing.push(file as string);
      }
    }
    if (name === '@latchkey/server') {
      bundled.add('swagger-ui-dist');
      expect([...bundled].sort()).toEqual(['@trpc/server', 'swagger-ui-dist']);
    }
    const notices = await readFile(installed(name, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8').catch(
      () => '',
    );
    for (const one of bundled) if (!notices.includes(`${one} `)) missing.push(one);
    expect(missing).toEqual([]);
  });

  // The bundler of the types leaves the import of a private package as it is.
  test('imports in its types nothing but Node and what it installs', async () => {
    const { dependencies = {}, peerDependencies = {} } = await manifestOf(name);
    const installs = { ...dependencies, ...peerDependencies };
    const others: string[] = [];
    for await (const path of glob('dist/**/*.d.{ts,cts,mts}', { cwd: installed(name) })) {
      const types = await readFile(installed(name, path), 'utf8');
      for (const [, from = ''] of types.matchAll(/^(?:import|export)\b.*'([^'.][^']*)';/gm)) {
        const [one = ''] = /^(?:@[^/]+\/)?[^/]+/.exec(from) ?? [];
        if (!one.startsWith('node:') && !(one in installs)) others.push(`${path}: ${from}`);
      }
    }
    expect(others).toEqual([]);
  });

  test('has no link in its README that is dead on a registry', async () => {
    const readme = await readFile(installed(name, 'README.md'), 'utf8');
    const dead: string[] = [];
    for (const link of links(readme)) {
      const [path = '', anchor] = link.split('#');
      if (path === '') {
        if (!anchors(readme).has(anchor as string)) dead.push(link);
      } else if (path.startsWith(`${REPOSITORY}/`)) {
        const [, kind, target] = /\/(blob|tree)\/main\/(.+)$/.exec(path) ?? [];
        const file = join(root, target ?? 'nothing');
        const leads = existsSync(file) && (await stat(file)).isDirectory() === (kind === 'tree');
        const page = leads && anchor !== undefined ? await readFile(file, 'utf8') : undefined;
        if (!leads || (page !== undefined && !anchors(page).has(anchor as string))) dead.push(link);
      } else if (!/^https?:/.test(path)) {
        const inside = !normalize(path).startsWith('..') && existsSync(installed(name, path));
        if (!inside) dead.push(link);
      }
    }
    expect(dead).toEqual([]);
  });
});

test('the server and the test server install no compiler, and little else', async () => {
  const lockfile = JSON.parse(
    await readFile(join(project, 'node_modules/.package-lock.json'), 'utf8'),
  );
  const packages = Object.keys(lockfile.packages);
  let bytes = 0;
  const folder = join(project, 'node_modules');
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  process.stdout.write(
    `All packages together install ${packages.length} packages, ${Math.round(bytes / 1e6)} MB\n`,
  );
  expect(packages).not.toContain('node_modules/typescript');
  expect(packages).not.toContain('node_modules/@trpc/server');
  expect(packages.length).toBeLessThanOrEqual(MAX_INSTALLED_PACKAGES);
  expect(bytes).toBeLessThanOrEqual(MAX_INSTALLED_BYTES);
});

test('the command of a package alone runs as it is installed', async () => {
  const server = await startFaultyServer('accepts another client');
  onTestFinished(server.close);
  const login = join(project, 'login.mjs');
  await writeFile(login, 'export default (url, browser) => browser.open(url);');
  const clients = ['--client', CLIENT.id, '--other-client', OTHER_CLIENT.id];
  const words = ['--issuer', server.url, ...clients, '--login', login, '--row=other-client'];
  const env = environment({
    OAUTH_RACE_SECRET: CLIENT.secret,
    OAUTH_RACE_OTHER_SECRET: OTHER_CLIENT.secret,
  });
  const command = join(project, 'node_modules/.bin/oauth-race');
  const { exitCode, stdout } = await run(command, words, { cwd: project, env });
  expect(stdout).toMatch(/^✗ FAIL +other-client .*: 10 accepted$/m);
  expect(exitCode).toBe(1);
  expect((await manifestOf('oauth-race')).dependencies).toBeUndefined();
});

test('who starts the server from a program is not shown its inside', async () => {
  const types = await readFile(installed('@latchkey/server', 'dist/index.d.ts'), 'utf8');
  expect(types).not.toMatch(/^(declare class|interface) (Store|Service|DomainError)\b/m);
  expect(types).not.toContain("from './");
  expect(types.split('\n').length).toBeLessThanOrEqual(MAX_LINES_OF_SERVER_TYPES);
});

test('the server gets the zod it was tested with, and the schema leaves it a choice', async () => {
  const { dependencies } = await manifestOf('@latchkey/server');
  expect(dependencies.zod).toBe((await manifestOf('zod')).version);
  expect((await manifestOf('@latchkey/schema')).dependencies.zod).toMatch(/^\^/);
});

describe('the schema package at both ends of its range of zod', () => {
  const ends: string[] = [];
  const results: string[] = [];

  beforeAll(async () => {
    const { dependencies } = await manifestOf('@latchkey/schema');
    ends.push(dependencies.zod.replace('^', ''), (await manifestOf('zod')).version);
  });

  test.each(['oldest', 'newest'])(
    'compiles and validates with the %s',
    {
      timeout: INSTALL_TIMEOUT_MS,
    },
    async (end) => {
      const version = ends[end === 'oldest' ? 0 : 1] as string;
      const folder = await mkdtemp(join(tmpdir(), 'latchkey-zod-'));
      try {
        await cp(join(import.meta.dirname, 'support/zod-consumer'), folder, { recursive: true });
        const schema = tarballs.find((path) => /^latchkey-schema-/.test(basename(path))) as string;
        await install(folder, schema, `zod@${version}`);
        const zod = await readdir(join(folder, 'node_modules'));
        expect(zod).toContain('zod');
        expect(existsSync(join(folder, 'node_modules/@latchkey/schema/node_modules'))).toBe(false);

        const options = { cwd: folder, env: environment() };
        await succeed(tsc, ['-p', '.'], options);
        results.push(await succeed(process.execPath, ['program.js'], options));
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  );

  test('gives the same results', () => {
    expect(results).toHaveLength(2);
    expect(results[0]).toBe(results[1]);
    expect(JSON.parse(results[0] as string)).toHaveProperty('codeInput');
  });
});
