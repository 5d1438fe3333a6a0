import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installFromRequirements } from '@latchkey/test-kit/tools-from-requirements';
import { expect, onTestFailed, onTestFinished, test } from 'vitest';
import { type RunningProgram, startProgram } from '../support/program.ts';
import { type Environment, environment } from '../support/service.ts';
import { NOTE } from './mcp/server.ts';
import { describeInWorlds, SCOPE } from './mcp/world.ts';

// MCP clients in Python, unmodified, call a tool of a guarded server, until the user disconnects them.

const folder = fileURLToPath(new URL('mcp/python', import.meta.url));
const python = await installFromRequirements(
  join(folder, 'requirements.txt'),
  'mcp-clients',
  process.env,
).catch((error: Error) => error);

/** What they print: the page that they open, and what the tool has told them. */
const AUTHORIZATION_URL = /^http\S+\/oauth\/authorize\?\S+$/gm;
const ANSWER = new RegExp(`^${NOTE}$`, 'gm');

/** Starts a client, and waits for its first authorization request. */
async function startClient(program: string, settings: Environment): Promise<RunningProgram> {
  const client = await startProgram(
    [join(`${python}`, 'python'), join(folder, program)],
    {
      env: environment({
        // The command that opens pages: the browser is the test's.
        BROWSER: 'echo %s',
        PYTHONDONTWRITEBYTECODE: '1',
        PYTHONUNBUFFERED: '1',
        ...settings,
      }),
    },
    async (printed) => printed.match(AUTHORIZATION_URL)?.[0],
  );
  onTestFinished(client.stop);
  onTestFailed(() => void process.stderr.write(client.printed()));
  return client;
}

describeInWorlds('an MCP client in Python', python, (world, open) => {
  test.each([
    { library: 'mcp', program: 'sdk_client.py' },
    { library: 'fastmcp', program: 'fastmcp_client.py' },
  ])(
    '$library, which nobody registered, links, calls a tool and is disconnected',
    async ({ library, program }) => {
      const { mcp, gateway } = world;
      const before = mcp.statuses.length;
      const statuses = () => mcp.statuses.slice(before);
      const client_id = await world.client('documented', library);
      const client = await startClient(program, { MCP_URL: mcp.url, CLIENT_DOCUMENT: client_id });
      expect(statuses()).toEqual([401]);
      const asked = Object.fromEntries(new URL(client.url).searchParams);
      expect(asked).toMatchObject({ client_id, resource: mcp.url, scope: SCOPE });

      const { page } = await open();
      const consent = await world.allow(page, client.url);
      const hosts = [new URL(client_id).hostname, new URL(mcp.url).host];
      for (const part of [library, 'Notes', ...hosts]) expect(consent).toContain(part);
      const printed = (pattern: RegExp) => client.printed().match(pattern)?.length ?? 0;
      await expect.poll(() => printed(ANSWER)).toBe(1);
      const token = gateway.seen.findLast(({ path }) => path === '/oauth/token');
      expect(token?.parameters).toEqual(expect.arrayContaining(['resource', 'code_verifier']));
      expect(statuses().filter((status) => status === 401)).toHaveLength(1);

      const shown = `${new URL(client_id).hostname}, which calls itself “${library}”`;
      await world.disconnect(page, shown);
      client.write('again\n');
      // It asks the user anew.
      await expect.poll(() => printed(AUTHORIZATION_URL)).toBe(2);
      expect(statuses().at(-1)).toBe(401);
      expect(printed(ANSWER)).toBe(1);
      await world.allow(page, client.printed().match(AUTHORIZATION_URL)?.[1] ?? '');
      await expect.poll(() => printed(ANSWER)).toBe(2);
    },
  );
});
