import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);

/** The lines of a folder, blank ones included. */
export interface FolderLines {
  folder: string;
  production: number;
  test: number;
}

/** What is published, if it is not a test. */
export const PRODUCTION = /^(?:apps|packages)\/[^/]+\/src\//;
export const TEST = /\.test(?:-d)?\.ts$|\/test\/|^tests\/|^packages\/(?:test-kit|store-suite)\//;
const OF_SERVICE = /^(?:apps\/server|packages\/(?:domain|store|rules|store-\w+))\/src\//;
const SCRIPT = /\.[cm]?[jt]s$/;

/** Every JavaScript and TypeScript file that git tracks, or that is new and not ignored. */
const scripts = () =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: fileURLToPath(root),
    encoding: 'utf8',
  })
    .split('\n')
    .filter((path) => SCRIPT.test(path) && existsSync(new URL(path, root)));

const linesOf = (path: string): string[] =>
  readFileSync(new URL(path, root), 'utf8').replace(/\n$/, '').split('\n');

/** A folder of the sources of the server or of the rules, or else the folder of a package. */
const folderOf = (path: string): string =>
  /^(?:apps\/server|packages\/rules)\/(?:src|test)(?:\/[^/]+(?=\/))?|^packages\/[^/]+|^[^/]+/.exec(
    path,
  )?.[0] ?? path;

/**
 * The lines of what is published and of the tests, by folder. Neither are the benchmarks, the examples
 * and the scripts.
 */
export function linesByFolder(): FolderLines[] {
  const folders = new Map<string, FolderLines>();
  for (const path of scripts()) {
    const isTest = TEST.test(path);
    if (!isTest && !PRODUCTION.test(path)) continue;
    if (/^(?:benchmarks|examples|scripts)\//.test(path)) continue;
    const folder = folderOf(path);
    const found = folders.get(folder) ?? { folder, production: 0, test: 0 };
    found[isTest ? 'test' : 'production'] += linesOf(path).length;
    folders.set(folder, found);
  }
  return [...folders.values()].sort((a, b) => (a.folder < b.folder ? -1 : 1));
}

/** The share of the lines of the service that are comments, of those that are not blank; tests left out. */
export function commentShare(): number {
  const lines = scripts()
    .filter((path) => OF_SERVICE.test(path) && !TEST.test(path))
    .flatMap(linesOf)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  // Biome writes every line of a block comment with a leading asterisk.
  return lines.filter((line) => /^(?:\/\/|\/\*|\*(?:\s|\/|$))/.test(line)).length / lines.length;
}
