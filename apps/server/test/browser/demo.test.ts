import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { credentialPattern } from '@latchkey/schema';
import { describeInBrowser } from '@latchkey/test-kit/chromium';
import { slow } from '@latchkey/test-kit/long';
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { useDemo } from '../demo/running-demo.ts';
import { violationsOf } from './accessibility.ts';
import { MovingPicture } from './moving-picture.ts';

const images = fileURLToPath(new URL('../../../../docs/images/', import.meta.url));

/** Clicks the link or the button with this name. */
const press = (page: Page, name: string) =>
  page
    .getByRole('link', { name, exact: true })
    .or(page.getByRole('button', { name, exact: true }))
    .click();

/** Waits for the page with this heading. */
const arriveAt = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

/** How far the page can be scrolled sideways. */
const overflowOf = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');

const accountOn = (page: Page) => page.locator('.account .name').textContent();

describeInBrowser('the demo in a browser', (open) => {
  const server = useDemo();

  /** From the demo application to the consent page. */
  async function toConsent(page: Page) {
    await page.goto(server.demoUrl ?? '');
    await press(page, 'Connect your account');
    await press(page, 'Ada Lovelace');
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
      const heard = await page.locator('.events').textContent({ timeout: 1_000 });
      expect(heard).toMatch(/^grant\.revoked of [\w-]{36}, because: user/);
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
    const requests = page.locator('.calls summary').filter({ visible: true });
    const used = 'POST /oauth/convert → 400 code_already_used';
    expect(await requests.allTextContents()).toEqual([
      'POST /oauth/convert → 200',
      `7 × ${used}`,
      'GET /v1/grant → 200',
    ]);
    await page.getByText('"code_verifier"').first().waitFor();
    if (process.env.WRITE_SCREENSHOTS) {
      await page.setViewportSize({ width: 1100, height: 860 });
      await page.screenshot({ path: `${images}demo.png`, fullPage: true });
    }
    await requests.nth(1).click();
    expect((await requests.allTextContents()).filter((text) => text === used)).toHaveLength(7);
    expect(await page.content()).not.toMatch(credentialPattern);

    await press(page, 'Disconnect, then call');
    await arriveAt(page, 'Your account is disconnected');
    expect(await requests.allTextContents()).toEqual([
      'POST /oauth/revoke → 200',
      'GET /v1/grant → 401 credentials_invalid',
    ]);
    expect(complaints).toEqual([]);
  });

  if (process.env.WRITE_SCREENSHOTS) {
    test('is drawn for the README, from the consent page to the refused call', async () => {
      const { page } = await open({ viewport: { width: 960, height: 860 } });
      const moving = await MovingPicture.create(page);
      await page.goto(server.demoUrl ?? '');
      await press(page, 'Send the code 8 times at once');
      await press(page, 'Ada Lovelace');
      await moving.add(2_500);
      await page.getByRole('button', { name: 'Allow' }).hover();
      await moving.add(700);
      await press(page, 'Allow');
      await arriveAt(page, 'Your account is connected');
      const fold = async () => {
        await page.locator('.calls summary').first().click();
        await page.mouse.move(0, 0);
        await page.evaluate('scrollTo(0, 0)');
      };
      await fold();
      await moving.add(3_000);
      await page.getByRole('button', { name: 'Disconnect, then call' }).hover();
      await moving.add(700);
      await press(page, 'Disconnect, then call');
      await arriveAt(page, 'Your account is disconnected');
      await fold();
      await moving.add(5_000);
      await moving.write(`${images}linking.webp`);
    });
  }

  test('has the story on the left and the wire on the right, and ends with the guides', async () => {
    const { page, complaints } = await open();
    const boxOf = async (part: string) =>
      (await page.locator(part).boundingBox()) ?? expect.fail(`${part} is not shown`);
    async function check(columns: [width: number, areTwo: boolean][]) {
      for (const [width, areTwo] of columns) {
        await page.setViewportSize({ width, height: 800 });
        const [story, wire] = [await boxOf('.story'), await boxOf('.wire')];
        expect(wire.x >= story.x + story.width).toBe(areTwo);
        expect(wire.y >= story.y + story.height).toBe(!areTwo);
        expect(await overflowOf(page)).toBe(0);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          expect(await violationsOf(page)).toEqual([]);
        }
      }
      const end = page.getByRole('heading', { name: 'Do this in your code' });
      const [{ y }, wire] = [(await end.boundingBox()) ?? { y: 0 }, await boxOf('.wire')];
      expect(y).toBeGreaterThan(wire.y + wire.height);
    }
    await page.goto(server.demoUrl ?? '');
    await check([[900, true]]);
    await press(page, 'Replay the code');
    await press(page, 'Ada Lovelace');
    await press(page, 'Allow');
    await arriveAt(page, 'Your account is connected');
    await check([
      [899, false],
      [1280, true],
    ]);
    for (const guide of await page.locator('.guides a').all()) {
      const href = (await guide.getAttribute('href')) ?? '';
      const [, file = ''] =
        /^https:\/\/github\.com\/latchkey\/latchkey\/blob\/main\/(.+)$/.exec(href) ?? [];
      expect(existsSync(new URL(`../../../../${file}`, import.meta.url)), href).toBe(true);
    }
    expect(await page.locator('.guides a').count()).toBe(6);
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
    // She has two workspaces, so Allow leads nowhere yet.
    const workspaces = page.getByRole('group', { name: 'Which workspace?' });
    await workspaces.waitFor();
    await press(page, 'Allow');
    expect(await workspaces.locator('input:invalid').count()).toBe(2);
    await workspaces.getByLabel('Navy').check();
    await press(page, 'Allow');
    await arriveAt(page, 'Your account is connected');
    expect(await accountOn(page)).toBe('Grace Hopper');
    await page.locator('dd').getByText('Navy', { exact: true }).waitFor();
  });

  test('finishes two links that were begun in two tabs', slow, async () => {
    const { page } = await open();
    await toConsent(page);
    const other = await page.context().newPage();
    await other.goto(`${server.demoUrl}/connect`);
    await press(other, 'Use another account');
    await press(other, 'Grace Hopper');
    await arriveAt(other, 'Demo Application wants to connect to your Demo Service account');
    for (const [tab, name] of [
      [page, 'Ada Lovelace'],
      [other, 'Grace Hopper'],
    ] as const) {
      if (tab === other) await tab.getByLabel('Compilers').check();
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
      expect(await overflowOf(page)).toBe(0);
    }
    await page.goto(server.demoUrl ?? '');
    await check();
    await press(page, 'Lose the response');
    await arriveAt(page, 'Sign in to Demo Service');
    await check();
    await press(page, 'Ada Lovelace');
    await press(page, 'Allow');
    await arriveAt(page, 'Your account is connected');
    for (const item of (await page.locator('.calls summary').all()).slice(1)) await item.click();
    await check();
  });
});
