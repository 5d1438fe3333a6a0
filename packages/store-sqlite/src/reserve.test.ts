import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { reserveBeside } from './reserve.ts';

async function newPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-reserve-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'latchkey.db');
}

test('the reserve gives room until nothing is left', async () => {
  const path = await newPath();
  await writeFile(`${path}-reserve`, Buffer.alloc(1_500_000));
  const reserve = reserveBeside(path);
  const given = [1, 2, 3].map(() => reserve.give({ ends: true }));
  expect(given).toEqual([true, true, false]);
});

// A write that finds the disk full calls it: an error would end the process.
test('a reserve that can not be made smaller gives nothing', async () => {
  const path = await newPath();
  await mkdir(`${path}-reserve`);
  expect(reserveBeside(path).give({ ends: true })).toBe(false);
});
