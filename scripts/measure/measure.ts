// Prints how large the service is, and how much of it runs for what it is there for: `npm run measure`.
// With `--list`, also every function that runs, so that one which can go is found.
// The ceilings are those that `tests/measure.slow.test.ts` holds.
import { markdownTable } from '../../packages/test-kit/src/markdown-table.ts';
import { MongoDBUnavailable, startMongoDB } from '../../packages/test-kit/src/mongodb/start.ts';
import { PostgresqlUnavailable } from '../../packages/test-kit/src/postgresql/find-programs.ts';
import { startPostgresql } from '../../packages/test-kit/src/postgresql/start.ts';
import { CEILINGS } from './ceilings.ts';
import { changes } from './changes/changes.ts';
import { priceOf } from './changes/prove.ts';
import { commentShare, linesByFolder } from './lines.ts';
import { modulesOfVersion } from './modules.ts';
import { pricesOfChanges } from './price.ts';
import { sdkSizes } from './sdk.ts';
import {
  convertOnMongodb,
  convertOnPostgresql,
  convertOnSqlite,
  createApp,
  linkingFlow,
  type Way,
} from './ways.ts';

const format = (count: number) => count.toLocaleString('en');

function rowsOf(name: keyof typeof CEILINGS, measured: Record<string, number>): string[][] {
  const ceilings: Record<string, number> = CEILINGS[name];
  return Object.entries(measured).map(([unit, count]) => [
    `${name}: ${unit}`,
    format(count),
    format(ceilings[unit] ?? Number.NaN),
  ]);
}

const lists: string[] = [];

function rowsOfWay(name: keyof typeof CEILINGS, { names, ...size }: Way): string[][] {
  const lines = [...names].map(([path, functions]) => `  ${path}: ${functions.join(', ')}`);
  lists.push([`What runs for ${name}:`, ...lines].join('\n'));
  return rowsOf(name, size);
}

/** Nothing, if there is no such server. */
async function rowsOn(
  name: 'MongoDB' | 'PostgreSQL',
  start: () => Promise<{ url: string; stop(): Promise<void> }>,
  convert: (url: string) => Promise<Way>,
): Promise<string[][]> {
  try {
    const { url, stop } = await start();
    try {
      return rowsOfWay(`convert on ${name}`, await convert(url));
    } finally {
      await stop();
    }
  } catch (error) {
    const isMissing = error instanceof MongoDBUnavailable || error instanceof PostgresqlUnavailable;
    if (!isMissing) throw error;
    process.stderr.write(`${error.message}\nNothing is measured on ${name}.\n`);
    return [];
  }
}

const figures = [
  ['what', 'measured', 'ceiling'],
  ...rowsOfWay('convert on SQLite', await convertOnSqlite()),
  ...(await rowsOn('MongoDB', startMongoDB, convertOnMongodb)),
  ...(await rowsOn('PostgreSQL', startPostgresql, convertOnPostgresql)),
  ...rowsOfWay('linking flow', await linkingFlow()),
  ...rowsOfWay('app create', await createApp()),
  ...rowsOf('--version', { modules: await modulesOfVersion() }),
  ...changes.flatMap((change) => rowsOf(change.name, { files: priceOf(change) })),
  ['comments among the lines of the service', `${(commentShare() * 100).toFixed(1)} %`, ''],
  ...(await sdkSizes()).map(({ entry, bytes }) => [`${entry}: bytes`, format(bytes), '']),
];

const folders = linesByFolder();
const total = { folder: 'all', production: 0, test: 0 };
for (const { production, test } of folders) {
  total.production += production;
  total.test += test;
}
const lines = [
  ['lines of', 'production', 'tests'],
  ...[...folders, total].map(({ folder, production, test }) => [
    ...[folder, format(production), format(test)],
  ]),
];
const prices = [
  ['files that name one', 'production', 'tests', 'docs', 'generated', 'by hand'],
  ...pricesOfChanges().map(({ change, production, tests, docs, generated }) =>
    [change, production, tests, docs, generated, production + tests + docs].map(String),
  ),
];
const listed = process.argv.includes('--list') ? lists : [];
const printed = [...[figures, lines, prices].map(markdownTable), ...listed];
process.stdout.write(`${printed.join('\n\n')}\n`);
