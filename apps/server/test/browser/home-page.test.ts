import { DomainError } from '@latchkey/domain/domain-error';
import { describeInBrowser } from '@latchkey/test-kit/chromium';
import { expect, test, vi } from 'vitest';
import { useDemo } from '../demo/running-demo.ts';
import { sqliteDatabase } from '../http/databases.ts';
import { useServer } from '../http/running-server.ts';
import { violationsOf } from './accessibility.ts';

describeInBrowser('/ in a browser', (open) => {
  const demo = useDemo();
  const bare = useServer(sqliteDatabase);

  test('says what this is and how it is, and leads on', async () => {
    const { page, complaints } = await open({ viewport: { width: 360, height: 640 } });
    await page.goto(demo.url);
    expect(page.url()).toBe(`${demo.url}/`);
    expect(await page.locator('.state > li').allTextContents()).toEqual([
      'Ready. The database responds.',
      'Linking is on. Users connect applications to their accounts.',
    ]);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violationsOf(page)).toEqual([]);
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);

    const doors = page.locator('.doors strong');
    expect(await doors.allTextContents()).toEqual(['Demo', 'API', 'Errors', 'Guide']);
    for (const [door, title] of [
      ['Demo', 'Connect your account'],
      ['API', 'OAuth 2.0 server'],
      ['Errors', 'Errors'],
    ] as const) {
      await doors.getByText(door, { exact: true }).click();
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
      // A request that going back ends is a complaint.
      await page.waitForLoadState('networkidle');
      await page.goBack();
    }
    expect(complaints).toEqual([]);
  });

  test('says what is not there', async () => {
    const { page } = await open();
    await page.goto(bare.url);
    await page.getByText('Linking is off. Set SIGN_IN_URL').waitFor();
    expect(await page.locator('.doors strong').allTextContents()).toEqual([
      'API',
      'Errors',
      'Guide',
    ]);
    const ping = vi.spyOn(demo.service.store, 'ping');
    ping.mockRejectedValueOnce(new DomainError('store_unavailable'));
    await page.goto(demo.url);
    await page.getByText('Not ready. The database is unavailable.').waitFor();
    expect(await page.locator('.state a').getAttribute('href')).toBe(
      './docs/errors#store_unavailable',
    );
  });
});
