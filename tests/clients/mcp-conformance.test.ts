import { glob, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@latchkey/test-kit/free-port';
import { installFromLockfile } from '@latchkey/test-kit/tools-from-lockfile';
import { expect, onTestFailed, onTestFinished, test } from 'vitest';
import { startProgram } from '../support/program.ts';
import { environment } from '../support/service.ts';
import { describeInWorlds } from './mcp/world.ts';

// The official conformance suite of the Model Context Protocol, as a client.

const suite = await installFromLockfile(
  fileURLToPath(new URL('mcp/conformance', import.meta.url)),
  'mcp-conformance',
).catch((error: Error) => error);
const program = join(`${suite}`, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** What it reports of a check. */
interface Check {
  id: string;
  status: string;
}

describeInWorlds('the conformance suite of MCP', suite, (world, open) => {
  test.each(['registered', 'documented'] as const)(
    'passes each check as a %s client',
    async (how) => {
      const output = await mkdtemp(join(tmpdir(), 'latchkey-conformance-'));
      onTestFinished(() => rm(output, { recursive: true }));
      const client = ['--client-id', await world.client(how, 'conformance')];
      const resource = ['--url', world.gateway.url, '--resource', world.mcp.url];
      const outputs = ['--port', String(await freePort()), '--output-dir', output];
      const run = await startProgram(
        [process.execPath, program, 'authorization', ...resource, ...client, ...outputs],
        { env: environment() },
        async (printed) => /^http\S+\/oauth\/authorize\?\S+$/m.exec(printed)?.[0],
      );
      onTestFinished(run.stop);
      onTestFailed(() => void process.stderr.write(run.printed()));
      const { page } = await open();
      await world.allow(page, run.url);
      await expect.poll(run.printed).toMatch(/^Total: \d+ passed, \d+ failed$/m);

      const checks: Check[] = [];
      for await (const file of glob('*/checks.json', { cwd: output })) {
        checks.push(...JSON.parse(await readFile(join(output, file), 'utf8')));
      }
      const statuses = Object.fromEntries(checks.map(({ id, status }) => [id, status]));
      expect(statuses).toEqual({
        'authorization-server-metadata': 'SUCCESS',
        'authorization-server-metadata-cimd': 'SUCCESS',
        'authorization-code-grant': 'SUCCESS',
      });
    },
  );
});
