import { existsSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { projects } from '../scripts/new/projects.mjs';
import { anchors, links } from './support/markdown.ts';
import { environment, run } from './support/service.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

const exclude = (name: string) =>
  ['node_modules', 'dist', 'data'].includes(name.split('/').at(-1) ?? '');
const ours: string[] = [];
for await (const page of glob(['**/*.md', '.github/*.md'], { cwd: root, exclude })) ours.push(page);
ours.sort();

const read = (page: string) => readFile(join(root, page), 'utf8');

const OURS = /^https:\/\/github\.com\/latchkey\/latchkey\/(?:blob|tree)\/main\/(.+)$/;

describe('every link of the project’s pages has a target', () => {
  test('these are the pages', () => {
    expect(ours).toEqual(
      expect.arrayContaining(['.github/SECURITY.md', 'README.md', 'docs/architecture.md']),
    );
  });

  test.each(ours)('%s', async (page) => {
    const dead: string[] = [];
    for (const link of links(await read(page))) {
      // The READMEs of packages, which a registry shows, name our pages by their address.
      const own = OURS.exec(link)?.[1];
      if (own === undefined && /^[a-z][a-z+.-]*:/i.test(link)) continue;
      const [path = '', anchor] = (own ?? link).split('#');
      const from = own === undefined ? dirname(page) : '.';
      const target = path === '' ? page : relative(root, join(root, from, path));
      if (target.startsWith('..') || !existsSync(join(root, target))) dead.push(link);
      else if (anchor !== undefined && !anchors(await read(target)).has(anchor)) dead.push(link);
    }
    expect(dead).toEqual([]);
  });
});

test('docs/README.md names every page of the documentation', async () => {
  const named = new Set(links(await read('docs/README.md')).map((link) => link.split('#')[0]));
  const documentation = ours
    .filter((page) => /^docs\/(?:guides\/)?[a-z-]+\.md$/.test(page))
    .map((page) => page.slice('docs/'.length));
  expect(documentation.length).toBeGreaterThan(20);
  expect(documentation.filter((page) => !named.has(page))).toEqual([]);
});

/** Commands of npm that are no scripts. */
const npmItself = ['ci', 'config', 'deprecate', 'exec', 'i', 'init', 'install', 'login', 'pkg'];

test('every npm command of the project’s pages is a script of the root, or of a made project', async () => {
  const { scripts } = JSON.parse(await read('package.json')) as { scripts: Record<string, string> };
  const named = new Set<string>();
  for (const page of ours) {
    const text = await read(page);
    for (const [, name] of text.matchAll(/\bnpm (?:run (?:-s )?)?([a-z:]+)\b/g)) {
      if (!npmItself.includes(name as string)) named.add(name as string);
    }
  }
  const ofProjects = Object.values(projects)
    .flatMap((frameworks) => Object.values(frameworks))
    .flatMap((project) => Object.keys(project.scripts ?? {}));
  const known = [...Object.keys(scripts), ...ofProjects];
  expect([...named].filter((name) => !known.includes(name))).toEqual([]);
  expect([...named]).toEqual(expect.arrayContaining(['start', 'test', 'new']));

  // Called without a task, the script behind these commands lists its tasks.
  const { stderr } = await run(process.execPath, [join(root, 'scripts/run.mjs')], {
    env: environment(),
  });
  const [, tasks = ''] = /run\.mjs (\S+)/.exec(stderr) ?? [];
  for (const [name, command] of Object.entries(scripts)) {
    expect(command).toBe(`node scripts/run.mjs ${name}`);
    expect(tasks.split('|')).toContain(name);
  }
});

test('the response to each curl command of the project’s pages ends with a line break', async () => {
  const texts = await Promise.all(ours.map(read));
  const commands = texts.flatMap((text) => text.match(/^ *curl .*$/gm) ?? []);
  expect(commands.length).toBeGreaterThan(5);
  expect(commands.filter((command) => !command.includes(String.raw` -w '\n' `))).toEqual([]);
});

test('the decisions are numbered without a gap, and the index lists each of them', async () => {
  const decisions = ours.filter((page) => /^docs\/decisions\/\d/.test(page));
  expect(decisions.length).toBeGreaterThan(0);
  const index = await read('docs/decisions/README.md');
  for (const [position, page] of decisions.entries()) {
    const name = page.slice('docs/decisions/'.length);
    expect(name).toMatch(`${position + 1}`.padStart(4, '0'));
    const [heading = ''] = (await read(page)).split('\n');
    expect(index).toContain(`- [${heading.slice(2)}](${name})`);
  }
});
