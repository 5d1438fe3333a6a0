import { fileURLToPath } from 'node:url';
import { describeInBrowser } from '@latchkey/test-kit/chromium';
import { slow } from '@latchkey/test-kit/long';
import { expect, test } from 'vitest';
import { send } from '../http/call.ts';
import { sqliteDatabase } from '../http/databases.ts';
import { linkedApplication } from '../http/linked-application.ts';
import { useServer } from '../http/running-server.ts';

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
