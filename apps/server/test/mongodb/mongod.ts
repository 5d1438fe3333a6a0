import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { MongoServerError } from 'mongodb';
import { hello, identify, withClient } from './identify.ts';
import { startLocalServer } from './local-server.ts';
import type { MongoDBServer, MongoDBSource, StartContext } from './types.ts';

const runScript = fileURLToPath(new URL('./mongod-run.sh', import.meta.url));
const replicaSet = 'latchkey-test';
const alreadyInitialized = 23;

export async function startMongodOnPath({ env }: StartContext): Promise<MongoDBServer> {
  for (const folder of (env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const binary = join(folder, 'mongod');
    const found = await access(binary, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return startMongod(binary, 'mongod', 'from the PATH');
  }
  throw new Error('no mongod on the PATH');
}

/** One node, yet a replica set: only those have transactions, sessions and retryable writes. */
export async function startMongod(
  binary: string,
  source: MongoDBSource,
  origin: string,
): Promise<MongoDBServer> {
  const server = await startLocalServer({
    logs: ['mongod.log'],
    command: (folder, port) => [
      'sh',
      [
        ...[runScript, folder, binary, '--dbpath', join(folder, 'data'), '--replSet', replicaSet],
        ...['--bind_ip', '127.0.0.1', '--port', String(port), '--nounixsocket'],
      ],
    ],
    url: (port) => `mongodb://127.0.0.1:${port}/?replicaSet=${replicaSet}`,
    check: becomePrimary,
  });
  const { name, isStandIn } = await identify(server.url);
  return { ...server, source, description: `${name}, ${origin}, one-node replica set`, isStandIn };
}

async function becomePrimary(port: number): Promise<void> {
  const direct = `mongodb://127.0.0.1:${port}/?directConnection=true`;
  await withClient(direct, async (client) => {
    const members = [{ _id: 0, host: `127.0.0.1:${port}` }];
    try {
      await client.db('admin').command({ replSetInitiate: { _id: replicaSet, members } });
    } catch (error) {
      const again = error instanceof MongoServerError && error.code === alreadyInitialized;
      if (!again) throw error;
    }
  });
  for (let tries = 0; tries < 50; tries++) {
    if ((await hello(direct)).isWritablePrimary === true) return;
    await sleep(100);
  }
  throw new Error('the only node did not become primary');
}
