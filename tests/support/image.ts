import { cp, readFile } from 'node:fs/promises';
import { join, matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { environment, succeed } from './service.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

// For Docker, `*` also matches what begins with a dot.
const matches = (path: string, pattern: string) => {
  const [one = '', other = ''] = [path, pattern].map((text) => text.replaceAll(/(^|\/)\./g, '$1_'));
  return matchesGlob(one, other) || matchesGlob(one, `${other}/**`);
};

/** The files of the repository that a build of the image gets, by `.dockerignore`: the last rule wins. */
export async function filesOfBuild(): Promise<string[]> {
  const rules = (await readFile(join(root, '.dockerignore'), 'utf8'))
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ isKept: line.startsWith('!'), pattern: line.replace(/^!/, '') }));
  const listed = await succeed('git', ['-C', root, 'ls-files'], { env: environment() });
  return listed
    .trim()
    .split('\n')
    .filter((path) => {
      const last = rules.findLast(({ pattern }) => matches(path, pattern));
      return last?.isKept ?? true;
    });
}

/** Copies what a build of the image gets. */
export async function copyForBuild(folder: string): Promise<void> {
  for (const path of await filesOfBuild()) await cp(join(root, path), join(folder, path));
}

export interface Image {
  /** The JSON form of an instruction of the last stage, such as `ENTRYPOINT`. */
  words(instruction: string): string[];
  /** Its ENV. */
  environment: Record<string, string>;
}

export async function imageOfDockerfile(): Promise<Image> {
  const text = (await readFile(join(root, 'deploy/Dockerfile'), 'utf8')).replaceAll(/\\\n\s*/g, '');
  const stage = text.slice(text.lastIndexOf('FROM '));
  const [, variables = ''] = /^ENV (.*)$/m.exec(stage) ?? [];
  return {
    words(instruction) {
      const [, words] = new RegExp(`^${instruction}\\b.*?(\\[.*\\])$`, 'm').exec(stage) ?? [];
      return JSON.parse(words ?? 'null');
    },
    environment: Object.fromEntries(variables.split(/\s+/).map((word) => word.split('='))),
  };
}
