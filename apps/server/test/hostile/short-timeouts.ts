// Runs the service with timeouts of a few seconds, for tests that can't wait for the real ones. Run by
// plain node.

import { openLog } from '../../src/open-log.ts';
import { loadSettings } from '../../src/settings.ts';
import { startServer } from '../../src/start-server.ts';

const settings = loadSettings(process.env);
const { log, close } = openLog(settings);
const timeouts = { headers: 5_000, request: 10_000, response: 10_000 };
const server = await startServer(settings, log, { timeouts });
process.stdout.write(`Latchkey listens on ${server.url}\n`);
process.once('SIGTERM', () => server.close().then(close));
