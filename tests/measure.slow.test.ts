import { describe, expect, inject, test } from 'vitest';
import { CEILINGS } from '../scripts/measure/ceilings.ts';
import { modulesOfVersion } from '../scripts/measure/modules.ts';
import { pricesOfChanges } from '../scripts/measure/price.ts';
import {
  convertOnMongodb,
  convertOnPostgresql,
  convertOnSqlite,
  createApp,
  linkingFlow,
  type Size,
} from '../scripts/measure/ways.ts';

// A call that takes more steps than it did is harder to follow. If one of these fails, look first for the
// step that can go: `npm run measure -- --list` prints all of them.

const TRIES = 3;

/** On a busy machine a body can arrive behind its headers, which takes more functions: the least counts. */
async function expectWithin(measure: () => Promise<Size>, ceiling: Size): Promise<void> {
  const isWithin = ({ files, functions }: Size) =>
    files <= ceiling.files && functions <= ceiling.functions;
  let way = await measure();
  for (let tries = 1; tries < TRIES && !isWithin(way); tries++) way = await measure();
  // Nothing that this measures runs in a handful of files: then it was not measured.
  expect(way.files).toBeGreaterThan(10);
  expect(way.functions).toBeGreaterThan(way.files);
  expect(way.files).toBeLessThanOrEqual(ceiling.files);
  expect(way.functions).toBeLessThanOrEqual(ceiling.functions);
}

describe('no more runs than the ceiling allows', () => {
  test('for a convert on SQLite', async () => {
    await expectWithin(convertOnSqlite, CEILINGS['convert on SQLite']);
  });

  for (const [name, url, convert] of [
    ['MongoDB', inject('mongodbUrl'), convertOnMongodb],
    ['PostgreSQL', inject('postgresqlUrl'), convertOnPostgresql],
  ] as const) {
    const notRun = url === undefined ? ` (not run: there is no ${name})` : '';
    test.skipIf(url === undefined)(`for a convert on ${name}${notRun}`, async () => {
      await expectWithin(() => convert(url ?? ''), CEILINGS[`convert on ${name}`]);
    });
  }

  test('for the linking flow, from the authorization request to the convert', async () => {
    await expectWithin(linkingFlow, CEILINGS['linking flow']);
  });

  test('for `latchkey app create`', async () => {
    await expectWithin(createApp, CEILINGS['app create']);
  });
});

test('`latchkey --version` loads no more modules than the ceiling allows', async () => {
  const modules = await modulesOfVersion();
  expect(modules).toBeGreaterThan(10);
  expect(modules).toBeLessThanOrEqual(CEILINGS['--version'].modules);
});

// A renamed example would cost nothing.
test('every change whose price is counted is named in the sources, the tests and the pages', () => {
  for (const { change, ...files } of pricesOfChanges()) {
    const { production, tests, docs } = files;
    expect(Math.min(production, tests, docs), change).toBeGreaterThan(0);
  }
});
