import { describe, expect, inject, test } from 'vitest';
import { CEILINGS } from '../scripts/measure/ceilings.ts';
import { modulesOfVersion } from '../scripts/measure/modules.ts';
import {
  convertOnMongodb,
  convertOnSqlite,
  createApp,
  linkingFlow,
  type Way,
} from '../scripts/measure/ways.ts';

// A call that takes more steps than it did is harder to follow. If one of these fails, look first for the
// step that can go; `npm run measure` prints all figures.

function expectWithin({ files, functions }: Way, ceiling: Way): void {
  // Nothing that this measures runs in a handful of files: then it was not measured.
  expect(files).toBeGreaterThan(10);
  expect(functions).toBeGreaterThan(files);
  expect(files).toBeLessThanOrEqual(ceiling.files);
  expect(functions).toBeLessThanOrEqual(ceiling.functions);
}

describe('no more runs than the ceiling allows', () => {
  test('for a convert on SQLite', async () => {
    expectWithin(await convertOnSqlite(), CEILINGS['convert on SQLite']);
  });

  const mongodbUrl = inject('mongodbUrl');
  const notRun = mongodbUrl === undefined ? ' (not run: there is no MongoDB)' : '';
  test.skipIf(mongodbUrl === undefined)(`for a convert on MongoDB${notRun}`, async () => {
    expectWithin(await convertOnMongodb(mongodbUrl ?? ''), CEILINGS['convert on MongoDB']);
  });

  test('for the linking flow, from the authorization request to the convert', async () => {
    expectWithin(await linkingFlow(), CEILINGS['linking flow']);
  });

  test('for `latchkey app create`', async () => {
    expectWithin(await createApp(), CEILINGS['app create']);
  });
});

test('`latchkey --version` loads no more modules than the ceiling allows', async () => {
  const modules = await modulesOfVersion();
  expect(modules).toBeGreaterThan(10);
  expect(modules).toBeLessThanOrEqual(CEILINGS['--version'].modules);
});
