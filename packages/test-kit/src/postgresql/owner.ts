import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** PostgreSQL refuses to be run by root, as which CI runs. */
export const isRoot = process.getuid?.() === 0;

const NOBODY = '65534';

/** A command that runs the one behind it as a user that may run a PostgreSQL. */
export const asOwner: readonly string[] = isRoot
  ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--']
  : [];

export async function giveToOwner(path: string): Promise<void> {
  if (isRoot) await promisify(execFile)('chown', ['-R', `${NOBODY}:${NOBODY}`, path]);
}
