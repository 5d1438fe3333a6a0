import { fileURLToPath } from 'node:url';
import { installFerretDB } from './ferretdb-install.ts';
import { identify, withClient } from './identify.ts';
import { startLocalServer } from './local-server.ts';
import type { MongoDBServer, StartContext } from './types.ts';

const runScript = fileURLToPath(new URL('./ferretdb-run.sh', import.meta.url));

export async function startFerretDB(context: StartContext): Promise<MongoDBServer> {
  if (process.platform !== 'linux') throw new Error('needs Linux');
  if (process.getuid?.() !== 0)
    throw new Error('needs root: it mounts, and changes its root folder');
  const { folder: installation, versions } = await installFerretDB(context);
  const server = await startLocalServer({
    logs: ['postgresql.log', 'ferretdb.log'],
    command: (folder, port) => [
      'unshare',
      [
        ...['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child'],
        ...['sh', runScript, installation, folder, String(port)],
      ],
    ],
    url: (port) => `mongodb://127.0.0.1:${port}/`,
    check: writeAndDrop,
  });
  const { isStandIn } = await identify(server.url);
  return { ...server, source: 'ferretdb', description: `${versions} (a stand-in)`, isStandIn };
}

/** A greeting comes from FerretDB alone; only a write shows that all behind it fits together. */
async function writeAndDrop(port: number): Promise<void> {
  await withClient(`mongodb://127.0.0.1:${port}/`, async (client) => {
    const db = client.db('latchkey_start_check');
    await db.collection<{ _id: number }>('one').insertOne({ _id: 1 });
    await db.dropDatabase();
  });
}
