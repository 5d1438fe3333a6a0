import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installFromLockfile } from '../../../apps/server/test/tools-from-lockfile.ts';
import { installPackedSdk } from '../packed-sdk.ts';
import { environment, succeed } from '../service.ts';

// 370 MB, of which `npm start` needs none.

/** An application of Next.js, built for production. */
export interface NextApplication {
  folder: string;
  /** What serves it, from its folder, on a free port: the words after `node`. */
  start: string[];
  remove(): Promise<void>;
}

/**
 * Makes an application of the packed SDK and one route handler, and builds it, which also checks
 * the types of what the handler exports.
 *
 * @param handler - the file
 * @param route - where it stands in the application, such as `app/photos/route.ts`
 */
export async function buildNextApplication(
  handler: string,
  route: string,
): Promise<NextApplication> {
  const tools = fileURLToPath(new URL('./tools', import.meta.url));
  const installed = await installFromLockfile(tools, 'next-js');
  // Below the packages, as an application of a workspace stands: Next.js follows no link out of the
  // folder that has the lockfile.
  const folder = await mkdtemp(join(installed, 'application-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const next = join(installed, 'node_modules/next/dist/bin/next');
  try {
    await installPackedSdk(folder);
    await mkdir(dirname(join(folder, route)), { recursive: true });
    await cp(handler, join(folder, route));
    await succeed(process.execPath, [next, 'build'], {
      cwd: folder,
      // It loads the handler, whose client asks for an address, and asks nothing of it yet.
      env: environment({
        LATCHKEY_URL: 'http://latchkey.invalid',
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
