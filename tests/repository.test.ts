import { glob, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { environment, run } from './support/service.ts';

// What a host of the repository and the bots of it read: nothing else here runs it.

const root = new URL('../', import.meta.url);
const read = (path: string) => readFile(new URL(path, root), 'utf8');
const files = async (pattern: string) => {
  const found: string[] = [];
  for await (const path of glob(pattern, { cwd: fileURLToPath(root) })) found.push(path);
  return found.sort();
};
const workflows = await files('.github/workflows/*.yml');

describe.each(workflows)('%s', (path) => {
  test('pins each action to a commit', async () => {
    const text = await read(path);
    const actions = [...text.matchAll(/uses: (\S+)/g)].map(([, action]) => action);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40}$/);
  });

  test('gets no more rights than it says', async () => {
    const text = await read(path);
    expect(text).toMatch(/^permissions:\n {2}contents: read\n\n/m);
    expect(text.match(/persist-credentials: false/g)).toHaveLength(
      text.match(/actions\/checkout@/g)?.length ?? 0,
    );
  });
});

test('an issue can be a bug or an idea, and a vulnerability is reported in private', async () => {
  expect(await files('.github/ISSUE_TEMPLATE/*.yml')).toEqual([
    '.github/ISSUE_TEMPLATE/bug.yml',
    '.github/ISSUE_TEMPLATE/config.yml',
    '.github/ISSUE_TEMPLATE/idea.yml',
  ]);
  const bug = await read('.github/ISSUE_TEMPLATE/bug.yml');
  expect(bug).toContain('Leave out real credentials');
  expect(bug).toMatch(/options: \[SQLite, PostgreSQL, MongoDB,/);
  const config = await read('.github/ISSUE_TEMPLATE/config.yml');
  expect(config).toContain('blank_issues_enabled: false');
  expect(config).toContain('/security/advisories/new');
});

test('a pull request names commands that exist, and conduct is reported as a vulnerability is', async () => {
  const template = await read('.github/PULL_REQUEST_TEMPLATE.md');
  const commands = [...template.matchAll(/`npm (?:run )?([\w:]+)/g)].map(([, name]) => `${name}`);
  expect(commands).toContain('test');
  const { scripts } = JSON.parse(await read('package.json'));
  expect(commands.filter((name) => !(name in scripts))).toEqual([]);
  expect(await read('.github/CODE_OF_CONDUCT.md')).toContain('SECURITY.md#report-a-vulnerability');
});

test('the root has only what its tool, its host or a reader looks for there', async () => {
  const { stdout } = await run('git', ['ls-files', ':(top,glob)*'], {
    cwd: fileURLToPath(root),
    env: environment(),
  });
  expect(stdout.trim().split('\n')).toEqual([
    ...['.dockerignore', '.gitattributes', '.gitignore', 'CONTRIBUTING.md', 'LICENSE', 'README.md'],
    // Biome, turbo and vitest look nowhere else. More settings are in .config and .github.
    ...['biome.json', 'package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'],
    ...['turbo.json', 'vitest.config.ts'],
  ]);
});

test('a release of a dependency waits before it is taken, by the bot and by pnpm', async () => {
  const renovate = JSON.parse(await read('.github/renovate.json'));
  expect(renovate).toMatchObject({ minimumReleaseAge: '7 days', internalChecksFilter: 'strict' });
  const [, minutes] = /^minimumReleaseAge: (\d+)$/m.exec(await read('pnpm-workspace.yaml')) ?? [];
  expect(Number(minutes)).toBe(3 * 24 * 60);
});

const changelogs = await files('{packages,apps}/*/CHANGELOG.md');
const isReleased = (await Promise.all(changelogs.map(read))).some((text) => /^## \d/m.test(text));

test('the first changelog has one entry, since no earlier version exists', async () => {
  if (isReleased) return;
  expect(await files('.changeset/*.md')).toEqual(['.changeset/first-release.md']);
});

test('the bot pins each image to a digest', async () => {
  const { extends: presets } = JSON.parse(await read('.github/renovate.json'));
  expect(presets).toContain('docker:pinDigests');
  const texts = [await read('deploy/Dockerfile'), await read('deploy/compose.yaml')].join('\n');
  const images = [...texts.matchAll(/^(?:FROM| *image:) (\S+:\S+)/gm)].map(([, image]) => image);
  expect(images).toHaveLength(3);
  // With the digest, once the bot has added it.
  for (const image of images) expect(image).toMatch(/^\w+:\d[\w.-]*(?:@sha256:[0-9a-f]{64})?$/);
});

test('no page says that nothing is released once a changelog has a version', async () => {
  expect(changelogs).toHaveLength(5);
  if (!isReleased) return;
  const stale: string[] = [];
  for (const page of ['README.md', '.github/SECURITY.md', ...(await files('docs/**/*.md'))]) {
    if (
      /not released yet|Nothing is released|on no registry|No package is on a/.test(
        await read(page),
      )
    )
      stale.push(page);
  }
  expect(stale).toEqual([]);
});
