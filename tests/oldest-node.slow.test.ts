import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Latchkey } from '@latchkey/client';
import { INSTALL_TIMEOUT_MS } from '@latchkey/test-kit/tools-from-lockfile';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { installPackedSdk } from './support/packed-sdk.ts';
import { hasRuntimes, installRuntimes } from './support/runtimes/runtimes.ts';
import { environment, pairIn, run, startService, succeed } from './support/service.ts';

// The packed server on the oldest Node that is let in, and on the one below.

const note = hasRuntimes ? '' : ' (not run: it needs Linux on x64)';

describe.runIf(hasRuntimes)(`the packed server${note}`, () => {
  const env = environment();
  let folder: string;
  let script: string;
  let oldest: string;
  let below: string;

  beforeAll(async () => {
    const packages = await installRuntimes();
    oldest = join(packages, 'node-oldest/bin/node');
    below = join(packages, 'node-below/bin/node');
    folder = await mkdtemp(join(tmpdir(), 'latchkey-oldest-node-'));
    await installPackedSdk(folder, {}, { testing: true });
    script = join(folder, 'node_modules/@latchkey/server/dist/latchkey.js');
  }, INSTALL_TIMEOUT_MS);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  const enginesOf = async (name: string) =>
    JSON.parse(await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8')).engines;

  const useTestServer = [
    '--input-type=module',
    '--eval',
    `import { createTestServer } from '@latchkey/testing';
    const server = await createTestServer();
    console.log((await server.issueCode()).object);
    await server.close();`,
  ];

  test('is on the Nodes that its manifest says', async () => {
    const { node } = await enginesOf('@latchkey/server');
    expect(await enginesOf('@latchkey/testing')).toEqual({ node });
    const versionOf = (program: string) => succeed(program, ['--version'], { env });
    expect(await versionOf(oldest)).toBe(`${node.replace('>=', 'v')}.0\n`);
    const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(await versionOf(below)) ?? [];
    expect(node).toBe(`>=${major}.${Number(minor) + 1}`);
  });

  test('serves on the oldest one', async () => {
    const service = await startService({ node: oldest, script, cwd: folder, env });
    onTestFinished(service.kill);
    const { applicationSecret, code } = await vi.waitFor(() => pairIn(service.stdout()));
    const latchkey = new Latchkey({ baseUrl: service.url, applicationSecret });
    const { grant_id } = await latchkey.convert(code);
    expect(await latchkey.revoke(grant_id)).toMatchObject({ revoked: true });
    expect(await service.stop()).toBe(0);
    const printed = await succeed(oldest, useTestServer, { cwd: folder, env });
    expect(printed).toBe('grant_code\n');
  });

  test.each([
    ['serve', 78],
    ['doctor', 1],
    ['--version', 1],
  ])(
    'says with %s what the one below lacks, in one sentence, and exits with %i',
    async (word, exitCode) => {
      const stderr = expect.stringMatching(
        /^Latchkey needs Node 22\.13 or later, and .*\/node-below\/bin\/node is Node 22\.12\.0: .*\.\n$/,
      );
      const ended = await run(below, [script, word], { cwd: folder, env });
      expect(ended).toEqual({ exitCode, stdout: '', stderr });
    },
  );

  test('says it to programs that import it', async () => {
    const { exitCode, stderr } = await run(below, useTestServer, { cwd: folder, env });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('Error: Latchkey needs Node 22.13 or later, and');
  });
});
