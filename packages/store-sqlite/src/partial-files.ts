import { closeSync, fsyncSync, openSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** In the same directory, since a rename is atomic only within a file system. */
export function partialOf(path: string): string {
  return `${path}.${process.pid}.partial`;
}

export function removeLeftovers(path: string): void {
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(dirname(path))) {
    const pid = /^(\d+)\.partial/.exec(
      name.startsWith(prefix) ? name.slice(prefix.length) : '',
    )?.[1];
    if (pid === undefined || (Number(pid) !== process.pid && isRunning(Number(pid)))) continue;
    rmSync(join(dirname(path), name), { recursive: true, force: true });
  }
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
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } catch (error) {
    // Windows can't sync a directory, and keeps names without it.
    if (process.platform !== 'win32') throw error;
  } finally {
    closeSync(descriptor);
  }
}
