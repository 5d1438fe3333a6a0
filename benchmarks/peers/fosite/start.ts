import { fileURLToPath } from 'node:url';
import type { Databases } from '../databases.ts';
import { startGoServer } from '../go.ts';
import { type ClientSecretHash, type Peer, slowHash } from '../peer.ts';

/** fosite, on PostgreSQL by a store of this package: fosite ships none for a database. */
export async function startFosite(
  databases: Databases,
  hash: ClientSecretHash = 'turned down',
): Promise<Peer> {
  const { environment, description } = await databases.postgresql();
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const peer = await startGoServer(folder, 'github.com/ory/fosite', {
    ...environment,
    ...slowHash(hash),
  });
  return { ...peer, versions: `${peer.versions}, ${description}` };
}
