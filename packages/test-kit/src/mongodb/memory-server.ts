import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../cache-folder.ts';
import { lastLines } from '../error-text.ts';

const downloadScript = fileURLToPath(new URL('./memory-server-download.ts', import.meta.url));

/** A host that sends no byte for this long counts as unreachable. */
const silentMs = 5_000;
const stalledMs = 15_000;

/**
 * Downloads a `mongod` by mongodb-memory-server, which otherwise is not used. The download runs in a
 * process of its own: it can be neither silenced nor aborted.
 */
export async function mongodOfMemoryServer(env: NodeJS.ProcessEnv): Promise<string> {
  const folder = join(await cacheFolder(env), 'mongod');
  await mkdir(folder, { recursive: true });
  return download(folder, env);
}

async function download(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(process.execPath, [downloadScript, folder], {
    // One attempt: if the host is unreachable, more would only delay the next source.
    env: { MONGOMS_MAX_RETRIES: '1', ...env, NODE_NO_WARNINGS: '1', MONGOMS_DOWNLOAD_DIR: folder },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
  });

  // A host may neither accept nor refuse a connection, so the download ends if nothing arrives.
  const before = await bytesIn(folder);
  let arrived = before;
  let lastArrival = Date.now();
  let stalled = false;
  const watch = setInterval(async () => {
    const size = await bytesIn(folder);
    if (size !== arrived) lastArrival = Date.now();
    arrived = size;
    stalled = Date.now() - lastArrival > (arrived === before ? silentMs : stalledMs);
    if (stalled) child.kill('SIGKILL');
  }, 1_000);
  try {
    const [code] = await once(child, 'close');
    const binary = output.trim().split('\n').at(-1) ?? '';
    if (code === 0 && binary !== '') return binary;
  } finally {
    clearInterval(watch);
  }
  throw new Error(
    stalled
      ? 'gave up: its host sends nothing'
      : lastLines(errors, 2) || 'the download ended without a message',
  );
}

async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const sizes = names.map((name) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
