import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { LatchkeyAdmin } from '@latchkey/client/admin';
import { freePort } from '@latchkey/test-kit/free-port';
import { slow } from '@latchkey/test-kit/long';
import { INSTALL_TIMEOUT_MS } from '@latchkey/test-kit/tools-from-lockfile';
import { createTestServer, type TestServer } from '@latchkey/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Browser, type Page } from './clients/browser.ts';
import { examplesFolder } from './support/examples-folder.ts';
import { listenerOf } from './support/fetch-listener.ts';
import { startLinkingProgram } from './support/linking-program.ts';
import { buildNextApplication } from './support/next/next.ts';
import { environment } from './support/service.ts';

// Links accounts with the programs of examples/linking, as their frameworks run them. The one of Express
// is in express.test.ts.

const file = (name: string) => join(examplesFolder, 'linking', name);

type Start = (port: string, env: Record<string, string>) => Promise<() => unknown>;

const programs: Record<string, Start> = {
  async 'fastify.ts'(port, env) {
    const words = [process.execPath, file('fastify.ts')];
    const options = { cwd: examplesFolder, env: environment({ ...env, PORT: port }) };
    return (await startLinkingProgram(words, port, options)).stop;
  },
  async 'hono.ts'(port, env) {
    for (const [name, value] of Object.entries({ ...env, PORT: port })) vi.stubEnv(name, value);
    const { default: app } = await import('../examples/linking/hono.ts');
    vi.unstubAllEnvs();
    const server = createServer(listenerOf(app.fetch)).listen(Number(port), '127.0.0.1');
    await once(server, 'listening');
    return () => {
      server.closeAllConnections();
      server.close();
    };
  },
  async next(port, env) {
    const { folder, start, remove } = await buildNextApplication(file('next'), '.');
    const words = [process.execPath, ...start.slice(0, -1), port];
    const settings = { ...env, REDIRECT_URI: `http://127.0.0.1:${port}/callback` };
    const options = { cwd: folder, env: environment(settings) };
    const { stop } = await startLinkingProgram(words, port, options);
    return async () => {
      await stop();
      await remove();
    };
  },
};

/** It installs and builds its framework. */
const SLOW = 'next';

for (const [name, start] of Object.entries(programs)) {
  describe(name, name === SLOW ? slow : {}, () => describeProgram(start));
}

function describeProgram(start: Start): void {
  let service: TestServer;
  let url: string;
  let stop: (() => unknown) | undefined;

  beforeAll(async () => {
    service = await createTestServer();
    const port = `${await freePort()}`;
    url = `http://127.0.0.1:${port}`;
    stop = await start(port, {
      LATCHKEY_URL: service.baseUrl,
      LATCHKEY_APPLICATION_SECRET: service.applicationSecret,
    });
  }, INSTALL_TIMEOUT_MS);
  afterAll(async () => {
    await stop?.();
    await service?.close();
  });

  /** A browser at the page of the application, which stops where the service would ask its user. */
  async function open(): Promise<{ browser: Browser; page: Page }> {
    const browser = new Browser(({ pathname }) => pathname === '/oauth/authorize');
    let page = await browser.open(url);
    if (page.text.includes('Sign in')) page = await browser.press(page, 'Sign in');
    expect(page.text).toContain('Welcome.');
    expect(page.text).toContain('href="/connect"');
    return { browser, page };
  }

  test('connects an account, once for two callbacks, and disconnects it', async () => {
    const { browser } = await open();
    const asked = await browser.open(`${url}/connect`);
    const callbackUrl = await service.approve(asked.url, { account: { display_name: 'Ada <3' } });
    service.dropNextAnswer('grants.convert');
    await Promise.all([browser.open(callbackUrl), browser.open(callbackUrl)]);
    const connected = await browser.open(url);
    expect(connected.text).toContain('Connected as Ada &lt;3');
    const ended = await browser.press(connected, 'Disconnect');
    expect(ended.text).toContain('Welcome.');
  });

  test('says that the user has not allowed it', async () => {
    const { browser } = await open();
    const asked = await browser.open(`${url}/connect`);
    const denied = await browser.open(await service.deny(asked.url));
    expect(denied.text).toContain('You have not allowed it.');
  });

  test('refuses the callback of another browser, and keeps users apart', async () => {
    const [{ browser }, { browser: other }] = await Promise.all([open(), open()]);
    const asked = await browser.open(`${url}/connect`);
    const callbackUrl = await service.approve(asked.url);
    expect((await other.open(callbackUrl)).text).toContain('That did not work.');
    expect((await browser.open(callbackUrl)).text).toContain('Connected as');
    expect((await other.open(url)).text).toContain('Welcome.');
  });

  test('notices that the account was disconnected at the service', async () => {
    const { browser } = await open();
    const asked = await browser.open(`${url}/connect`);
    const account = { username: 'grace' };
    await browser.open(await service.approve(asked.url, { account }));
    const admin = new LatchkeyAdmin({ baseUrl: service.baseUrl, adminSecret: service.adminSecret });
    const [{ id } = { id: '' }] = (await admin.accounts.list(account)).data;
    for (const { grant_id } of (await admin.grants.list({ account_id: id })).data) {
      await admin.grants.revoke({ grant_id });
    }
    const ended = await browser.open(url);
    expect(ended.text).toContain('Your account is no longer connected.');
  });
}
