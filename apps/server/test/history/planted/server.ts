// The real server over a store with a mistake, which PLANT names, and with a clock that is CLOCK_AHEAD ms fast.
// Run by plain node instead of `latchkey serve`.

import { openLog } from '../../../src/open-log.ts';
import { loadSettings } from '../../../src/settings.ts';
import { startServer } from '../../../src/start-server.ts';
import { type PlantName, plants } from './plant.ts';

const plant = plants[process.env.PLANT as PlantName];
const settings = loadSettings(process.env);
const ahead = Number(process.env.CLOCK_AHEAD ?? 0);
const { url, service, close } = await startServer(settings, openLog(settings).log, {
  clock: () => Date.now() + ahead,
});
// Everything calls the methods on this one object.
const sound = { ...service.store };
Object.assign(service.store, plant(sound));
process.stdout.write(`Latchkey listens on ${url}\n`);
process.once('SIGTERM', () => close().then(() => process.exit()));
