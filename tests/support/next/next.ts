import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installFromLockfile } from '@latchkey/test-kit/tools-from-lockfile';
import { installPackedSdk } from '../packed-sdk.ts';
import { environment, succeed } from '../service.ts';

// 370 MB that `npm start` does not need.

/** A Next.js application, built for production. */
export interface NextApplication {
  folder: string;
  /** The arguments of `node` that serve it on a free port, from its folder. */
  start: string[];
  remove(): Promise<void>;
}

/**
 * Creates an application with the packed SDK, and builds it. The build also checks its types.
 *
 * @param files - a file or a folder of the application
 * @param path - its path in the application, such as `app/photos/route.ts`; `.` for all of it
 */
export async function buildNextApplication(files: string, path: string): Promise<NextApplication> {
  const tools = fileURLToPath(new URL('./tools', import.meta.url));
  const installed = await installFromLockfile(tools, 'next-js');
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
      // The build loads the handler. Its client needs an address but sends no request yet.
      env: environment({
        LATCHKEY_URL: 'https://latchkey.invalid',
        NEXT_TELEMETRY_DISABLED: '1',
      }),
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
