// Runs the race and the abuse against each server. Prints what it measured, and writes what is public of
// it to results/races.md. `--only NAME` measures one server, and leaves the others' rows as they are.
import { parseArgs } from 'node:util';
import { Databases } from '../peers/databases.ts';
import { Unavailable } from '../peers/peer.ts';
import { readResults, writeResults } from './pages.ts';
import { cellsOf, type Measurement, publishable } from './published.ts';
import { ABUSES, RACE, REPLAYS, report } from './report.ts';
import { nameOf, type Server, servers } from './servers.ts';

const names = [...new Set(servers.map(nameOf))];
const { only } = parseArgs({ options: { only: { type: 'string', multiple: true } } }).values;
const unknown = only?.find((name) => !names.includes(name));
if (unknown !== undefined) {
  process.stderr.write(
    `There is no server '${unknown}'. Use --only with one of: ${names.join(', ')}.\n`,
  );
  process.exit(2);
}
// What is started ends with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const databases = new Databases();

async function measure({ server, store, start }: Server): Promise<Measurement> {
  process.stderr.write(`${server}, ${store} …\n`);
  const contender = await start(databases);
  try {
    const results = await contender.measure([RACE, ...ABUSES, ...REPLAYS]);
    const lacking = results.find(({ verdict }) => verdict === 'skipped');
    if (lacking) throw new Error(`${lacking.id}: ${lacking.reason}`);
    for (const { id, reason } of results) {
      if (reason !== null) process.stderr.write(`  ${id}: ${reason}\n`);
    }
    const date = new Date().toISOString().slice(0, 10);
    return { server, store, versions: contender.versions, date, rows: cellsOf(results) };
  } finally {
    await contender.close();
  }
}

const measured: Measurement[] = [];
let failures = 0;
for (const server of servers) {
  if (only !== undefined && !only.includes(nameOf(server))) continue;
  try {
    measured.push(await measure(server));
  } catch (error) {
    const isSkipped = error instanceof Unavailable;
    if (!isSkipped) failures++;
    const what = isSkipped ? 'is skipped' : 'could not be measured';
    process.stderr.write(
      `${server.server}, ${server.store}, ${what}: ${(error as Error).message}\n`,
    );
  }
}
await databases.stop();

process.stdout.write(`\n${report(measured)}`);

// Whoever was not measured now keeps the rows of the last time, with their date.
const earlier = await readResults();
const latest = servers.flatMap(({ server, store }) => {
  const isIt = (one: Measurement) => one.server === server && one.store === store;
  const [now, before] = [measured.find(isIt), earlier.find(isIt)];
  return now ? publishable(now, before) : (before ?? []);
});
await writeResults(latest);
process.exit(failures === 0 ? 0 : 1);
