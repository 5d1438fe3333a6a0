import { onTestFinished } from 'vitest';
import type { Clock } from '../../clock.ts';
import type { Store } from '../store.ts';
import { openMongoStore } from './mongo-store.ts';
import { primaryOf, ScriptedServer } from './scripted-server.ts';
import type { Patience } from './settings.ts';

/** What a test lets succeed is never near these. */
const patience: Patience = { reach: 5_000, operation: 2_000, outcome: 5_000 };

/** For what a test lets fail, so that it does so soon. */
export const impatience: Patience = { reach: 1_000, operation: 2_000, outcome: 300 };

export interface ScriptedOptions {
  /** What the server says it is: a standalone server, unless told. */
  is?: 'standalone' | 'primary' | 'mongos';
  /** The options of the URL, from the `?` on. */
  query?: string;
  clock?: Clock;
  patience?: Patience;
}

/** A scripted server for one test. */
export async function scriptedServer(is: ScriptedOptions['is'] = 'standalone') {
  const server = await ScriptedServer.start();
  if (is === 'primary') server.hello = primaryOf(server);
  if (is === 'mongos') server.hello = { msg: 'isdbgrid' };
  onTestFinished(() => server.stop());
  return server;
}

/** A store on a server, for one test. */
export async function storeOn(
  server: ScriptedServer,
  options: ScriptedOptions = {},
): Promise<Store> {
  const query = new URLSearchParams(options.query);
  // How soon the driver looks again for a server that it lost; half a second, unless told.
  query.set('minHeartbeatFrequencyMS', '10');
  const store = await openMongoStore({
    url: `${server.url}?${query}`,
    clock: options.clock ?? Date.now,
    patience: options.patience ?? patience,
  });
  onTestFinished(() => store.close());
  return store;
}

/** Both, with what was received for the preparation forgotten. */
export async function scripted(options: ScriptedOptions = {}) {
  const server = await scriptedServer(options.is);
  const store = await storeOn(server, options);
  server.received.length = 0;
  return { server, store };
}
