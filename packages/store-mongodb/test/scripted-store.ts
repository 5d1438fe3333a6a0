import type { Clock } from '@latchkey/domain/clock';
import type { Timeouts } from '@latchkey/store/server-store';
import type { Store } from '@latchkey/store/store';
import { onTestFinished } from 'vitest';
import { openMongoStore } from '../src/mongo-store.ts';
import { primaryOf, ScriptedServer } from './scripted-server.ts';

/** Far more than a call takes that succeeds. */
const timeouts: Timeouts = { connect: 5_000, operation: 2_000, outcome: 5_000, indexCheck: 60_000 };

/** For calls that fail by a timeout. */
export const shortTimeouts: Timeouts = {
  connect: 1_000,
  operation: 2_000,
  outcome: 300,
  indexCheck: 60_000,
};

export interface ScriptedOptions {
  /** What the server says it is; a standalone server by default. */
  is?: 'standalone' | 'primary' | 'mongos';
  /** The options of the URL. */
  query?: string;
  clock?: Clock;
  timeouts?: Timeouts;
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
  // The driver looks for a lost server after this time, half a second by default.
  query.set('minHeartbeatFrequencyMS', '10');
  const store = await openMongoStore({
    url: `${server.url}?${query}`,
    clock: options.clock ?? Date.now,
    timeouts: options.timeouts ?? timeouts,
  });
  onTestFinished(() => store.close());
  return store;
}

/** A server and a store on it, without the commands of the preparation in `received`. */
export async function scripted(options: ScriptedOptions = {}) {
  const server = await scriptedServer(options.is);
  const store = await storeOn(server, options);
  server.received.length = 0;
  return { server, store };
}
