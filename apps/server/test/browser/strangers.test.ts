import { describeInBrowser } from '@latchkey/test-kit/chromium';
import { expect, test } from 'vitest';
import { request, STRANGER, toThisMachine } from '../client-documents/document-flow.ts';
import { publish, useWorld } from '../client-documents/document-server.ts';
import { violationsOf } from './accessibility.ts';
import { useLinkingWorld } from './linking-world.ts';

describeInBrowser('an application that is a stranger, in a browser', (open) => {
  const certificates = useWorld();
  const settings = { CLIENT_DOCUMENTS: 'any', OUTBOUND_ALLOW: 'private' };
  const world = useLinkingWorld(settings, toThisMachine);

  async function askedBy(changes: Record<string, string> = {}) {
    const { url, callbacks } = await world.addApplication();
    const redirect_uri = `${url}/callback`;
    const published = await publish(certificates, { redirect_uris: [redirect_uri] }, STRANGER);
    const asked = { ...request(published), redirect_uri, ...changes };
    const { page } = await open();
    await page.goto(`${world.publicUrl}/oauth/authorize?${new URLSearchParams(asked)}`);
    const isHere = () => new URL(page.url()).origin === new URL(world.publicUrl).origin;
    const goBack = async () => {
      await page.getByRole('link', { name: 'Go back to the application on this device' }).click();
      await page.getByRole('heading', { name: 'Back in the application' }).waitFor();
    };
    return { page, callbacks, isHere, goBack };
  }

  test('is told by a click that its request was wrong', async () => {
    const { page, callbacks, isHere, goBack } = await askedBy({ response_type: 'token' });
    await page.getByRole('heading', { name: 'asked in a wrong way' }).waitFor();
    expect([isHere(), callbacks]).toEqual([true, []]);
    expect(await violationsOf(page)).toEqual([]);
    await goBack();
    expect(callbacks).toMatchObject([{ error_code: 'response_type_unsupported' }]);
  });

  test('is told by a click that the user denied', async () => {
    const { page, callbacks, isHere, goBack } = await askedBy();
    await page.getByRole('button', { name: 'Deny', exact: true }).click();
    await page.getByRole('heading', { name: 'Nothing was connected' }).waitFor();
    expect(new URL(page.url()).pathname).toMatch(/^\/link\/[\da-f-]{36}\/done$/);
    expect([isHere(), callbacks]).toEqual([true, []]);
    expect(await page.locator('main').textContent()).toContain('Ada Lovelace');
    expect(await violationsOf(page)).toEqual([]);
    await goBack();
    expect(callbacks).toMatchObject([{ error: 'access_denied', state: 'a state' }]);
  });
});
