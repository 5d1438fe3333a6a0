import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { environment, run } from './support/service.ts';

// `npm run release:rehearse` tests what packing and publishing do. This is what they refuse.

const runScript = (name: string, words: string[]) =>
  run(
    process.execPath,
    [fileURLToPath(new URL(`../scripts/release/${name}.ts`, import.meta.url)), ...words],
    { env: environment() },
  );

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-release-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('packs into a folder that it is told', async () => {
  expect(await runScript('pack', [])).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'Say where to put the tarballs: npm run release:pack -- FOLDER\n',
  });
});

test.each([[[]], [['.']], [['--registry=http://127.0.0.1:9']], [['.', '--registry=no address']]])(
  'publishes nothing with %j',
  async (words) => {
    expect(await runScript('publish', words)).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'Say what to publish, and where: npm run release:publish -- FOLDER --registry=URL\n',
    });
  },
);

test('publishes the five packages of one version, or nothing', async () => {
  const publish = () => runScript('publish', [folder, '--registry=http://127.0.0.1:9']);
  const refusal = { exitCode: 1, stdout: '', stderr: expect.stringContaining('of one version') };
  expect(await publish()).toEqual(refusal);
  const names = ['schema-1.0.0', 'client-1.0.0', 'server-1.0.0', 'testing-1.0.1'];
  for (const name of [...names.map((each) => `latchkey-${each}`), 'oauth-race-1.0.0']) {
    await writeFile(join(folder, `${name}.tgz`), '');
    await writeFile(join(folder, `${name}.cdx.json`), '');
  }
  expect(await publish()).toEqual(refusal);
  await rename(
    join(folder, 'latchkey-testing-1.0.1.tgz'),
    join(folder, 'latchkey-testing-1.0.0.tgz'),
  );
  expect(await publish()).toEqual(refusal);
});
