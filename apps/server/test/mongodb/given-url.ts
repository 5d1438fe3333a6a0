import { identify } from './identify.ts';
import type { MongoDBServer, StartContext } from './types.ts';

export async function useGivenUrl({ env }: StartContext): Promise<MongoDBServer> {
  const url = env.TEST_DATABASE_URL;
  if (!url) throw new Error('not set');
  const { name, isStandIn } = await identify(url);
  return {
    url,
    source: 'TEST_DATABASE_URL',
    description: `${name} at TEST_DATABASE_URL`,
    isStandIn,
    // Whoever started it stops it.
    stop: async () => undefined,
  };
}
