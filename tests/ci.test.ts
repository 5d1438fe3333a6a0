import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, glob, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { run, succeed } from './support/service.ts';

// Runs .ci/run and every job of the workflows with stand-ins for the programs that they call. .ci/run
// takes half an hour: here it is enough that the jobs call what it calls, and that all of it exists.

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFile(join(root, path), 'utf8');
const { scripts } = JSON.parse(await read('package.json'));

interface Step {
  uses?: string;
  run?: string;
  env?: Record<string, string>;
}

interface Job {
  name: string;
  permissions?: unknown;
  environment?: string;
  steps: Step[];
}

type Member = Record<string, string>;
type Matrix = Record<string, string[]> & { include?: Member[] };

/** The jobs of a workflow, one for each member of its matrix, with the values of the matrix. */
async function jobsOf(workflow: string): Promise<Job[]> {
  const { jobs } = parse(await read(`.github/workflows/${workflow}.yml`));
  return Object.entries<Job & { strategy?: { matrix: Matrix } }>(jobs).flatMap(([id, job]) => {
    const { include, ...lists } = job.strategy?.matrix ?? {};
    const [[key, values] = ['', ['']]] = Object.entries(lists);
    const members: Member[] = include ?? values.map((value) => ({ [key]: value }));
    return members.map((member) => {
      const text = JSON.stringify({ ...job, name: job.name ?? id, strategy: undefined });
      return JSON.parse(
        text.replaceAll(/\$\{\{ matrix\.(\w+) \}\}/g, (_, name) => member[name] ?? ''),
      );
    });
  });
}

const GSON = 'libgoogle-gson-java';
const BILL = 'tarballs/latchkey-client-1.2.3.cdx.json';
const TARBALL = 'tarballs/latchkey-client-1.2.3.tgz';
/** The output of the job that builds, of these two files. */
const SUM = createHash('sha256').update('as it was built').digest('hex');
const SUMS = Buffer.from(
  [BILL, TARBALL].map((file) => `${SUM}  ${basename(file)}\n`).join(''),
).toString('base64');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-ci-'));
  await cp(join(root, '.ci'), join(folder, '.ci'), { recursive: true });
  await mkdir(join(folder, 'bin'));
  await mkdir(join(folder, 'tarballs'));
  for (const file of [BILL, TARBALL]) await writeFile(join(folder, file), 'as it was built');
  const standIn = `#!/bin/bash\necho "$(basename "$0") $*" >> "$CALLS"\n`;
  for (const name of ['npm', 'node', 'apt-get', 'docker', 'curl']) {
    await writeFile(join(folder, 'bin', name), standIn, { mode: 0o755 });
  }
  // There is no release yet.
  const gh = `${standIn}[[ "$2" != view ]]\n`;
  await writeFile(join(folder, 'bin/gh'), gh, { mode: 0o755 });
  await writeFile(join(folder, 'bin/sudo'), '#!/bin/bash\nexec "$@"\n', { mode: 0o755 });
  // For every user and system, a machine without the tools of the tests.
  const programs = ['bash', 'sh', 'basename', 'dirname', 'timeout', 'sleep', 'sha256sum', 'base64'];
  programs.push('mktemp', 'rm');
  for (const name of programs) {
    const path = (await succeed('/bin/sh', ['-c', `command -v ${name}`], { env: {} })).trim();
    await symlink(path, join(folder, 'bin', name));
  }
});
afterEach(() => rm(folder, { recursive: true }));

/** Runs a script as the hosts do. */
async function runAsHost(script: string, more: Record<string, string> = {}) {
  const CALLS = join(folder, 'calls');
  await writeFile(CALLS, '');
  const env = {
    PATH: join(folder, 'bin'),
    CALLS,
    ...{ RUNNER_TEMP: folder, GITHUB_REPOSITORY: 'owner/name', GITHUB_SHA: 'a-commit' },
    GITHUB_OUTPUT: join(folder, 'output'),
    ...more,
  };
  const words = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script];
  const ended = await run('/bin/bash', words, { cwd: folder, env });
  const lines = (await readFile(CALLS, 'utf8')).trim().split('\n');
  return { ended, called: lines.filter(Boolean) };
}

/** Runs a script that succeeds. Resolves to the programs that it calls. */
async function calls(script: string, more: Record<string, string> = {}): Promise<string[]> {
  const { ended, called } = await runAsHost(script, more);
  expect(ended).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  return called;
}

async function callsOf(job: Job): Promise<string[]> {
  const made: string[] = [];
  for (const { run: script, env } of job.steps) {
    const given = env?.SUMS?.includes(' needs.build.outputs.sums ') ? { SUMS } : env;
    if (script !== undefined) made.push(...(await calls(script, given)));
  }
  return made;
}

const isInstall = (call: string) => call.startsWith('apt-get ');
const installs = (made: string[]) => made.filter(isInstall);
const commands = (made: string[]) => made.filter((call) => !isInstall(call));

describe.runIf(process.platform === 'linux')('the jobs of CI', () => {
  test('together call what .ci/run calls, the tests in shards', async () => {
    const made: string[] = [];
    for (const job of await jobsOf('ci')) {
      if (job.name !== 'macos') made.push(...commands(await callsOf(job)));
    }
    const sharded = made.filter((call) => call.includes(' --shard='));
    const shards = sharded.map((_, index) => `--shard=${index + 1}/${sharded.length}`);
    expect(sharded.map((call) => call.split(' ').at(-1))).toEqual(shards);
    const whole = new Set(made.map((call) => call.replace(/ --shard=.*$/, '')));
    expect([...whole]).toEqual(commands(await calls('.ci/run')));
    expect([...whole]).toEqual([
      'npm run check',
      'npm run release:rehearse',
      'node scripts/ci/second-try.mjs test:clients',
      'node scripts/ci/second-try.mjs test:all',
    ]);
  });

  test('end with the first part of .ci/run that fails, and with its output', async () => {
    const fails = '#!/bin/bash\necho out\necho wrong >&2\nexit 3\n';
    await writeFile(join(folder, 'bin/npm'), fails);
    const { ended, called } = await runAsHost('.ci/run');
    expect(ended).toEqual({ exitCode: 3, stdout: 'out\n', stderr: 'wrong\n' });
    expect(commands(called)).toEqual([]);
  });

  test.each(['ci', 'mongodb', 'release'])('%s calls what exists', async (workflow) => {
    for (const job of await jobsOf(workflow)) {
      for (const call of commands(await callsOf(job))) {
        const [, task] = /^(?:npm run|node scripts\/ci\/second-try\.mjs) (\S+)/.exec(call) ?? [];
        if (task !== undefined) expect(scripts).toHaveProperty([task]);
        const [, file] = /^node (\S+)/.exec(call) ?? [];
        if (file !== undefined) expect(existsSync(join(root, file)), call).toBe(true);
      }
    }
  });

  test('run all suites of the server and of its MongoDB store on each MongoDB', async () => {
    const jobs = await jobsOf('mongodb');
    expect(jobs).toHaveLength(2);
    for (const job of jobs) {
      const made = await callsOf(job);
      const folders = 'apps/server packages/store-mongodb';
      expect(made).toContain(`node scripts/ci/second-try.mjs test:all ${folders}`);
    }
  });

  test('with tests first install what .ci/tools lists, and no other job installs', async () => {
    const list = installs(await calls('.ci/tools'));
    expect(list).toHaveLength(2);
    for (const workflow of ['ci', 'mongodb', 'release']) {
      for (const job of await jobsOf(workflow)) {
        const made = await callsOf(job);
        const first = made.findIndex((call) => /second-try|\btest\b|check/.test(call));
        const hasTests = made.some((call) => /second-try|npm test|npm run check/.test(call));
        expect([workflow, job.name, installs(made)]).toEqual([
          workflow,
          job.name,
          hasTests || job.name === 'release rehearsal' ? list : [],
        ]);
        if (hasTests) expect(made.findIndex(isInstall)).toBeLessThan(first);
      }
    }
  });

  test('of a release publish without an installation what a job without rights has packed', async () => {
    const [build, publish] = (await jobsOf('release')) as [Job, Job];
    expect(build).toMatchObject({ name: 'build' });
    for (const right of ['permissions', 'environment']) expect(build).not.toHaveProperty(right);
    const actions = ({ steps }: Job) => steps.flatMap(({ uses = '' }) => uses.split('@')[0] || []);
    expect(actions(build)).toContain('actions/upload-artifact');
    expect(commands(await callsOf(build))).toEqual([
      `npm run release:pack -- ${folder}/tarballs`,
      ...commands(await calls('.ci/run')),
    ]);

    expect(publish).toMatchObject({
      ...{ name: 'publish', needs: 'build', environment: 'release' },
      permissions: { contents: 'write', 'id-token': 'write' },
    });
    expect(actions(publish)).toEqual([
      'actions/checkout',
      'actions/setup-node',
      'actions/download-artifact',
    ]);
    expect(await readFile(join(folder, 'output'), 'utf8')).toBe(`sums=${SUMS}\n`);
    expect(await callsOf(publish)).toEqual([
      'npm config get registry',
      'node scripts/release/publish.ts tarballs --provenance --registry=',
      'gh release view v1.2.3',
      expect.stringMatching(
        new RegExp(
          `^gh release create v1\\.2\\.3 --target a-commit --title v1.* ${TARBALL} ${BILL}$`,
        ),
      ),
    ]);
    // A test of the build replaces what was handed over.
    for (const file of [BILL, TARBALL]) {
      await writeFile(join(folder, file), 'as it should not be');
      await expect(callsOf(publish)).rejects.toThrow();
      await writeFile(join(folder, file), 'as it was built');
    }
    const imported = [...(await read('scripts/release/publish.ts')).matchAll(/ from '([^']+)'/g)];
    expect(imported.filter(([, name]) => !name?.startsWith('node:'))).toEqual([]);
  });

  test('.ci/tools installs each package that a test names when it is missing', async () => {
    await rm(join(folder, 'bin/curl'));
    const [, install = ''] = await calls('.ci/tools');
    const listed = install.split(' ');
    expect(listed).toEqual(expect.arrayContaining(['haproxy', 'nginx-light', 'openssl']));
    const named = new Set<string>();
    const pattern = '{{apps,packages}/*/{src,test},tests}/**/*.ts';
    for await (const path of glob(pattern, { cwd: root, exclude: ['**/node_modules/**'] })) {
      for (const [, name = ''] of (await read(path)).matchAll(
        /Debian[^`']*apt-get install ([\w-]+)/g,
      )) {
        named.add(name);
      }
    }
    expect([...named]).toEqual(expect.arrayContaining(['chromium', 'prometheus', 'golang-go']));
    // It runs in bash. It looks for a file of gson, which is there where the tests of CI run.
    const present = ['bash', ...(existsSync('/usr/share/java/gson.jar') ? [GSON] : [])];
    expect([...named].filter((name) => ![...present, ...listed].includes(name))).toEqual([]);
  });
});
