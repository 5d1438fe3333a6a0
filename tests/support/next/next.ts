import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installFromLockfile } from '@latchkey/test-kit/tools-from-lockfile';
import { installPackedSdk } from '../packed-sdk.ts';
import { type Environment, environment, succeed } from '../service.ts';

// Up to 370 MB each, which `npm start` does not need.

/** The folder with the lockfile of each version. */
const tools = { 14: './tools-14', 15: './tools-15', 16: './tools' };

/** A Next.js application, built for production. */
export interface NextApplication {
  folder: string;
  /** The arguments of `node` that serve it on a free port, from its folder. */
  start: string[];
  remove(): Promise<void>;
}

/**
 * Creates an application with the packed SDK, and builds it. The build also checks types, if it has any.
 *
 * @param files - a file or a folder of the application
 * @param path - its path in the application, such as `app/photos/route.ts`; `.` for all of it
 * @param options.env - what the build has in its environment; without it, the SDK has an address, and
 *   the build must send no request
 */
export async function buildNextApplication(
  files: string,
  path: string,
  {
    version = 16,
    env = { LATCHKEY_URL: 'https://latchkey.invalid' },
  }: { version?: keyof typeof tools; env?: Environment } = {},
): Promise<NextApplication> {
  const lockfile = fileURLToPath(new URL(tools[version], import.meta.url));
  const installed = await installFromLockfile(lockfile, `next-js-${version}`);
  // Below the packages, like an application of a workspace: Next.js follows no link out of the folder
  // with the lockfile.
  const folder = await mkdtemp(join(installed, 'application-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const next = join(installed, 'node_modules/next/dist/bin/next');
  try {
    await installPackedSdk(folder);
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(files, join(folder, path), { recursive: true });
    await succeed(process.execPath, [next, 'build'], {
      cwd: folder,
      env: environment({ ...env, NEXT_TELEMETRY_DISABLED: '1' }),
    });
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    folder,
    start: [next, 'start', '--hostname', '127.0.0.1', '--port', '0'],
    remove,
  };
}
