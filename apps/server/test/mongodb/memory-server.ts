import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from './cache.ts';
import { startMongod } from './mongod.ts';
import { lastLines } from './text.ts';
import type { MongoDBServer, StartContext } from './types.ts';

const downloadScript = fileURLToPath(new URL('./memory-server-download.ts', import.meta.url));
const stalledMs = 15_000;

/**
 * Only the download is left to mongodb-memory-server: what it brings is run as any other mongod.
 * It runs in a process of its own, because it can be neither silenced nor given up otherwise.
 */
export async function startMemoryServer(context: StartContext): Promise<MongoDBServer> {
  const folder = join(await cacheFolder(context.env), 'mongod');
  await mkdir(folder, { recursive: true });
  const binary = await download(folder, context);
  return startMongod(binary, 'mongodb-memory-server', 'from mongodb-memory-server');
}

async function download(folder: string, { env }: StartContext): Promise<string> {
  const child = spawn(process.execPath, [downloadScript, folder], {
    // One try: where the host is out of reach, every further one only delays the next candidate.
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

  // A host that neither answers nor refuses: what counts is whether anything still arrives.
  let arrived = 0;
  let lastArrival = Date.now();
  let stalled = false;
  const watch = setInterval(async () => {
    const size = await bytesIn(folder);
    if (size !== arrived) lastArrival = Date.now();
    arrived = size;
    stalled = Date.now() - lastArrival > stalledMs;
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
      ? `gave up: nothing arrived for ${stalledMs / 1_000} s`
      : lastLines(errors, 2) || 'the download ended without a word',
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
