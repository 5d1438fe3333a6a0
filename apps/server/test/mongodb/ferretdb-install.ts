import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from './cache.ts';
import { lastLines } from './text.ts';
import type { StartContext } from './types.ts';

const buildScript = fileURLToPath(new URL('./ferretdb-build.sh', import.meta.url));

/** The newest there is. It asks for no particular version of the DocumentDB extension. */
const ferretdbVersion = 'v2.7.0';

/** Raised when what `ferretdb-build.sh` makes changes: no old folder is then taken for it. */
const recipe = 1;

export interface FerretDBInstallation {
  folder: string;
  /** As in 'FerretDB v2.7.0, PostgreSQL 18.6, DocumentDB 1.0.0'. */
  versions: string;
}

export async function installFerretDB(context: StartContext): Promise<FerretDBInstallation> {
  const cache = await cacheFolder(context.env);
  const folder = join(cache, `ferretdb-${ferretdbVersion}-${recipe}`);
  const built = await stat(folder).then(
    () => true,
    () => false,
  );
  if (!built) await build(cache, folder, context);
  const versions = await readFile(join(folder, 'versions'), 'utf8');
  return { folder, versions: versions.trim().split('\n').reverse().join(', ') };
}

async function build(cache: string, folder: string, { log, env }: StartContext): Promise<void> {
  log(`Building ${folder}: FerretDB and PostgreSQL, once, in one or two minutes.`);
  const logPath = join(cache, 'ferretdb-build.log');
  const logFile = await open(logPath, 'a');
  const start = (await logFile.stat()).size;
  try {
    // The lock goes when its holder goes, so that no crash can leave it behind. A second run waits
    // here, and then finds the folder made.
    const lock = join(cache, 'ferretdb-build.lock');
    const child = spawn('flock', [lock, 'sh', buildScript, folder, ferretdbVersion], {
      env,
      stdio: ['ignore', logFile.fd, logFile.fd],
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) {
      const said = (await readFile(logPath)).subarray(start).toString();
      throw new Error(`did not build (all of it in ${logPath})\n${lastLines(said, 8)}`);
    }
  } finally {
    await logFile.close();
  }
}
