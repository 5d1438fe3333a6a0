import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { run } from './support/service.ts';

// scripts/run.mjs in a repository of stand-ins: npm, pnpm and the service write down how they were
// called and in which environment.

const root = fileURLToPath(new URL('../', import.meta.url));
const source = (path: string) => readFile(join(root, path), 'utf8');

interface Call {
  words: string[];
  environment: Record<string, string>;
}

const record = (name: string, more = '') => `#!${process.execPath}
import { appendFileSync, cpSync, mkdirSync } from 'node:fs';
const call = { words: ['${name}', ...process.argv.slice(2)], environment: process.env };
appendFileSync(process.env.CALLS, JSON.stringify(call) + '\\n');
${more}`;

// Does what `npm ci` does in scripts/pnpm; without FAKE_PNPM, what it does where the hash is wrong.
const INSTALL_PNPM = `
if (!process.env.FAKE_PNPM) process.exit();
const folder = 'node_modules/@pnpm/exe.linux-' + process.arch;
mkdirSync(folder, { recursive: true });
cpSync(process.env.FAKE_PNPM, folder + '/pnpm');
cpSync('package-lock.json', 'node_modules/.package-lock.json');
`;

const UNTIL_SIGTERM = `
process.on('SIGTERM', () => {
  appendFileSync(process.env.CALLS, '{"words":["ended"]}');
  process.exit();
});
setTimeout(() => undefined, 60_000);
`;

const SETTINGS = 'apps/server/src/settings.json';
const settings = Object.fromEntries(
  Object.keys(JSON.parse(await source(SETTINGS))).flatMap((name) => [
    [name, `value of ${name}`],
    [`${name}_FILE`, `file of ${name}`],
  ]),
);

describe.runIf(process.platform === 'linux')('scripts/run.mjs', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-run-'));
    for (const path of ['packages', 'apps/server/dist', 'apps/server/src', 'node_modules', 'bin']) {
      await mkdir(join(folder, path), { recursive: true });
    }
    const files = [
      'run.mjs',
      'packages-to-pack.mjs',
      'pnpm.mjs',
      'environment.mjs',
      'new/order.mjs',
      'new/projects.mjs',
      'pnpm/package-lock.json',
    ];
    for (const file of files) await cp(join(root, 'scripts', file), join(folder, 'scripts', file));
    await writeFile(join(folder, 'scripts/pack.mjs'), record('pack'));
    for (const file of ['package.json', SETTINGS]) await cp(join(root, file), join(folder, file));
    await writeFile(join(folder, 'bin/npm'), record('npm', INSTALL_PNPM));
    const notice = "process.stderr.write('A notice of pnpm.');\n";
    await writeFile(join(folder, 'bin/fake-pnpm'), record('pnpm', notice));
    for (const name of ['npm', 'fake-pnpm']) await chmod(join(folder, 'bin', name), 0o755);
    await writeFile(join(folder, 'apps/server/dist/latchkey.js'), record('latchkey'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const environment = (more = {}) => ({
    PATH: [join(folder, 'bin'), dirname(process.execPath), process.env.PATH].join(delimiter),
    CALLS: join(folder, 'calls'),
    FAKE_PNPM: join(folder, 'bin/fake-pnpm'),
    ...settings,
    ...more,
  });

  const runScript = (words: string[], nodeOptions: string[] = [], more = {}) =>
    run(process.execPath, [...nodeOptions, join(folder, 'scripts/run.mjs'), ...words], {
      env: environment(more),
    });

  const calls = async (): Promise<Call[]> =>
    (await readFile(join(folder, 'calls'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  test('gives its settings to the service, and to no install and no build', async () => {
    const { exitCode, stdout, stderr } = await runScript(['start']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' });
    expect(stderr).toMatch(/^Installing the packages .*\nBuilding the service …\n$/);
    const made = await calls();
    expect(made.map(({ words }) => words.slice(0, 4).join(' '))).toEqual([
      'npm ci --ignore-scripts --no-audit',
      'pnpm install --frozen-lockfile',
      'pnpm exec turbo run',
      'latchkey serve',
    ]);
    const service = made.pop() as Call;
    expect(service.environment).toMatchObject(settings);
    for (const { environment } of made) {
      expect(Object.keys(environment).filter((name) => name in settings)).toEqual([]);
    }
  });

  test('a SIGTERM to `npm start` ends the service', async () => {
    // What the real npm, first on the PATH below, would install.
    await runScript(['start']);
    const service = record('service', UNTIL_SIGTERM);
    await writeFile(join(folder, 'apps/server/dist/latchkey.js'), service);
    const { PATH = '' } = process.env;
    const npm = spawn('npm', ['start'], { cwd: folder, env: { ...environment(), PATH } });
    const last = async () => (await calls()).at(-1)?.words[0];
    await expect.poll(last, { timeout: 30_000 }).toBe('service');
    npm.kill('SIGTERM');
    await expect.poll(last, { timeout: 30_000 }).toBe('ended');
  });

  test.each([
    { words: [], built: ['packages/client'] },
    { words: ['--schema'], built: ['packages/schema'] },
    {
      words: ['--testing'],
      built: ['packages/client', 'packages/testing', 'packages/schema', 'apps/server'],
    },
  ])('packs what it was asked for: $words', async ({ words, built }) => {
    const { stderr } = await runScript(['pack', ...words]);
    expect(stderr).toContain(`Building ${built.join(', ')} …\n`);
    const [build, pack] = (await calls()).slice(-2);
    const filters = built.map((path) => `--filter=./${path}`);
    expect(build?.words).toEqual(['pnpm', 'exec', 'turbo', 'run', 'build', ...filters]);
    expect(pack?.words).toEqual(['pack', ...words]);
  });

  test('dev runs the sources without a build, and again after a change', async () => {
    const service = join(folder, 'apps/server/src/cli/latchkey.ts');
    await mkdir(dirname(service), { recursive: true });
    await writeFile(service, record('first', 'setInterval(() => undefined, 1_000);'));
    const dev = spawn(process.execPath, [join(folder, 'scripts/run.mjs'), 'dev'], {
      env: environment(),
    });
    const names = async () => (await calls()).map(({ words }) => words.slice(0, 2).join(' '));
    const running = ['npm ci', 'pnpm install', 'first serve'];
    await expect.poll(names).toEqual(running);
    await writeFile(service, record('second', 'setInterval(() => undefined, 1_000);'));
    await expect.poll(names).toContain('second serve');
    dev.kill('SIGTERM');
    await once(dev, 'exit');
  });

  test('installs pnpm and the packages once', async () => {
    await runScript(['latchkey', 'app', 'list']);
    await runScript(['latchkey', 'app', 'list']);
    const names = (await calls()).map(({ words: [name, verb] }) => `${name} ${verb}`);
    const installs = names.filter((name) => name === 'npm ci' || name === 'pnpm install');
    expect(installs).toEqual(['npm ci', 'pnpm install']);
  });

  test.each([
    { words: [], said: /^Usage: npm run new -- ROLE / },
    { words: ['--help'], said: /^ {2}host .* express, fastapi or go +4001$/m },
    { words: ['host'], said: /^host: choose --with express, fastapi or go\n$/ },
    { words: ['mcp', '--frob'], said: /^There is no option "frob"\. .* -- --help\n$/ },
  ])('says what `npm run new` makes, and installs nothing: $words', async ({ words, said }) => {
    const { stdout, stderr } = await runScript(['new', ...words]);
    expect(stdout + stderr).toMatch(said);
    await expect(calls()).rejects.toThrow('ENOENT');
  });

  test('bin/latchkey runs the sources on the settings, and says how to install what it needs', async () => {
    await cp(join(root, 'bin/latchkey'), join(folder, 'bin/latchkey'));
    const words = ['app', 'create', 'Acme & Co'];
    const command = () => run(join(folder, 'bin/latchkey'), words, { env: environment() });
    expect(await command()).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/ not installed\. Run npm start in its repository, then /),
    });
    await runScript(['latchkey', 'app', 'list']);
    const service = join(folder, 'apps/server/src/cli/latchkey.ts');
    await mkdir(dirname(service), { recursive: true });
    await writeFile(service, record('latchkey'));
    expect((await command()).exitCode).toBe(0);
    // As of a folder on the PATH.
    await symlink(join(folder, 'bin/latchkey'), join(folder, 'latchkey'));
    const linked = await run(join(folder, 'latchkey'), words, { env: environment() });
    expect(linked.stderr).toBe('');
    const ran = (await calls()).at(-1);
    expect(ran?.words).toEqual(['latchkey', ...words]);
    expect(ran?.environment).toMatchObject(settings);
  });

  test('stops where npm installs no pnpm with the hash of the lockfile', async () => {
    const { exitCode, stderr } = await runScript(['start'], [], { FAKE_PNPM: '' });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^npm did not install the pnpm of .*\n$/m);
    expect((await calls()).map(({ words: [name] }) => name)).toEqual(['npm']);
  });

  /** Words for Node that make it say that it is another one. */
  async function pretend(platform: string, version: string): Promise<string[]> {
    const preload = join(folder, 'preload.cjs');
    const value = (text: string) => `{ value: ${text}, configurable: true }`;
    await writeFile(
      preload,
      `Object.defineProperty(process, 'versions', ${value(`{ ...process.versions, node: '${version}' }`)});
Object.defineProperty(process, 'platform', ${value(`'${platform}'`)});`,
    );
    return ['--require', preload];
  }

  test.each([
    ['linux', '18.20.4', 'needs Node 20 or later, and this is Node 18.20.4'],
    ['darwin', '22.17.1', 'needs Node 22.18 or later, and this is Node 22.17.1'],
  ])('on %s with Node %s installs nothing', async (platform, version, message) => {
    const { exitCode, stderr } = await runScript(['start'], await pretend(platform, version));
    expect(exitCode).toBe(1);
    expect(stderr).toContain(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    await expect(calls()).rejects.toThrow('ENOENT');
  });

  describe('the tests of a package', () => {
    const words = ['test', '--project', 'client'];
    beforeEach(async () => {
      const bin = join(folder, 'node_modules/.bin');
      await mkdir(bin);
      for (const path of [join(bin, 'vitest'), join(folder, 'bin/npx')]) {
        await writeFile(path, record(path.endsWith('npx') ? 'npx' : 'vitest'));
        await chmod(path, 0o755);
      }
    });
    const names = async () => (await calls()).map(({ words }) => words.slice(0, 2).join(' '));

    test('build what they need, unless turbo has', async () => {
      await runScript(words);
      expect(await names()).toEqual(['npm ci', 'pnpm install', 'pnpm exec', 'vitest run']);
      await runScript(words, [], { TURBO_HASH: 'a' });
      expect((await names()).slice(4)).toEqual(['vitest run']);
    });

    test('are kept by turbo for one Node, also where the lockfile has none', async () => {
      const node = await pretend('darwin', '24.1.0');
      await runScript(['test:packages'], node);
      expect((await calls()).at(-1)).toMatchObject({
        words: expect.arrayContaining(['npx', 'turbo', 'run', 'test']),
        environment: { TEST_NODE: '24.1.0' },
      });
      for (const TEST_NODE of ['', '24.0.0']) {
        const { exitCode, stderr } = await runScript(words, node, { TURBO_HASH: 'a', TEST_NODE });
        expect(exitCode).toBe(1);
        expect(stderr).toContain('Run: npm run test:packages');
      }
      expect(await names()).not.toContain('vitest run');
      await runScript(words, node, { TURBO_HASH: 'a', TEST_NODE: '24.1.0' });
      expect(await names()).toContain('vitest run');
    });
  });
});

test('pnpm is the version of packageManager, and each package has a hash', async () => {
  const { packageManager } = JSON.parse(await source('package.json'));
  const { packages } = JSON.parse(await source('scripts/pnpm/package-lock.json'));
  const { '': _, ...pinned } = packages as Record<string, { version: string; integrity: string }>;
  expect(Object.keys(pinned).sort()).toEqual([
    'node_modules/@pnpm/exe.linux-arm64',
    'node_modules/@pnpm/exe.linux-x64',
  ]);
  for (const { version, integrity } of Object.values(pinned)) {
    expect(`pnpm@${version}`).toBe(packageManager);
    expect(integrity).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
  }
});
