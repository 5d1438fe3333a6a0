import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { decode } from '../../packages/race/src/http/html.ts';
import type { RunningProgram } from '../support/program.ts';
import { environment, succeed } from '../support/service.ts';
import { tsc } from '../support/tsc.ts';
import { Browser, type Page } from './browser.ts';
import { type Client, clients } from './clients.ts';
import { type Deployment, SCOPE, startDeployment } from './deployment.ts';
import { ADA } from './host.ts';
import { install, folder as programs, startApplication } from './programs.ts';
import { wrongSettings } from './wrong-settings.ts';

// Applications with OAuth libraries, each in a process of its own, link an account at Latchkey.

const installed = await install();
const reasons = Object.values(installed).filter((outcome) => outcome instanceof Error);
for (const { message } of reasons) process.stderr.write(`${message}\n`);

if (process.env.CI) {
  test('the libraries of every language are installed', () => expect(reasons).toEqual([]));
}

if (!(installed.javascript instanceof Error)) {
  test('the programs in TypeScript compile', async () => {
    await succeed(tsc, ['-p', join(programs, 'javascript')], { cwd: programs, env: environment() });
  });
}

describe.each(['', '/latchkey'])('where PUBLIC_URL has the path "%s"', (prefix) => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await startDeployment(prefix);
  });
  afterAll(() => deployment?.close());

  /** The tests of a client whose library is installed. */
  function suite(client: Client, command: [string, ...string[]]): void {
    let registered: { id: string; secret?: string };
    let application: RunningProgram;

    beforeAll(async () => {
      deployment.gateway.seen.length = 0;
      registered = await deployment.admin('POST', '/applications', {
        name: client.library,
        redirect_uris: [`http://127.0.0.1${client.callbackPath}`],
        public: client.authentication === 'none',
      });
      application = await startApplication(command, {
        LATCHKEY_URL: deployment.gateway.url,
        CLIENT_ID: registered.id,
        CLIENT_SECRET: registered.secret ?? '',
        // oauthlib asks for https, also on a loopback address.
        OAUTHLIB_INSECURE_TRANSPORT: '1',
      });
    });
    afterAll(() => application?.stop());
    beforeEach(({ onTestFailed }) => {
      onTestFailed(() => void process.stderr.write(application.printed()));
    });

    /** Goes from the application to the host's sign-in page, and presses a button there. */
    async function signIn(browser: Browser, button: string): Promise<Page> {
      let page = await browser.open(`${application.url}/connect`);
      // Auth.js has a page of its own first.
      if (page.url.origin === application.url) page = await browser.press(page, 'Sign in with');
      return browser.press(page, button);
    }

    /** The account as the application reads it. */
    async function account(browser: Browser) {
      const { status, text } = await browser.open(`${application.url}/account`);
      return { status, username: status === 200 ? JSON.parse(text).username : null };
    }
    const linked = { status: 200, username: ADA.username };
    const unlinked = { status: 401, username: null };

    /** What the account has allowed the application, as Latchkey lists it; undefined without a link. */
    async function allowed(): Promise<string[] | undefined> {
      type Connection = { application: { id: string }; scopes: { scope: string }[] };
      const path = `/accounts/${ADA.id}/connections`;
      const { data } = await deployment.admin<{ data: Connection[] }>('GET', path);
      const connection = data.find(({ application: { id } }) => id === registered.id);
      return connection?.scopes.map(({ scope }) => scope);
    }

    /** Ends the link at Latchkey. */
    const disconnect = () =>
      deployment.admin('DELETE', `/accounts/${ADA.id}/connections/${registered.id}`);

    /** A browser that stops before the callback, and the callback. */
    async function stopBeforeCallback(): Promise<{ browser: Browser; callback: URL }> {
      const browser = new Browser((url) => url.searchParams.has('code'));
      const { url: callback, status } = await signIn(browser, 'Sign in and allow');
      expect({ status, path: callback.pathname }).toEqual({ status: 0, path: client.callbackPath });
      return { browser, callback };
    }

    test('links on the consent page, reads the account, introspects, and ends the link', async () => {
      const browser = new Browser();
      const consent = await signIn(browser, 'Sign in');
      expect(consent.url.href).toContain(`${deployment.gateway.url}/link/`);
      await browser.press(consent, 'Allow');
      expect(await account(browser)).toEqual(linked);
      expect(await allowed()).toEqual([SCOPE]);

      const introspect = () => browser.post(`${application.url}/introspect`);
      const before = await introspect();
      expect(before.status).toBe(client.introspects ? 200 : 404);
      if (client.introspects) {
        expect(JSON.parse(before.text)).toMatchObject({
          active: true,
          client_id: registered.id,
          sub: ADA.id,
          username: ADA.username,
          scope: SCOPE,
          iss: deployment.gateway.url,
        });
      }

      const revoke = await browser.post(`${application.url}/revoke`);
      expect(revoke.status).toBe(client.revokes ? 200 : 404);
      if (!client.revokes) await disconnect();
      expect(await allowed()).toBeUndefined();
      expect(await account(browser)).toEqual(unlinked);
      expect(deployment.gateway.seen.at(-1)?.path).toBe('/v1/account');
      const after = client.introspects ? JSON.parse((await introspect()).text) : { active: false };
      expect(after).toEqual({ active: false });
    });

    test('links where the host asks for the consent itself', async () => {
      const browser = new Browser();
      await signIn(browser, 'Sign in and allow');
      expect(await account(browser)).toEqual(linked);
      await disconnect();
      expect(await account(browser)).toEqual(unlinked);
    });

    test.each(['on the consent page', 'at the host'])(
      'links nothing after a no %s',
      async (where) => {
        const before = deployment.gateway.seen.length;
        const browser = new Browser();
        if (where === 'at the host') await signIn(browser, 'Cancel');
        else await browser.press(await signIn(browser, 'Sign in'), 'Deny');
        expect(await account(browser)).toEqual(unlinked);
        expect(await allowed()).toBeUndefined();
        const paths = deployment.gateway.seen.slice(before).map(({ path }) => path);
        expect(paths).not.toContain('/oauth/token');
      },
    );

    test('refuses the callback of another browser', async () => {
      const { callback } = await stopBeforeCallback();
      const fresh = new Browser();
      await fresh.open(callback);
      expect(await account(fresh)).toEqual(unlinked);
      const { browser: busy } = await stopBeforeCallback();
      await busy.open(callback);
      expect(await account(busy)).toEqual(unlinked);
      expect(await allowed()).toBeUndefined();
    });

    // PKCE would refuse the code of another browser too.
    test('refuses its own callback with another state', async () => {
      const { browser, callback } = await stopBeforeCallback();
      callback.searchParams.set('state', 'another');
      await browser.open(callback);
      expect(await account(browser)).toEqual(unlinked);
      expect(await allowed()).toBeUndefined();
    });

    test('refuses the callback of another issuer', async () => {
      const { browser, callback } = await stopBeforeCallback();
      callback.searchParams.set('iss', 'https://another.example');
      await browser.open(callback);
      expect(await account(browser)).toEqual(unlinked);
      expect(await allowed()).toBeUndefined();
    });

    // The path changes no text.
    const wrong = Object.entries(wrongSettings).filter(([name]) => !client.hides?.includes(name));
    test.each(prefix === '' ? wrong : [])('prints what is wrong: %s', async (name, wrong) => {
      const before = application.printed().length;
      deployment.gateway.change = wrong.change;
      try {
        const browser = new Browser();
        const begun = await browser.open(`${application.url}/connect`);
        const page = begun.text.includes('Sign in with')
          ? await browser.press(begun, 'Sign in with')
          : begun;
        const ended = name === 'scope' ? page : await browser.press(page, 'Sign in and allow');
        // A process prints after it has responded, perhaps.
        const printed = () => decode(ended.text) + application.printed().slice(before);
        await expect.poll(printed, { timeout: 3000 }).toMatch(wrong.printed);
      } finally {
        deployment.gateway.change = null;
      }
      expect(await allowed()).toBeUndefined();
    });

    test('authenticates, finds the endpoints and uses PKCE as the guide says', async () => {
      const { browser, callback } = await stopBeforeCallback();
      await browser.open(callback);
      const seen = (path: string) =>
        deployment.gateway.seen.find((request) => request.path.startsWith(path));
      expect(seen('/oauth/authorize')?.parameters).toEqual(
        expect.arrayContaining([
          'code_challenge',
          'code_challenge_method',
          'state',
          'redirect_uri',
        ]),
      );
      const readsMetadata = seen('/.well-known/oauth-authorization-server') !== undefined;
      expect(readsMetadata).toBe(client.endpoints === 'metadata');
      const token = seen('/oauth/token');
      expect(token?.parameters).toContain('code_verifier');
      const inForm = token?.parameters.includes('client_secret') ? 'post' : 'none';
      expect(token?.scheme === 'Basic' ? 'basic' : inForm).toBe(client.authentication);
      await disconnect();
    });
  }

  for (const client of clients) {
    const command = installed[client.language];
    if (command instanceof Error) continue;
    describe(client.library, () => suite(client, command(client)));
  }
});

// The last line of the run names them.
for (const { library, language } of clients) {
  if (!(installed[language] instanceof Error)) continue;
  describe.skip(`${library} (not run: it is not installed)`, () => test('links an account'));
}
