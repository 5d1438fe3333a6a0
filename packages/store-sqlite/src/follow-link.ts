import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * The file that a symbolic link leads to, whether it exists or not: what stands beside a file has to stand beside the
 * real one, and a rename would replace the link.
 */
export function followLink(path: string): string {
  try {
    if (!lstatSync(path).isSymbolicLink()) return path;
  } catch {
    // Whoever opens it says why it can't be.
    return path;
  }
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return path;
    return followLink(resolve(realpathSync(dirname(path)), readlinkSync(path)));
  }
}
