import { fsyncSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { withFile } from './database-file.ts';

/** In the same directory, since a rename is atomic only within a file system. */
export function partialOf(path: string): string {
  return `${path}.${process.pid}.partial`;
}

/** What killed processes left of a file or folder that they were making at this path. */
export function leftoversOf(path: string): string[] {
  const folder = dirname(path);
  const prefix = `${basename(path)}.`;
  return namesIn(folder).flatMap((name) => {
    const rest = name.startsWith(prefix) ? name.slice(prefix.length) : '';
    const pid = Number(/^(\d+)\.partial/.exec(rest)?.[1] ?? Number.NaN);
    const isLeft = !Number.isNaN(pid) && (pid === process.pid || !isRunning(pid));
    return isLeft ? [join(folder, name)] : [];
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // There is none, or this user may not read it.
    return [];
  }
}

export function removeLeftovers(path: string): void {
  for (const left of leftoversOf(path)) rmSync(left, { recursive: true, force: true });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process runs, as another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

export function sync(path: string): void {
  withFile(path, (file) => {
    try {
      fsyncSync(file);
    } catch (error) {
      // Windows can't sync a directory, and keeps names without it.
      if (process.platform !== 'win32') throw error;
    }
  });
}
