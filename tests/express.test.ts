import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeInBrowser } from '@latchkey/test-kit/chromium';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examplesFolder } from './support/examples-folder.ts';
import { ADMIN_SECRET, operator } from './support/operator.ts';
import { environment, type ServiceProcess, startService } from './support/service.ts';

const program = join(examplesFolder, 'express/start.ts');

interface Entry {
  grant_id: string;
  revoked: boolean;
}

describeInBrowser('the Express application in a browser', (open) => {
  let folder: string;
  let service: ServiceProcess;
  let app: { url: string; stop(): void };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-express-'));
    service = await startService({ cwd: folder, env: environment({ ADMIN_SECRET }) });
    const env = { LATCHKEY_URL: service.url, ADMIN_SECRET, APP_PORT: '0', IDENTITY_PORT: '0' };
    const child = spawn(process.execPath, [program], {
      env: environment(env),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = await once(child.stdout, 'data');
    app = {
      url: String(said).replace('Open ', '').trim(),
      stop: () => child.kill(),
    };
  });

  afterAll(async () => {
    app?.stop();
    await service?.stop();
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

  test('connects an account with its button and disconnects it', async () => {
    const { page, complaints } = await open();
    const before = (await grants()).length;
    await page.goto(app.url);
    await page.getByRole('button', connect).click();
    await page.getByText('Acme asks for: profile.read').waitFor();
    expect(await grants()).toHaveLength(before);

    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('Connected as Ada Lovelace').waitFor();
    // The code does not stay in the address.
    expect(page.url()).toBe(`${app.url}/`);
    const [linked, ...older] = await grants();
    expect([older.length, linked?.revoked]).toEqual([before, false]);

    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('button', connect).waitFor();
    expect((await grants())[0]).toMatchObject({ grant_id: linked?.grant_id, revoked: true });
    expect(complaints).toEqual([]);
  });

  test('lets the user deny the request', async () => {
    const { page } = await open();
    const before = await grants();
    await page.goto(app.url);
    await page.getByRole('button', connect).click();
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('You have not allowed it.').waitFor();
    expect(await grants()).toEqual(before);
  });

  test('refuses a code with the state of another session, and a state that was used', async () => {
    const { page } = await open();
    const before = (await grants()).length;
    await page.goto(app.url);
    await page.getByRole('button', connect).click();
    await page.getByText('Acme asks for').waitFor();

    const account = '0193aa00-0000-7000-8000-0000000000a1';
    const about = { application_id: await acme(), account_id: account, scope: 'profile.read' };
    const { code } = await operator<{ code: string }>(service, 'POST', '/codes', about);
    const state = new URL(page.url()).searchParams.get('state') ?? '';
    for (const query of [{ code, state: 'forged' }, { code }, { code, state }]) {
      const response = await page.goto(`${app.url}/callback?${new URLSearchParams(query)}`);
      expect(response?.status()).toBe(400);
    }
    expect(await grants()).toHaveLength(before);
  });

  test('keeps an account while the service has disabled the application', async () => {
    const { page } = await open();
    await page.goto(app.url);
    await page.getByRole('button', connect).click();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('Connected as Ada Lovelace').waitFor();

    const id = await acme();
    await operator(service, 'POST', `/applications/${id}/disable`);
    await page.reload();
    await page.getByText('the connection is paused').waitFor();
    await operator(service, 'POST', `/applications/${id}/enable`);
    await page.reload();
    await page.getByText('Connected as Ada Lovelace').waitFor();
  });

  test('forgets an account that was disconnected on the side of the service', async () => {
    const { page } = await open();
    await page.goto(app.url);
    await page.getByRole('button', connect).click();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('Connected as Ada Lovelace').waitFor();

    const [linked] = await grants();
    await operator(service, 'POST', `/grants/${linked?.grant_id}/revoke`);
    await page.reload();
    await page.getByText('Your account is no longer connected.').waitFor();
    await page.getByRole('button', connect).waitFor();
  });
});
