import { fileURLToPath } from 'node:url';
import { credentialPattern } from '@latchkey/schema';
import { describeInBrowser } from '@latchkey/test-kit/chromium';
import { slow } from '@latchkey/test-kit/long';
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { useDemo } from '../demo/running-demo.ts';
import { violationsOf } from './accessibility.ts';

const picture = fileURLToPath(new URL('../../../../docs/images/demo.png', import.meta.url));

/** Clicks the link or the button with this name. */
const press = (page: Page, name: string) =>
  page
    .getByRole('link', { name, exact: true })
    .or(page.getByRole('button', { name, exact: true }))
    .click();

/** Waits for the page with this heading. */
const arriveAt = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

/** The calls, with the space that the page leaves around them. */
async function takePicture(page: Page) {
  const {
    x = 0,
    y = 0,
    width = 0,
    height = 0,
  } = (await page.locator('.calls').boundingBox()) ?? {};
  const clip = { x: x - 20, y: y - 20, width: width + 40, height: height + 40 };
  await page.screenshot({ path: picture, fullPage: true, clip });
}

const accountOn = (page: Page) => page.locator('.account .name').textContent();

describeInBrowser('the demo in a browser', (open) => {
  const server = useDemo();

  /** From the demo application to the consent page. */
  async function toConsent(page: Page, name = 'Ada Lovelace') {
    await page.goto(server.demoUrl ?? '');
    await press(page, 'Connect your account');
    await press(page, name);
    await arriveAt(page, 'Demo Application wants to connect to your Demo Service account');
  }

  test.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('leads from sign-in to the end of the link, %s', async (_, javaScriptEnabled) => {
    const { page, complaints } = await open({ javaScriptEnabled });
    const visited: string[] = [];
    page.on('framenavigated', (frame) => visited.push(frame.url()));
    await toConsent(page);
    await page.getByText('Read your profile').waitFor();
    await press(page, 'Allow');
    await arriveAt(page, 'Your account is connected');
    expect(await accountOn(page)).toBe('Ada Lovelace');
    expect(page.url()).toBe(server.demoUrl);

    await press(page, 'Connected applications');
    await arriveAt(page, 'Connected applications');
    await page.getByRole('link', { name: 'Disconnect Demo Application' }).click();
    await press(page, 'Disconnect');
    await page.getByText('Demo Application is disconnected.').waitFor();
    await press(page, 'Back to Demo Service');
    await arriveAt(page, 'Your account is disconnected');
    await page.getByRole('link', { name: 'Connect your account' }).waitFor();
    await vi.waitFor(async () => {
      await page.reload();
      const heard = await page.locator('.details').textContent({ timeout: 1_000 });
      expect(heard).toMatch(/^Heardgrant\.revoked of [\w-]{36}, because: user/);
    }, 20_000);

    expect(complaints).toEqual([]);
    // The sign-in page gets the link in its address. No other page has a credential there.
    const others = visited.filter((url) => !url.includes('/demo/sign-in?link=lk_link_'));
    expect(others.join('\n')).not.toMatch(credentialPattern);
    expect(others.length).toBeGreaterThan(5);
  });

  test('shows a code that is sent 8 times at once, and a grant after its end', async () => {
    const { page, complaints } = await open();
    await page.goto(server.demoUrl ?? '');
    await press(page, 'Send the code 8 times at once');
    await press(page, 'Ada Lovelace');
    await press(page, 'Allow');
    await arriveAt(page, 'Your account is connected');
    const requests = page.locator('.calls summary');
    expect(await requests.count()).toBe(9);
    expect((await requests.allTextContents()).filter((text) => text.endsWith('→ 200'))).toEqual([
      'POST /oauth/convert → 200',
      'GET /v1/grant → 200',
    ]);
    if (process.env.WRITE_SCREENSHOTS) await takePicture(page);
    await requests.first().click();
    await page.getByText('"code_verifier"').first().waitFor();
    expect(await page.content()).not.toMatch(credentialPattern);

    await press(page, 'Disconnect, then call');
    await arriveAt(page, 'Your account is disconnected');
    expect(await requests.allTextContents()).toEqual([
      'POST /oauth/revoke → 200',
      'GET /v1/grant → 401 credentials_invalid',
    ]);
    expect(complaints).toEqual([]);
  });

  test('links nothing where the user denies', slow, async () => {
    const { page } = await open();
    await toConsent(page);
    await press(page, 'Deny');
    await page.getByText('You chose not to connect your account').waitFor();
    await arriveAt(page, 'Connect your account');
    // The host knows who has signed in. An application that was denied does not.
    expect(await page.locator('main').textContent()).not.toMatch(/Lovelace|signed in/);
  });

  test('lets the user change the account', slow, async () => {
    const { page } = await open();
    await toConsent(page);
    await press(page, 'Use another account');
    await press(page, 'Grace Hopper');
    await press(page, 'Allow');
    await arriveAt(page, 'Your account is connected');
    expect(await accountOn(page)).toBe('Grace Hopper');
  });

  test('finishes two links that were begun in two tabs', slow, async () => {
    const { page } = await open();
    await toConsent(page);
    const other = await page.context().newPage();
    await toConsent(other, 'Grace Hopper');
    for (const [tab, name] of [
      [page, 'Ada Lovelace'],
      [other, 'Grace Hopper'],
    ] as const) {
      await press(tab, 'Allow');
      await arriveAt(tab, 'Your account is connected');
      expect(await accountOn(tab)).toBe(name);
    }
  });

  test('leads on from every page that a person goes back to', slow, async () => {
    const { page } = await open();
    await page.goto(server.demoUrl ?? '');
    await press(page, 'Connect your account');
    await arriveAt(page, 'Sign in to Demo Service');
    const signIn = page.url();
    await press(page, 'Ada Lovelace');
    await press(page, 'Allow');
    await arriveAt(page, 'Your account is connected');

    await page.goBack();
    await page.reload();
    await arriveAt(page, 'Demo Application is connected');

    await page.goto(signIn);
    await press(page, 'Grace Hopper');
    await arriveAt(page, 'You have already answered');
    await press(page, 'Back to Demo Application');
    await arriveAt(page, 'Your account is connected');
    expect(await accountOn(page)).toBe('Ada Lovelace');
  });

  test('has nothing for axe to find, and fits a small screen', slow, async () => {
    const { page } = await open({ viewport: { width: 320, height: 640 } });
    async function check() {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await violationsOf(page)).toEqual([]);
      }
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      expect(width).toBeLessThanOrEqual(320);
    }
    await page.goto(server.demoUrl ?? '');
    await check();
    await press(page, 'Lose the response');
    await arriveAt(page, 'Sign in to Demo Service');
    await check();
    await press(page, 'Ada Lovelace');
    await press(page, 'Allow');
    await arriveAt(page, 'Your account is connected');
    for (const item of await page.locator('.calls summary').all()) await item.click();
    await check();
  });
});
