import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { environment, run } from './support/service.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

test('what was not built is not packed, and the message says how to build it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-pack-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true });
  for (const file of ['packages/schema/package.json', 'apps/server/src/settings.json']) {
    await cp(join(root, file), join(folder, file));
  }
  const words = [join(folder, 'scripts/pack.mjs'), '--schema', join(folder, 'packed')];
  const { exitCode, stderr } = await run(process.execPath, words, {
    cwd: folder,
    env: environment({}),
  });
  expect(stderr).toMatch(/^packages\/schema\/dist\/\S+ is not built\. Run: npm run build\n$/);
  expect(exitCode).toBe(1);
  expect(await readdir(folder)).not.toContain('packed');
});
