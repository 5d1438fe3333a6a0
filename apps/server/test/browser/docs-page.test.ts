import { fileURLToPath } from 'node:url';
import { describeInBrowser } from '@latchkey/test-kit/chromium';
import { slow } from '@latchkey/test-kit/long';
import { expect, test } from 'vitest';
import { send } from '../http/call.ts';
import { sqliteDatabase } from '../http/databases.ts';
import { linkedApplication } from '../http/linked-application.ts';
import { useServer } from '../http/running-server.ts';
import { violationsOf } from './accessibility.ts';

// The picture for the docs. It is written only if WRITE_SCREENSHOTS is set: a test run changes no file.
const screenshot = fileURLToPath(new URL('../../../../docs/images/docs-page.png', import.meta.url));

describeInBrowser('/docs in a browser', (open) => {
  const server = useServer(sqliteDatabase, { PUBLIC_URL: 'https://latchkey.example' });

  test('shows every operation that is served', slow, async () => {
    const { page, complaints } = await open();
    await page.goto(`${server.url}/docs`);
    await page.getByText('/admin/grants/{grant_id}/revoke').waitFor();

    const { json } = await send(server, { method: 'GET', path: '/docs/openapi.json' });
    const operations = Object.values<object>(json.paths).flatMap((path) => Object.keys(path));
    expect(await page.locator('.opblock').count()).toBe(operations.length);
    expect(complaints).toEqual([]);

    if (process.env.WRITE_SCREENSHOTS) await page.screenshot({ path: screenshot });
  });
});

describeInBrowser('/docs for a person', (open) => {
  const server = useServer(sqliteDatabase);

  test('explains the flow, leads to the errors, and is dark where the browser is', async () => {
    const { page, complaints } = await open({ viewport: { width: 1280, height: 860 } });
    await page.goto(`${server.url}/docs`);
    await page.getByRole('heading', { level: 1, name: 'OAuth 2.0 server' }).waitFor();
    const lines = await page.locator('header li').all();
    expect(lines).toHaveLength(5);
    for (const line of lines) expect((await line.boundingBox())?.height).toBeLessThan(32);

    await page.locator('.opblock', { hasText: '/oauth/convert' }).locator('button').first().click();
    await page.getByText('"code_verifier"').waitFor();
    for (const [colorScheme, background] of [
      ['light', 'rgb(255, 255, 255)'],
      ['dark', 'rgb(28, 32, 34)'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      const behind = 'getComputedStyle(document.body).backgroundColor';
      expect(await page.evaluate(behind)).toBe(background);
      await page
        .locator(colorScheme === 'dark' ? 'html.dark-mode' : 'html:not(.dark-mode)')
        .waitFor();
      // The others are in the markup of Swagger UI.
      const ofOthers = /^(?:nested-interactive|region|select-name): /;
      const violations = await violationsOf(page);
      expect(violations.filter((violation) => !ofOthers.test(violation))).toEqual([]);
    }

    await page.setViewportSize({ width: 360, height: 640 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    await page.locator('header').getByRole('link', { name: 'what each means' }).click();
    await page.getByRole('heading', { level: 1, name: 'Errors' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violationsOf(page)).toEqual([]);
    }
    expect(complaints).toEqual([]);
  });
});

describeInBrowser('"Try it out" in a browser', (open) => {
  const server = useServer(sqliteDatabase);

  test('converts a code', async () => {
    const { secret, issue } = await linkedApplication(server);
    const { code, grant_id } = await issue();
    const { page, complaints } = await open();
    await page.goto(`${server.url}/docs`);

    const convert = page.locator('.opblock', { hasText: '/oauth/convert' });
    await convert.getByRole('button', { name: 'authorization button' }).click();
    const dialog = page.locator('.modal-ux');
    await dialog.locator('input').fill(secret);
    await dialog.getByRole('button', { name: 'Apply credentials' }).click();
    await dialog.getByRole('button', { name: 'Close' }).click();

    await convert.getByText('Convert a code into a grant').click();
    await convert.getByRole('button', { name: 'Try it out' }).click();
    await convert.locator('textarea').fill(JSON.stringify({ code }));
    await convert.getByRole('button', { name: 'Execute' }).click();

    const response = convert.locator('.live-responses-table');
    await response.locator('.response-col_status', { hasText: '200' }).waitFor();
    expect(await response.locator('td.response-col_description').last().textContent()).toContain(
      `"grant_id": "${grant_id}"`,
    );
    expect(complaints).toEqual([]);
  });
});
