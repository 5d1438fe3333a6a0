/**
 * The Latchkey service, for programs that start it themselves. Most operators run `latchkey serve`
 * instead. These types have nothing of the inside of the service: that is for tests, in `testing.ts`.
 *
 * @module
 */

// First: an older Node is told so before anything fails on it.
import './supported-node.ts';

import type { Log } from '@latchkey/rules/log/log';
import type { Settings } from './settings.ts';
import {
  type RunningServer,
  type StartOptions,
  startServer as startOpenServer,
} from './start-server.ts';

export { openLog } from './open-log.ts';
export { loadSettings } from './settings.ts';
export { CannotListen } from './start-server.ts';
export type { Log, RunningServer, Settings, StartOptions };

/** @param log - from `openLog`; with another one, AUDIT=required knows of no loss */
export const startServer: (
  settings: Settings,
  log: Log['log'],
  options?: StartOptions,
) => Promise<RunningServer> = startOpenServer;
