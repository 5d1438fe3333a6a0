import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { logProgress } from '../progress.ts';

/** A checkout of the repository, with a built service. */
export interface Tree {
  folder: string;
  /** Its commit. */
  version: string;
}

/** The tree cannot be measured, for a reason that the message tells. */
export class NoTree extends Error {
  override readonly name = 'NoTree';
}

/** Builds the service of another checkout as that checkout does it. */
export function buildTree(path: string): Tree {
  const folder = resolve(path);
  if (!existsSync(join(folder, 'apps/server/package.json'))) {
    throw new NoTree(
      `${folder} is no checkout of this repository. Name one after --against, such as a clone at an older commit: git clone . ../before && git -C ../before checkout COMMIT`,
    );
  }
  logProgress(`Building ${folder} …`);
  const words = ['run', 'build', '--', '--filter=@latchkey/server'];
  const { status } = spawnSync('npm', words, { cwd: folder, stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    throw new NoTree(
      `${folder} could not be built. Run there until it succeeds: npm ${words.join(' ')}`,
    );
  }
  return treeOf(folder);
}

/** A checkout whose service is built. */
export function treeOf(folder: string): Tree {
  const words = ['-C', folder, 'describe', '--always', '--dirty', '--exclude=*'];
  const { stdout, status } = spawnSync('git', words, { encoding: 'utf8' });
  return { folder, version: status === 0 ? stdout.trim() : 'no commit' };
}
