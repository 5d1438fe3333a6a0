import { fileURLToPath } from 'node:url';
import { describeInBrowser } from '@latchkey/test-kit/chromium';
import { slow } from '@latchkey/test-kit/long';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { succeed } from '../http/call.ts';
import { operator } from '../http/running-server.ts';
import { CHALLENGE } from '../linking/link-flow.ts';
import { settled, violationsNow, violationsOf } from './accessibility.ts';
import { type RunningApplication, useLinkingWorld } from './linking-world.ts';

// The pictures for the docs. They are written only if WRITE_SCREENSHOTS is set: a test run changes no file.
const images = fileURLToPath(new URL('../../../../docs/images/', import.meta.url));

const logo = (color: string, strokes: string) =>
  `data:image/svg+xml;base64,${Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><rect width="48" height="48" rx="10" fill="${color}"/><path d="${strokes}" fill="none" stroke="#fff" stroke-width="4" stroke-linecap="round" stroke-linejoin="round"/></svg>`,
  ).toString('base64')}`;

const NOTES = {
  name: 'Acme Notes',
  logo_uri: logo('#c2410c', 'M15 14h18M15 24h18M15 34h10'),
  homepage_uri: 'https://notes.acme.example/',
};

describeInBrowser('the pages in a browser', (open) => {
  const PAGE_LOGO = logo('#0b62d6', 'M13 20h22l-2 15H15zM18 20v-2a6 6 0 0 1 12 0v2');
  const world = useLinkingWorld({ PAGE_LOGO });

  async function goToConsent(page: Page, { url }: RunningApplication): Promise<void> {
    await page.goto(url);
    await page.getByRole('link').click();
    await page.locator('button[value=allow]').waitFor();
  }

  /** The question of an application on the web, as the docs show it. Nothing answers there. */
  async function goToQuestion(page: Page): Promise<void> {
    const redirect_uris = ['https://notes.acme.example/callback'];
    const input = { ...NOTES, redirect_uris };
    const { id } = await succeed(world, 'admin.applications.create', input, operator);
    const asked = { client_id: id, response_type: 'code', scope: 'profile.read posts.read' };
    const challenge = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
    const query = new URLSearchParams({ ...asked, ...challenge });
    await page.goto(`${world.publicUrl}/oauth/authorize?${query}`);
    await page.locator('button[value=allow]').waitFor();
    expect(await page.locator('main').textContent()).not.toContain('localhost');
  }

  async function goToConnections(page: Page): Promise<void> {
    await page.goto(await world.connectionsOf(world.accounts.ada));
  }

  /** Connects an application of this name to the account of Ada. */
  async function connect(profile: { name: string }, scope: string): Promise<{ id: string }> {
    const input = { ...profile };
    const { id, secret } = await succeed(world, 'admin.applications.create', input, operator);
    const asked = { application_id: id, account_id: world.accounts.ada, scope };
    const { code } = await succeed(world, 'admin.codes.issue', asked, operator);
    await succeed(world, 'grants.convert', { code }, `Bearer ${secret}`);
    return { id };
  }

  beforeAll(async () => {
    await connect(NOTES, 'profile.read posts.read');
    await connect({ name: 'Ledger for Teams' }, 'profile.read posts.read one.more another.one');
  });

  /** Every page, by name. */
  const pages: [string, (page: Page) => Promise<void>][] = [
    ['consent', goToQuestion],
    [
      'consent for this device',
      async (page) => goToConsent(page, await world.addApplication(NOTES)),
    ],
    [
      'consent to what is sensitive',
      async (page) => {
        const title = 'Send money to whoever is in your address book';
        const put = { scope: 'money.send', title, sensitive: true };
        await succeed(world, 'admin.scopes.put', put, operator);
        const scope = 'profile.read money.send';
        const pages = { policy_uri: 'https://acme.example/p', tos_uri: 'https://acme.example/t' };
        await goToConsent(page, await world.addApplication({ ...NOTES, ...pages, scope }));
      },
    ],
    ['connections', goToConnections],
    [
      'connections after a disconnect',
      async (page) => {
        const { id } = await connect({ name: 'Acme Budget' }, 'profile.read');
        await goToConnections(page);
        await page.goto(`${world.url}/connections/${id}`);
        await page.getByRole('button', { name: 'Disconnect' }).click();
        await page.getByRole('status').waitFor();
      },
    ],
    [
      'disconnect',
      async (page) => {
        await goToConnections(page);
        await page.getByRole('link', { name: 'Disconnect' }).first().click();
        await page.getByRole('button', { name: 'Disconnect' }).waitFor();
      },
    ],
    [
      'the end',
      async (page) => {
        const ours = { redirect_uris: ['com.acme.notes:/callback'] };
        const asked = { ...NOTES, ...ours, redirect_uri: 'com.acme.notes:/callback' };
        await goToConsent(page, await world.addApplication(asked));
        await page.getByRole('button', { name: 'Allow' }).click();
        await page.getByRole('link', { name: 'Open Acme Notes' }).waitFor();
      },
    ],
    ['error', async (page) => void (await page.goto(`${world.url}/link/nobody`))],
    [
      'refused address',
      async (page) => {
        const { id: client_id } = await world.addApplication(NOTES);
        const asked = { client_id, redirect_uri: `https://evil.example/${'x'.repeat(300)}` };
        await page.goto(`${world.url}/oauth/authorize?${new URLSearchParams(asked)}`);
      },
    ],
  ];

  /** The value of an expression about the first element that a selector finds, as `e`. */
  const ofElement = <Value>(page: Page, selector: string, expression: string) =>
    page.evaluate<Value>(`((e) => ${expression})(document.querySelector('${selector}'))`);
  const linesOf = (page: Page, selector: string) =>
    ofElement<number>(
      page,
      selector,
      'Math.round(e.getBoundingClientRect().height / parseFloat(getComputedStyle(e).lineHeight))',
    );
  const widthOf = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth');

  describe.each(pages)('%s', (name, go) => {
    const size = name === 'consent' ? {} : slow;
    const isPictured = name === 'consent' || name === 'connections';
    test('has nothing for axe to find, in light and in dark', size, async () => {
      const { page, complaints } = await open({ viewport: { width: 600, height: 480 } });
      await go(page);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await violationsOf(page)).toEqual([]);
        if (process.env.WRITE_SCREENSHOTS && isPictured) {
          await page.screenshot({ path: `${images}${name}-${colorScheme}.png`, fullPage: true });
        }
      }
      const told = {
        ...{ error: '410', 'refused address': '400' },
        // Nothing opens it.
        'the end': 'com.acme.notes:/callback',
      }[name];
      expect(complaints).toEqual(told === undefined ? [] : [expect.stringContaining(told)]);
    });

    test('fits every screen', size, async () => {
      const { page } = await open();
      await go(page);
      for (const viewport of [
        { width: 320, height: 640 },
        // 1280 × 1024 at 400 % (WCAG 2.2, 1.4.10).
        { width: 320, height: 256 },
        { width: 1920, height: 1080 },
      ]) {
        await page.setViewportSize(viewport);
        expect(await widthOf(page)).toBeLessThanOrEqual(viewport.width);
        for (const one of await page.locator('a, button, summary').all()) {
          await one.scrollIntoViewIfNeeded();
          const { x = 0, width = 0, height = 0 } = (await one.boundingBox()) ?? {};
          expect(x).toBeGreaterThanOrEqual(0);
          expect(x + width).toBeLessThanOrEqual(viewport.width);
          // WCAG 2.2, 2.5.8.
          expect(height).toBeGreaterThanOrEqual(24);
        }
        if (process.env.WRITE_SCREENSHOTS && isPictured && viewport.height === 640) {
          await page.screenshot({ path: `${images}${name}-phone.png`, fullPage: true });
        }
      }
    });
  });

  test('are shown in German', slow, async () => {
    const { page } = await open({ locale: 'de-CH', viewport: { width: 320, height: 640 } });
    await goToConsent(page, await world.addApplication(NOTES));
    await page.getByRole('button', { name: 'Zulassen' }).waitFor();
    expect(await widthOf(page)).toBe(320);
    expect(await violationsOf(page)).toEqual([]);
  });

  test('fit names that are as long as they can be', slow, async () => {
    const name = 'W'.repeat(200);
    const redirect = { homepage_uri: `https://${'a'.repeat(60)}.${'b'.repeat(60)}.example/` };
    const { page } = await open({ viewport: { width: 320, height: 640 } });
    await goToConsent(page, await world.addApplication({ ...redirect, name }));
    expect(await widthOf(page)).toBe(320);
    expect(await page.locator('.logo').first().textContent()).toBe('W');
    expect(await linesOf(page, 'h1 bdi')).toBe(2);
    expect(await linesOf(page, 'h2 bdi')).toBe(2);
    expect(await linesOf(page, '.notes .quiet bdi')).toBe(2);
  });

  test('keep a username that is an address on one line, beside the button or above it', async () => {
    const { page } = await open({ viewport: { width: 480, height: 640 } });
    await goToConsent(page, await world.addApplication(NOTES));
    const username = '.account .quiet bdi';
    await ofElement(page, username, "e.textContent = 'ada.lovelace@analytical.example'");
    for (const width of [480, 360, 1000]) {
      await page.setViewportSize({ width, height: 640 });
      expect(await linesOf(page, username)).toBe(1);
    }
  });

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
    await expect.poll(() => page.locator('.logo > img').count()).toBe(1);
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
