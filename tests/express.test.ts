import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeInBrowser, type WatchedPage } from '@latchkey/test-kit/chromium';
import { slow } from '@latchkey/test-kit/long';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Gateway, startGateway } from './clients/gateway.ts';
import { examplesFolder } from './support/examples-folder.ts';
import { ADMIN_SECRET, operator } from './support/operator.ts';
import { environment, type ServiceProcess, startService } from './support/service.ts';

const program = join(examplesFolder, 'express/start.ts');

interface Entry {
  grant_id: string;
  scope: string;
  revoked: boolean;
}

describeInBrowser('the Express application and its host in a browser', (open) => {
  let folder: string;
  let service: ServiceProcess;
  let child: ChildProcess;
  /** In front of Latchkey and of the host, which have to know each other's address before they start. */
  const gateways: Gateway[] = [];
  let app: string;
  let host: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-express-'));
    const [latchkey, hostGateway] = await Promise.all([startGateway(''), startGateway('')]);
    gateways.push(latchkey, hostGateway);
    host = hostGateway.url;
    const settings = { ADMIN_SECRET, PUBLIC_URL: latchkey.url, SIGN_IN_URL: `${host}/link` };
    service = await startService({ cwd: folder, env: environment(settings) });
    latchkey.forwardTo(service.url);

    const env = environment({
      LATCHKEY_URL: latchkey.url,
      ADMIN_SECRET,
      APP_PORT: '0',
      HOST_PORT: '0',
      HOST_URL: host,
    });
    child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    let printed = '';
    const [, appUrl = '', hostUrl = ''] = await new Promise<RegExpExecArray>((resolve, reject) => {
      child.stdout?.on('data', (chunk) => {
        printed += chunk;
        const said = /^The application: (\S+)\nThe host: (\S+)\n/.exec(printed);
        if (said) resolve(said);
      });
      child.once('exit', () => reject(new Error(`It ended before it listened: ${printed}`)));
    });
    app = appUrl;
    hostGateway.forwardTo(hostUrl);
  });

  afterAll(async () => {
    child?.kill();
    await service?.stop();
    for (const gateway of gateways) await gateway.close();
    await rm(folder, { recursive: true, force: true });
  });

  const acme = async () => {
    type List = { data: { id: string; name: string }[] };
    const { data } = await operator<List>(service, 'GET', '/applications');
    return data.find(({ name }) => name === 'Acme')?.id ?? '';
  };

  /** The grants of the application, the newest first. */
  const grants = async () => {
    const path = `/grants?application_id=${await acme()}`;
    return (await operator<{ data: Entry[] }>(service, 'GET', path)).data;
  };

  const connect = { name: 'Connect your account' };
  type Page = WatchedPage['page'];

  /** From the application's page to the consent page. */
  async function signIn(page: Page, name = 'Ada Lovelace') {
    await page.goto(app);
    await page.getByRole('link', connect).click();
    await page.getByRole('button', { name }).click();
    await page.getByRole('button', { name: 'Allow' }).waitFor();
  }

  async function link(page: Page) {
    await signIn(page);
    await press(page, 'Allow');
    await page.getByText('Connected as Ada Lovelace').waitFor();
  }

  /** Presses a button of the consent page. It takes no click in the first moments after a focus. */
  const press = (page: Page, name: string) =>
    expect
      .poll(async () => {
        // An attempt that was given up may have arrived since.
        if (page.url().startsWith(`${app}/`)) return page.url();
        await page.getByRole('button', { name }).click({ timeout: 2_000 });
        await page.waitForURL(`${app}/**`, { timeout: 20_000 });
        return page.url();
      })
      .toMatch(`${app}/`);

  test('connects an account with its button and disconnects it', async () => {
    const { page, complaints } = await open();
    const before = (await grants()).length;
    await signIn(page);
    await page.getByText('Read your profile').waitFor();
    expect(await grants()).toHaveLength(before);

    await press(page, 'Allow');
    await page.getByText('Connected as Ada Lovelace').waitFor();
    // The code does not stay in the address.
    expect(page.url()).toBe(`${app}/`);
    const [linked, ...older] = await grants();
    expect([older.length, linked?.revoked]).toEqual([before, false]);
    const cookies = (await page.context().cookies()).map(({ name }) => name);
    // The note of how the link ended.
    expect(cookies.filter((name) => name.startsWith('latchkey-linking-'))).toHaveLength(1);

    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('link', connect).waitFor();
    expect((await grants())[0]).toMatchObject({ grant_id: linked?.grant_id, revoked: true });
    expect(complaints).toEqual([]);
  });

  test('gets an optional scope from a user who checks it', async () => {
    const { page } = await open();
    await signIn(page);
    const box = page.getByRole('checkbox', { name: 'Read your posts' });
    expect(await box.isChecked()).toBe(false);
    await box.check();
    await press(page, 'Allow');
    await page.getByText('Connected as Ada Lovelace, with your posts').waitFor();
    expect((await grants())[0]?.scope).toBe('profile.read posts.read');
  });

  test('lets the user give up signing in, and deny the request', slow, async () => {
    const { page } = await open();
    const before = await grants();
    await page.goto(app);
    await page.getByRole('link', connect).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('You have not allowed it.').waitFor();
    await signIn(page);
    await press(page, 'Deny');
    await page.getByText('You have not allowed it.').waitFor();
    expect(await grants()).toEqual(before);
  });

  test('goes on without asking who is signed in to the host already', slow, async () => {
    const { page } = await open();
    await link(page);
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('link', connect).click();
    await page.getByText('Ada Lovelace').waitFor();
    await press(page, 'Allow');
    await page.getByText('Connected as Ada Lovelace').waitFor();
  });

  test('refuses a code with the state of another browser', async () => {
    const [{ page }, { page: other }] = await Promise.all([open(), open()]);
    const before = (await grants()).length;
    await page.goto(app);
    await page.getByRole('link', connect).click();
    await page.waitForURL(/[?&]next=/);
    const next = new URL(page.url()).searchParams.get('next') ?? '';
    const link = new URL(next, host).searchParams.get('link');
    const account_id = '0193aa00-0000-7000-8000-0000000000a1';
    const account = { username: 'ada', display_name: 'Ada Lovelace' };
    await operator(service, 'PUT', `/accounts/${account_id}`, account);
    const approval = { link, account_id };
    type Approved = { redirect_to: string };
    const { redirect_to } = await operator<Approved>(service, 'POST', '/links/approve', approval);
    await other.goto(redirect_to);
    await other.getByText('That did not work.').waitFor();
    expect(await grants()).toHaveLength(before);
    await page.goto(redirect_to);
    await page.getByText('Connected as Ada Lovelace').waitFor();
  });

  test('keeps an account while the service has disabled the application', slow, async () => {
    const { page } = await open();
    await link(page);
    const id = await acme();
    await operator(service, 'POST', `/applications/${id}/disable`);
    await page.reload();
    await page.getByText('the connection is paused').waitFor();
    await operator(service, 'POST', `/applications/${id}/enable`);
    await page.reload();
    await page.getByText('Connected as Ada Lovelace').waitFor();
  });

  test('ends the consent page of a user who signs out of the host', async () => {
    const { page } = await open();
    await signIn(page, 'Grace Hopper');
    const tab = await page.context().newPage();
    await tab.goto(host);
    await tab.getByText('Signed in as Grace Hopper').waitFor();
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await tab.waitForURL(`${host}/sign-in`);
    await page.reload();
    await page.getByRole('button', { name: 'Allow' }).waitFor({ state: 'detached' });
  });

  test('forgets an account that the user disconnected at the host', slow, async () => {
    const { page } = await open();
    await link(page);
    await page.goto(host);
    await page.getByRole('button', { name: 'Connected applications' }).click();
    await page.getByText('Acme').first().waitFor();
    await page
      .getByRole('link', { name: /disconnect/i })
      .or(page.getByRole('button', { name: /disconnect/i }))
      .first()
      .click();
    await page.getByRole('button', { name: /disconnect/i }).click();
    await page.goto(app);
    await page.getByText('Your account is no longer connected.').waitFor();
    await page.getByRole('link', connect).waitFor();
  });

  test('the host has linked with a key that can delete no application', async () => {
    type Keys = { data: { role: string; last_used_at: string | null }[] };
    const { data } = await operator<Keys>(service, 'GET', '/keys');
    expect(data).toMatchObject([{ role: 'host', last_used_at: expect.any(String) }]);
  });
});
