import { describeInBrowser } from '@latchkey/test-kit/chromium';
import { slow } from '@latchkey/test-kit/long';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { settled, violationsNow } from './accessibility.ts';
import { type RunningApplication, useLinkingWorld } from './linking-world.ts';

const NOTES = {
  name: 'Acme Notes',
  homepage_uri: 'https://notes.acme.example/',
};

describeInBrowser('the pages in a browser', (open) => {
  const world = useLinkingWorld();

  async function goToConsent(page: Page, { url }: RunningApplication): Promise<void> {
    await page.goto(url);
    await page.getByRole('link').click();
    await page.locator('button[value=allow]').waitFor();
  }

  /** The value of an expression about the first element that a selector finds, as `e`. */
  const ofElement = <Value>(page: Page, selector: string, expression: string) =>
    page.evaluate<Value>(`((e) => ${expression})(document.querySelector('${selector}'))`);

  test('can be answered by keyboard alone', async () => {
    const application = await world.addApplication(NOTES);
    const { page } = await open();
    await goToConsent(page, application);
    await settled(page);
    const focused = () => page.evaluate<string>('document.activeElement.textContent');
    const order: string[] = [];
    for (let i = 0; i < 4; i++) {
      await page.keyboard.press('Tab');
      order.push(await focused());
      const outline = await page.evaluate<string>(
        'getComputedStyle(document.activeElement).outlineStyle',
      );
      expect(outline).toBe('solid');
    }
    expect(order).toEqual(['notes.acme.example', 'Use another account', 'Deny', 'Allow']);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Back in the application' }).waitFor();
    expect(application.callbacks).toHaveLength(1);
  });

  test('take Enter in a checkbox for no answer', async () => {
    const application = await world.addApplication({
      ...NOTES,
      scope: 'profile.read',
      optional_scope: 'posts.read',
    });
    const { page } = await open();
    await goToConsent(page, application);
    await settled(page);
    const sent: string[] = [];
    page.on('request', (request) => void sent.push(request.method()));
    await page.getByRole('checkbox').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Space');
    expect(sent).not.toContain('POST');
    await page.locator('button[value=allow]').click();
    await page.getByRole('heading', { name: 'Back in the application' }).waitFor();
    expect((await application.convert()).scope).toBe('profile.read posts.read');
  });

  test(
    'have an Allow that is filled and a Deny of the same size that is outlined',
    slow,
    async () => {
      const { page } = await open();
      await goToConsent(page, await world.addApplication(NOTES));
      const [allow, deny] = ['button[value=allow]', 'button[value=deny]'] as [string, string];
      const styleOf = (selector: string, name: string) =>
        ofElement<string>(page, selector, `getComputedStyle(e).${name}`);
      for (const width of [1000, 320, 160]) {
        await page.setViewportSize({ width, height: 640 });
        await ofElement(page, allow, `e.textContent = '${width < 320 ? 'Allow it all' : 'Allow'}'`);
        const [one, other] = await Promise.all(
          [allow, deny].map((selector) => page.locator(selector).boundingBox()),
        );
        expect(one).toMatchObject({ width: other?.width, height: other?.height });
      }
      expect(await styleOf(allow, 'backgroundColor')).toBe('rgb(11, 98, 214)');
      expect(await styleOf(deny, 'backgroundColor')).toBe('rgba(0, 0, 0, 0)');
      expect(await styleOf(deny, 'borderTopStyle')).toBe('solid');
      for (const name of ['fontSize', 'fontWeight']) {
        expect(await styleOf(deny, name)).toBe(await styleOf(allow, name));
      }
    },
  );

  test('say that an answer is under way, and take no other until they are shown again', async () => {
    const application = await world.addApplication(NOTES);
    const { page } = await open();
    await goToConsent(page, application);
    await settled(page);
    const answers: (string | null)[] = [];
    // With 204, a browser stays on its page: as long as nothing else has arrived.
    await page.route('**/link/*', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      answers.push(route.request().postData());
      await (answers.length === 1 ? route.fulfill({ status: 204 }) : route.continue());
    });
    await page.locator('button[value=allow]').click();
    await page.getByRole('button', { name: 'One moment…' }).waitFor();
    // The value of the button that is off was sent.
    expect(answers[0]).toMatch(/&decision=allow$/);
    expect(await page.locator('button:enabled').count()).toBe(0);
    expect(await page.locator('form [role=status]').textContent()).toBe('One moment…');
    expect(await violationsNow(page)).toEqual([]);

    await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
    await settled(page);
    expect(await page.locator('form [role=status]').textContent()).toBe('');
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('heading', { name: 'Back in the application' }).waitFor();
    expect(application.callbacks).toHaveLength(1);
  });

  test('show initials instead of a logo that does not load', slow, async () => {
    const { page } = await open();
    await page.route('https://logos.example/**', (route) => route.abort());
    const logo_uri = 'https://logos.example/none.png';
    await goToConsent(page, await world.addApplication({ name: 'Acme Notes', logo_uri }));
    await expect.poll(() => page.locator('.logo > img').count()).toBe(0);
    expect(await page.locator('.logo').first().textContent()).toBe('AN');
  });

  describe('take no click', () => {
    /** A consent page whose clock the test moves. */
    async function withClock(): Promise<{ page: Page; application: RunningApplication }> {
      const application = await world.addApplication(NOTES);
      const { page } = await open();
      await goToConsent(page, application);
      await page.clock.install();
      await page.clock.pauseAt(Date.now() + 60_000);
      await page.reload();
      return { page, application };
    }
    // As a script of another window would have it: without waiting until the button takes clicks.
    const click = (page: Page) =>
      page.evaluate("document.querySelector('button[value=allow]').click()");
    const isEnabled = (page: Page) => page.getByRole('button', { name: 'Allow' }).isEnabled();
    const answered = ({ callbacks }: RunningApplication) =>
      expect.poll(() => callbacks.length).toBe(1);

    test('in the first 600 ms', async () => {
      const { page, application } = await withClock();
      await page.clock.runFor(599);
      expect(await isEnabled(page)).toBe(false);
      await click(page);
      await page.clock.runFor(1);
      expect(await isEnabled(page)).toBe(true);
      expect(application.callbacks).toEqual([]);
      await click(page);
      await answered(application);
    });

    test.each([
      ['after the window gets the focus', "dispatchEvent(new Event('focus'))"],
      ['after the tab is shown', "document.dispatchEvent(new Event('visibilitychange'))"],
      [
        'after the browser brings the page back',
        "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))",
      ],
    ])('in the first 600 ms %s', slow, async (_, event) => {
      const { page, application } = await withClock();
      await page.clock.runFor(10_000);
      await page.evaluate(event);
      await page.clock.runFor(599);
      await click(page);
      const refused = await page.evaluate<boolean>(
        "!document.querySelector('button[value=deny]').dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true })) || document.querySelector('button[value=deny]').disabled",
      );
      expect(refused).toBe(true);
      await page.clock.runFor(1);
      await click(page);
      await answered(application);
      expect(application.callbacks[0]).toHaveProperty('code');
    });
  });
});
