import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The version of a `mongod`. Throws what is missing if the program does not run on this machine. */
export async function versionOf(path: string): Promise<string> {
  const { stdout } = await promisify(execFile)(path, ['--version']);
  const [, version] = /^db version v(\S+)/m.exec(stdout) ?? [];
  if (version === undefined) throw new Error(`${path} --version names no version`);
  return version;
}
