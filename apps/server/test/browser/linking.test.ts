import { describeInBrowser } from '@latchkey/test-kit/chromium';
import { slow } from '@latchkey/test-kit/long';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { succeed } from '../http/call.ts';
import { operator } from '../http/running-server.ts';
import { NAMES, type RunningApplication, useLinkingWorld } from './linking-world.ts';

/** Goes from the application through the sign-in page to the consent page. */
async function goToConsent(page: Page, { url }: { url: string }): Promise<void> {
  await page.goto(url);
  await page.getByRole('link', { name: 'Connect your account' }).click();
  await page
    .getByRole('heading', { name: 'wants to connect to your Example Shop account' })
    .waitFor();
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

const backInApplication = (page: Page) =>
  page.getByRole('heading', { name: 'Back in the application' }).waitFor();

describe.each([
  ['with scripts', true],
  ['without scripts', false],
])('%s', (_, javaScriptEnabled) => {
  describeInBrowser('linking in a browser', (open) => {
    const world = useLinkingWorld();
    const visitor = () => open({ javaScriptEnabled });

    const lastOf = ({ callbacks }: RunningApplication) => callbacks.at(-1) ?? {};

    test('goes the whole way, from connecting to disconnecting', async () => {
      const application = await world.addApplication({ homepage_uri: 'https://acme.example/' });
      const { page, complaints } = await visitor();
      await goToConsent(page, application);
      expect(new URL(page.url()).search).toMatch(/^\?opened=[\da-f-]{36}$/);
      const text = await page.locator('main').textContent();
      for (const part of [
        'Ada Lovelace',
        'Read your profile',
        'acme.example',
        'You return to localhost.',
      ]) {
        expect(text).toContain(part);
      }
      await press(page, 'Allow');
      await backInApplication(page);
      expect(lastOf(application)).toMatchObject({ state: 'the state', iss: world.publicUrl });
      const grant = await application.convert();
      const bearer = `Bearer ${grant.grant_secret}`;
      expect((await succeed(world, 'account.get', {}, bearer)).username).toBe('ada');

      await page.goto(await world.connectionsOf(world.accounts.ada));
      expect(new URL(page.url()).search).toMatch(/^\?opened=[\da-f-]{36}$/);
      await page.getByRole('link', { name: 'Disconnect Acme Notes' }).click();
      await press(page, 'Disconnect');
      await page.getByRole('status').getByText('can no longer use your account').waitFor();
      expect(await page.title()).toBe('\u2068Acme Notes\u2069 is disconnected · Example Shop');
      expect(await page.locator('.notice:focus').textContent()).toContain('Acme Notes');
      await expect(succeed(world, 'account.get', {}, bearer)).rejects.toThrow('401');
      await page.getByRole('link', { name: 'Back to Example Shop' }).click();
      await page.getByRole('heading', { name: 'The host service' }).waitFor();
      expect(complaints).toEqual([]);
    });

    test('tells the application that the user denied', slow, async () => {
      const application = await world.addApplication();
      const { page } = await visitor();
      await goToConsent(page, application);
      await press(page, 'Deny');
      await backInApplication(page);
      expect(lastOf(application)).toMatchObject({ error: 'access_denied', state: 'the state' });
    });

    test('takes Allow twice on a slow line, and answers once', async () => {
      const application = await world.addApplication();
      const { page } = await visitor();
      await goToConsent(page, application);
      // The service has decided, but its response is on the way while the user presses again.
      const decided: (string | undefined)[] = [];
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route('**/link/*', async (route) => {
        if (route.request().method() !== 'POST') return route.continue();
        const response = await route.fetch({ maxRedirects: 0 });
        decided.push(response.headers().location);
        await released;
        await route.fulfill({ response }).catch(() => {});
      });
      // The mouse itself: a click by name would wait until the first one has led somewhere.
      const allow = page.getByRole('button', { name: 'Allow' });
      await expect.poll(() => allow.isEnabled()).toBe(true);
      const { x = 0, y = 0 } = (await allow.boundingBox()) ?? {};
      // Where scripts run, the button is off after the first click.
      for (const times of [1, javaScriptEnabled ? 1 : 2]) {
        await page.mouse.click(x + 5, y + 5);
        await expect.poll(() => decided.length).toBe(times);
      }
      release();
      await backInApplication(page);
      expect(decided).toHaveLength(javaScriptEnabled ? 1 : 2);
      expect(new Set(decided).size).toBe(1);
      expect((await application.convert()).account.username).toBe('ada');
    });

    test('survives back and reload', slow, async () => {
      const application = await world.addApplication({ homepage_uri: `${world.host.url}/home` });
      const { page } = await visitor();
      await goToConsent(page, application);
      await page.reload();
      await page.getByRole('link', { name: 'localhost' }).click();
      await page.getByRole('heading', { name: 'The host service' }).waitFor();
      await page.goBack();
      await press(page, 'Allow');
      await backInApplication(page);
      await page.goBack();
      // Some browsers show the page as it was, others ask for it again.
      const allow = page.getByRole('button', { name: 'Allow' });
      if ((await allow.count()) > 0) await allow.click();
      else await page.getByRole('heading', { name: 'is connected' }).waitFor();
      expect(new Set(application.callbacks.map(({ code }) => code)).size).toBe(1);
      expect((await application.convert()).account.username).toBe('ada');
    });

    test('lets the user take another account', slow, async () => {
      const application = await world.addApplication();
      const { page } = await visitor();
      await goToConsent(page, application);
      await press(page, 'Use another account');
      await page.getByRole('link', { name: NAMES.grace }).click();
      await page.getByText(NAMES.grace).waitFor();
      await press(page, 'Allow');
      await backInApplication(page);
      expect((await application.convert()).account.username).toBe('grace');
    });

    test('keeps two links in two tabs apart', slow, async () => {
      const [one, other] = [
        await world.addApplication({ name: 'One' }),
        await world.addApplication({ name: 'Other' }),
      ];
      const { page } = await visitor();
      const tab = await page.context().newPage();
      await goToConsent(page, one);
      await goToConsent(tab, other);
      await press(page, 'Allow');
      await backInApplication(page);
      await press(tab, 'Allow');
      await backInApplication(tab);
      expect([one.callbacks.length, other.callbacks.length]).toEqual([1, 1]);
      expect((await one.convert()).grant_id).not.toBe((await other.convert()).grant_id);
    });

    test('lets a callback lead on to another origin', slow, async () => {
      const application = await world.addApplication({ leadsTo: `${world.host.url}/settings` });
      const { page, complaints } = await visitor();
      await goToConsent(page, application);
      await press(page, 'Allow');
      await page.getByRole('heading', { name: 'The host service' }).waitFor();
      expect(complaints).toEqual([]);
    });

    test('shows nothing in a frame, not even of the same site', slow, async () => {
      const application = await world.addApplication();
      const { page } = await visitor();
      await goToConsent(page, application);
      const consent = page.url();
      await page.route('**/framing', (route) =>
        route.fulfill({ contentType: 'text/html', body: `<iframe src="${consent}"></iframe>` }),
      );
      const refused = page.waitForEvent('requestfailed', (request) => request.url() === consent);
      await page.goto(`${world.url}/framing`);
      expect((await refused).failure()?.errorText).toMatch(/BLOCKED_BY_(RESPONSE|CSP)/);
      expect(await page.frameLocator('iframe').getByRole('button').count()).toBe(0);
    });

    test('shows hostile names as text', slow, async () => {
      const hostile = `</title></bdi><img src=x onerror="document.title='hacked'"><script>document.title='hacked'</script>`;
      const application = await world.addApplication({ name: hostile, scope: 'profile.read' });
      const input = { account_id: world.accounts.grace, username: hostile, display_name: hostile };
      const { page, complaints } = await visitor();
      await goToConsent(page, application);
      await press(page, 'Use another account');
      await succeed(world, 'admin.accounts.put', input, operator);
      await page.getByRole('link', { name: NAMES.grace }).click();
      await page.getByRole('button', { name: 'Allow' }).waitFor();
      const text = await page.locator('main').textContent();
      // The application in both warnings, the account in both lines; the beginning in the heading and over the list.
      expect(text?.split(hostile)).toHaveLength(4 + 1);
      expect(text?.split(`${hostile.slice(0, 39)}…`)).toHaveLength(2 + 1);
      expect(await page.locator('main img').count()).toBe(0);
      expect(await page.title()).not.toBe('hacked');
      expect(complaints).toEqual([]);
      const names = { account_id: world.accounts.grace, username: 'grace' };
      await succeed(world, 'admin.accounts.put', { ...names, display_name: NAMES.grace }, operator);
    });
  });
});

describeInBrowser('linking over https in a browser', (open) => {
  const world = useLinkingWorld({}, { tls: true });

  test('keeps each page open with a cookie that no other host can set', async () => {
    const application = await world.addApplication();
    const { page } = await open({ ignoreHTTPSErrors: true });
    await goToConsent(page, application);
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({
      name: expect.stringMatching(/^__Host-latchkey_link_[0-9a-f]{32}$/),
      path: '/',
      httpOnly: true,
      secure: true,
      sameSite: 'Lax',
    });
    await press(page, 'Allow');
    await backInApplication(page);
    await page.goto(await world.connectionsOf(world.accounts.ada));
    await application.convert();
    await page.reload();
    await page.getByRole('link', { name: 'Disconnect Acme Notes' }).waitFor();
  });
});
