import { describeInBrowser, type OpenPage, type WatchedPage } from '@latchkey/test-kit/chromium';
import {
  dropDatabase,
  freshName,
  nodeArgumentsFor,
  urlOf,
} from '@latchkey/test-kit/mongodb/test-databases';
import { afterAll, beforeAll, describe, inject, test } from 'vitest';
import type { Environment } from '../../support/service.ts';
import { type Deployment, startDeployment } from '../deployment.ts';
import { ADA } from '../host.ts';
import { startDocumentServer } from './documents.ts';
import { startMcpServer, type WatchedServer } from './server.ts';

type Page = WatchedPage['page'];

/** The scope that the MCP server requires. */
export const SCOPE = 'notes.read';

/** Latchkey, a host with one account, and an MCP server whose tools need a grant for it. */
export interface World extends Deployment {
  readonly mcp: WatchedServer;
  /** Makes a client without a secret, which is registered or has a document. Returns its `client_id`. */
  client(how: 'registered' | 'documented', name: string): Promise<string>;
  /**
   * Signs in and allows what a client asks for.
   *
   * @returns the text of the consent page
   */
  allow(page: Page, authorizationUrl: string): Promise<string>;
  /** Disconnects a client on the page of the account's connections. */
  disconnect(page: Page, name: string): Promise<void>;
}

const mongodbUrl = inject('mongodbUrl');

/**
 * Runs a suite on each store, in a browser.
 *
 * @param installed - where the clients are, or why they are not; in CI, the latter is a failure
 */
export function describeInWorlds(
  title: string,
  installed: string | Error,
  suite: (world: World, open: OpenPage) => void,
): void {
  if (installed instanceof Error) {
    if (process.env.CI) throw installed;
    process.stderr.write(`${installed.message}\n`);
  }
  for (const store of ['SQLite', 'MongoDB']) {
    const here = `${title} on ${store}`;
    const missing =
      (installed instanceof Error && 'it is not installed') ||
      (store === 'MongoDB' && !mongodbUrl && 'there is no MongoDB');
    if (missing) {
      describe.skip(`${here} (not run: ${missing})`, () => test('passes'));
      continue;
    }
    describeInBrowser(here, (open) => {
      const world = {} as World;
      beforeAll(async () => {
        Object.assign(world, await startWorld(store === 'MongoDB' ? mongodbUrl : undefined));
      });
      afterAll(() => world.close?.());
      suite(world, open);
    });
  }
}

async function startWorld(mongodb: string | undefined): Promise<World> {
  const database = mongodb === undefined ? undefined : databaseOn(mongodb);
  const redirect_uris = ['http://127.0.0.1/callback', 'http://localhost/callback'];
  const documents = await startDocumentServer(redirect_uris);
  const settings = { ...documents.settings, ...database?.settings };
  const deployment = await startDeployment('', settings);
  const { admin, gateway } = deployment;
  const mcp = await startMcpServer(gateway.url);
  await admin('PUT', `/scopes/${SCOPE}`, { title: 'Read your notes' });
  await admin('POST', '/resources', { resource: mcp.url, name: 'Notes', default_scopes: [SCOPE] });
  return {
    ...deployment,
    mcp,

    async client(how, name) {
      if (how === 'documented') return documents.addressOf(name);
      const input = { name, public: true, redirect_uris };
      return (await admin<{ id: string }>('POST', '/applications', input)).id;
    },

    async allow(page, authorizationUrl) {
      await page.goto(authorizationUrl);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      const button = page.getByRole('button', { name: 'Allow', exact: true });
      await button.waitFor();
      const text = (await page.locator('main').textContent()) ?? '';
      await button.click();
      await page.waitForURL('http://*/callback?*');
      return text;
    },

    async disconnect(page, name) {
      const input = { page: 'connections', account_id: ADA.id, return_url: gateway.url };
      await page.goto((await admin<{ url: string }>('POST', '/pages', input)).url);
      await page.getByRole('link', { name: `Disconnect ${name}` }).click();
      await page.getByRole('button', { name: 'Disconnect', exact: true }).click();
      await page.getByRole('status').getByText('can no longer use your account').waitFor();
    },

    async close() {
      await mcp.close();
      await deployment.close();
      await documents.close();
      await database?.remove();
    },
  };
}

/** A database of its own on the MongoDB of the tests. */
export function databaseOn(server: string): { settings: Environment; remove(): Promise<void> } {
  const name = freshName();
  const DATABASE_URL = urlOf(server, name);
  const NODE_OPTIONS = nodeArgumentsFor(DATABASE_URL).join(' ');
  return { settings: { DATABASE_URL, NODE_OPTIONS }, remove: () => dropDatabase(server, name) };
}
