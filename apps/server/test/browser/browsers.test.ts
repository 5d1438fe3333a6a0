import { describeInBrowser, openWithoutCookies } from '@latchkey/test-kit/chromium';
import { freePort } from '@latchkey/test-kit/free-port';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { violationsOf } from './accessibility.ts';
import { useLinkingWorld } from './linking-world.ts';

const WORKER = `
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => event.respondWith(fetch(event.request)));
`;
const BEGINNING = `<!doctype html><title>A page</title><script>
navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready)
  .then(() => navigator.serviceWorker.controller ?? new Promise((resolve) => {
    navigator.serviceWorker.oncontrollerchange = resolve;
  }))
  .then(() => { document.title = 'controlled'; });
</script>`;

describeInBrowser('a link in every browser', (open) => {
  const world = useLinkingWorld(
    {},
    { files: { '/worker.js': WORKER, '/beginning.html': BEGINNING } },
  );

  async function goToConsent(page: Page, { url }: { url: string }): Promise<void> {
    await page.goto(url);
    await page.getByRole('link', { name: 'Connect your account' }).click();
    await page.getByRole('button', { name: 'Allow' }).waitFor();
  }

  const allow = (page: Page) => page.getByRole('button', { name: 'Allow' }).click();

  test('goes through a service worker that passes navigations on', async () => {
    const { page } = await open();
    await page.goto(`${world.publicUrl}/beginning.html`);
    await page.waitForFunction("document.title === 'controlled'");
    const sent = new Set<string>();
    world.received((path, headers) => {
      if (/^\/(?:oauth|link)\//.test(path) && !path.includes('/assets/'))
        sent.add(`${headers['sec-fetch-dest']}`);
    });
    const application = await world.addApplication();
    await goToConsent(page, application);
    await allow(page);
    await page.getByRole('heading', { name: 'Back in the application' }).waitFor();
    expect(sent).toEqual(new Set(['empty']));
    expect((await application.convert()).account.username).toBe('ada');
  });

  test('is opened by a second click, where the first response was thrown away', async () => {
    const { page } = await open();
    const ticket = await world.connectionsOf(world.accounts.ada);
    // As the browser does if a person clicks once more.
    expect((await fetch(ticket, { redirect: 'manual' })).status).toBe(303);
    await page.goto(ticket);
    await page.getByRole('heading', { name: 'Connected applications' }).waitFor();
    // The same link again, from the history.
    await page.goto(ticket);
    await page.getByRole('heading', { name: 'Connected applications' }).waitFor();
  });

  test.each([
    ['an application of its own', 'com.example.app:/callback'],
    ['an editor', 'cursor://anysphere.cursor-deeplink/mcp/callback'],
  ])('ends where nothing opens %s', async (_, redirect_uri) => {
    const application = await world.addApplication({ redirect_uris: [redirect_uri], redirect_uri });
    const { page } = await open();
    await goToConsent(page, application);
    await allow(page);
    await page.getByRole('heading', { name: 'Acme Notes is connected' }).waitFor();
    const way = page.getByRole('link', { name: 'Open Acme Notes' });
    expect(await way.getAttribute('href')).toMatch(new RegExp(`^${redirect_uri}\\?code=lk_code_`));
    expect(await page.getByText('One moment').count()).toBe(0);
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await page.locator('main').textContent()).toContain('Ada Lovelace');
    expect(await violationsOf(page)).toEqual([]);
    await page.reload();
    await way.waitFor();
  });

  test('ends where nobody listens on this device', async () => {
    const redirect_uri = `http://127.0.0.1:${await freePort()}/callback`;
    const registered = ['http://127.0.0.1/callback'];
    const application = await world.addApplication({ redirect_uris: registered, redirect_uri });
    const { page } = await open();
    await goToConsent(page, application);
    const consent = page.url();
    const failed = page.waitForEvent('requestfailed', (one) => one.url().startsWith(redirect_uri));
    await allow(page);
    expect((await failed).failure()?.errorText).toContain('CONNECTION_REFUSED');
    // The browser's own page has to be there, or it overtakes the way back.
    await expect.poll(() => page.url()).toMatch(/^chrome-error:/);
    await page.goto(consent);
    await page.getByRole('link', { name: 'Open Acme Notes' }).waitFor();
  });

  test('says which cookies to allow where all are blocked', async () => {
    const application = await world.addApplication({ homepage_uri: 'https://acme.example/' });
    const page = await openWithoutCookies();
    await page.goto(application.url);
    await page.getByRole('link', { name: 'Connect your account' }).click();
    await page.getByRole('heading', { name: 'keeps no cookies' }).waitFor();
    const text = await page.locator('main').textContent();
    for (const part of ['127.0.0.1', 'cookies_refused']) expect(text).toContain(part);
    const back = page.getByRole('link', { name: 'Back to Acme Notes' });
    expect(await back.getAttribute('href')).toBe('https://acme.example/');
    expect(await violationsOf(page)).toEqual([]);
  });
});
