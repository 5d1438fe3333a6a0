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
import {
  type OAuthClientProvider,
  UnauthorizedError,
} from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformation, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { examplesFolder } from '../support/examples-folder.ts';
import { ADMIN_SECRET, operator } from '../support/operator.ts';
import { type RunningProgram, startProgram } from '../support/program.ts';
import {
  type Environment,
  environment,
  type ServiceProcess,
  startService,
} from '../support/service.ts';
import { type DocumentServer, startDocumentServer } from './mcp/documents.ts';

// The official MCP client in TypeScript, unmodified, with the MCP server of examples/mcp and its host.

/** A client's memory, and where the SDK sends the user's browser. */
class Link implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadata: { redirect_uris: string[] };
  readonly clientMetadataUrl?: string;
  client: OAuthClientInformation | undefined;
  authorizationUrl = '';
  grant: OAuthTokens | undefined;
  verifier = '';

  /** @param known - the address of the client's document, or the id that it is registered with */
  constructor(redirectUrl: string, known: { document: string } | { id: string }) {
    this.redirectUrl = redirectUrl;
    this.clientMetadata = { redirect_uris: [redirectUrl] };
    if ('document' in known) this.clientMetadataUrl = known.document;
    else this.client = { client_id: known.id };
  }
  state = () => 'the-state-of-the-client';
  clientInformation = () => this.client;
  saveClientInformation = (client: OAuthClientInformation) => {
    this.client = client;
  };
  codeVerifier = () => this.verifier;
  saveCodeVerifier = (verifier: string) => {
    this.verifier = verifier;
  };
  redirectToAuthorization = ({ href }: URL) => {
    this.authorizationUrl = href;
  };
  tokens = () => this.grant;
  saveTokens = (tokens: OAuthTokens) => {
    this.grant = tokens;
  };
}

type Page = WatchedPage['page'];

describeInBrowser('the MCP client in TypeScript', (open) => {
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

    const transportOf = (link: Link) =>
      new StreamableHTTPClientTransport(new URL(example.url), { authProvider: link });
    const newClient = () => new Client({ name: 'client', version: '1.0.0' });
    const listNotes = (client: Client) => client.callTool({ name: 'list_notes' });

    /** From the authorization request to the callback, as a user. Returns the address of the callback. */
    async function allow(page: Page, authorizationUrl: string, shown: string): Promise<URL> {
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
    async function walk(link: Link, shown: string): Promise<void> {
      const stranger = transportOf(link);
      await expect(newClient().connect(stranger)).rejects.toThrow(UnauthorizedError);
      const { searchParams: asked } = new URL(link.authorizationUrl);
      expect([asked.get('resource'), asked.get('scope')]).toEqual([example.url, 'notes.read']);

      const { page, complaints } = await open();
      const { searchParams: answer } = await allow(page, link.authorizationUrl, shown);
      expect(answer.get('state')).toBe(link.state());
      expect(complaints).toEqual([]);
      await stranger.finishAuth(answer.get('code') ?? '');

      const client = newClient();
      await client.connect(transportOf(link));
      const notes = { content: [{ type: 'text', text: 'Sketch of the engine' }] };
      expect(await listNotes(client)).toEqual(notes);

      await disconnect(page, shown);
      await expect(listNotes(client)).rejects.toThrow(UnauthorizedError);
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

    test('links without being registered, and is refused once it is disconnected', async () => {
      const document = documents.addressOf('Assistant');
      const link = new Link(callback, { document });
      expect(await documented()).toEqual([]);
      await walk(link, new URL(document).hostname);
      expect(link.client).toMatchObject({ client_id: document });
      expect(await documented()).toEqual([document]);
    });

    test('links as a registered application, and is refused once it is disconnected', async () => {
      const { id } = await operator<{ id: string }>(service, 'POST', '/applications', {
        ...{ name: 'Registered Assistant', redirect_uris: [callback], public: true },
      });
      await walk(new Link(callback, { id }), 'Registered Assistant');
    });
  }
});
