import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeInBrowser, type WatchedPage } from '@latchkey/test-kit/chromium';
import { freePort } from '@latchkey/test-kit/free-port';
import {
  dropDatabase,
  freshName,
  nodeArgumentsFor,
  patientUrlOf,
} from '@latchkey/test-kit/mongodb/test-databases';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { examplesFolder } from '../support/examples-folder.ts';
import { Link } from '../support/mcp/link.ts';
import { type Sdk, sdks } from '../support/mcp/sdks.ts';
import { ADMIN_SECRET, operator } from '../support/operator.ts';
import { type RunningProgram, startProgram } from '../support/program.ts';
import {
  type Environment,
  environment,
  type ServiceProcess,
  startService,
} from '../support/service.ts';
import { type DocumentServer, startDocumentServer } from './mcp/documents.ts';

// The official MCP clients in TypeScript, unmodified, and the client of examples/mcp, with its MCP server
// and its host.

type Page = WatchedPage['page'];

describeInBrowser('an MCP client in TypeScript', (open) => {
  // Where the browser comes back to: the client listens on this device.
  const listener = createServer((_, response) => response.end('Go back to the client.'));
  let callback: string;
  beforeAll(async () => {
    await once(listener.listen(0, '127.0.0.1'), 'listening');
    callback = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/callback`;
  });
  afterAll(() => listener.close());

  describe('SQLite', () => testStore(undefined));
  const mongodb = inject('mongodbUrl');
  const notRun = mongodb ? '' : ' (not run: there is no MongoDB)';
  describe.runIf(mongodb)(`MongoDB${notRun}`, () => testStore(mongodb));

  function testStore(server: string | undefined): void {
    const database = freshName();
    let folder: string;
    let documents: DocumentServer;
    let service: ServiceProcess;
    let example: RunningProgram;
    let [hostUrl, mcpUrl] = ['', ''];

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'latchkey-mcp-'));
      documents = await startDocumentServer(['http://127.0.0.1/callback']);
      const address = async () => `http://127.0.0.1:${await freePort()}`;
      const [publicUrl, ...urls] = [await address(), await address(), await address()];
      [hostUrl = '', mcpUrl = ''] = urls;
      const settings: Environment = {
        ADMIN_SECRET,
        PORT: new URL(publicUrl).port,
        PUBLIC_URL: publicUrl,
        SIGN_IN_URL: `${hostUrl}/link`,
        ...(server && { DATABASE_URL: patientUrlOf(server, database) }),
        NODE_OPTIONS: nodeArgumentsFor(server).join(' '),
        CLIENT_REGISTRATION: 'on',
        ...documents.settings,
      };
      service = await startService({ cwd: folder, env: environment(settings) });
      example = await startProgram(
        [process.execPath, join(examplesFolder, 'mcp/start.ts')],
        {
          env: environment({
            ...{ LATCHKEY_URL: publicUrl, ADMIN_SECRET, HOST_URL: hostUrl, MCP_URL: mcpUrl },
          }),
        },
        async (printed) => /^The MCP server: (\S+)$/m.exec(printed)?.[1],
      );
    });
    afterAll(async () => {
      await example?.stop();
      await service?.stop();
      await documents?.close();
      if (server) await dropDatabase(server, database);
      await rm(folder, { recursive: true, force: true });
    });

    /** From the authorization request to the callback, as a user. Returns the address of the callback. */
    async function allow(page: Page, authorizationUrl: string, shown: string): Promise<URL> {
      const callback = new URL(authorizationUrl).searchParams.get('redirect_uri') ?? '';
      await page.goto(authorizationUrl);
      await page.getByRole('button', { name: 'Ada Lovelace' }).click();
      await page.getByRole('heading', { level: 1 }).getByText(shown).first().waitFor();
      await page.getByText('Read your notes').waitFor();
      await page.getByText(`access to Notes at ${new URL(mcpUrl).host}`).waitFor();
      await page.getByText('runs on this device').waitFor();
      // The consent page takes no click in the first moments after a focus.
      await expect
        .poll(async () => {
          if (page.url().startsWith(callback)) return true;
          await page.getByRole('button', { name: 'Allow' }).click({ timeout: 2_000 });
          await page.waitForURL(`${callback}**`, { timeout: 20_000 });
          return true;
        })
        .toBe(true);
      return new URL(page.url());
    }

    /** Ends the connection, on the page that lists them. */
    async function disconnect(page: Page, shown: string): Promise<void> {
      await page.goto(hostUrl);
      await page.getByRole('button', { name: 'Connected applications' }).click();
      await page.getByText(shown).first().waitFor();
      await page.getByRole('link', { name: /disconnect/i }).click();
      await page.getByRole('button', { name: /disconnect/i }).click();
      await page.getByRole('button', { name: /disconnect/i }).waitFor({ state: 'detached' });
    }

    /** Links, calls a tool, and is disconnected by the user. */
    async function walk(sdk: Sdk, link: Link, shown: string): Promise<void> {
      await expect(sdk.connect(example.url, link)).rejects.toThrow(sdk.Unauthorized);
      const [authorizationUrl = ''] = link.authorizationUrls;
      const { searchParams: asked } = new URL(authorizationUrl);
      expect([asked.get('resource'), asked.get('scope')]).toEqual([example.url, 'notes.read']);

      const { page, complaints } = await open();
      const answer = await allow(page, authorizationUrl, shown);
      expect(answer.searchParams.get('state')).toBe(link.state());
      expect(complaints).toEqual([]);
      await sdk.finish(example.url, link, answer.href);

      const client = await sdk.connect(example.url, link);
      const listNotes = () => client.callTool({ name: 'list_notes' });
      const notes = { content: [{ type: 'text', text: 'Sketch of the engine' }] };
      expect(await listNotes()).toMatchObject(notes);

      await disconnect(page, shown);
      await expect(listNotes()).rejects.toThrow(sdk.Unauthorized);
      const refused = await fetch(example.url, {
        method: 'POST',
        headers: { Authorization: `Bearer ${link.grant?.access_token}` },
      });
      expect(refused.status).toBe(401);
      expect(refused.headers.get('WWW-Authenticate')).toContain('error="invalid_token"');
      await client.close();
    }

    const documented = async () => {
      const path = '/applications?documents=true';
      const { data } = await operator<{ data: { document_uri: string }[] }>(service, 'GET', path);
      return data.map(({ document_uri }) => document_uri);
    };

    test.each(Object.entries(sdks))(
      'version %s links without being registered, and is refused once it is disconnected',
      async (version, sdk) => {
        const document = documents.addressOf(`Assistant-${version.replaceAll(/\W+/g, '-')}`);
        const before = await documented();
        const link = new Link(callback, { document });
        expect(before).not.toContain(document);
        await walk(sdk, link, new URL(document).hostname);
        expect(link.client).toMatchObject({ client_id: document });
        expect((await documented()).sort()).toEqual([...before, document].sort());
      },
    );

    test('the example registers itself, links and prints what the tool lists', async () => {
      const client = await startProgram(
        [process.execPath, join(examplesFolder, 'mcp/client.ts')],
        { env: environment({ SERVER_URL: example.url }) },
        async (printed) => /^Open (\S+)\n/m.exec(printed)?.[1],
      );
      onTestFinished(client.stop);
      const { page } = await open();
      await allow(page, client.url, 'An application on this device');
      await expect.poll(() => client.printed()).toMatch(/^Sketch of the engine$/m);
      await expect.poll(() => page.textContent('body')).toBe('Go back to the terminal.');
    });
  }
});
