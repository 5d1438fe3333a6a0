import { createTestServer } from '@latchkey/testing';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  type Hosted,
  onAnotherSite,
  startHosted,
  testHandOff,
  toCallback,
} from '../support/hosted.ts';
import { freePort, startLinkingProgram } from '../support/linking-program.ts';
import { environment } from '../support/service.ts';
import { describeRole, installRole } from './programs.ts';

// The hosts of examples/hosts sign users in for the real service. They have no SDK.

const PYTHON = { PYTHONDONTWRITEBYTECODE: '1' };

describeRole('host', await installRole('host'), (command) => {
  let hosted: Hosted;
  beforeAll(async () => {
    hosted = await startHosted((port) => command(port), PYTHON);
  });
  afterAll(() => hosted?.stop());

  const open = (path: string, init: RequestInit = {}) =>
    fetch(hosted.host.url + path, { redirect: 'manual', ...init });
  const signIn = (cookie = '') =>
    open('/link?link=', { method: 'POST', headers: { Origin: hosted.host.url, cookie } });

  testHandOff(() => hosted);

  test('signs nobody in, and denies nothing, for another site', async () => {
    const browser = toCallback();
    const page = onAnotherSite(await browser.open(hosted.authorizationUrl));
    expect(await browser.press(page, 'Sign in')).toMatchObject({ status: 403 });
    expect(await browser.press(page, 'Cancel')).toMatchObject({ status: 403 });
  });

  test('starts a session of its own for each user who signs in', async () => {
    const [first = ''] = (await signIn('session=planted')).headers.getSetCookie();
    const cookie = first.split(';', 1)[0] as string;
    expect(first).toMatch(/^session=[^;]{20,}(?=.*; HttpOnly)(?=.*; Path=\/)(?=.*; SameSite=Lax)/i);
    expect((await signIn(cookie)).headers.getSetCookie()).not.toEqual([first]);
    expect(await (await open('/link', { headers: { cookie } })).text()).toBe('You are signed in.');
    const planted = await open('/link', { headers: { cookie: 'session=planted' } });
    expect(await planted.text()).toContain('Sign in');
    expect(planted.headers.get('Content-Security-Policy')).toContain("frame-ancestors 'none'");
  });

  test('says that a link was answered or does not work, and leads nowhere', async () => {
    const browser = toCallback();
    const page = await browser.open(hosted.authorizationUrl);
    const consent = await browser.press(page, 'Sign in');
    await browser.press(consent, 'Allow');
    const answered = await browser.open(page.url);
    expect(answered).toMatchObject({ status: 409, url: page.url });
    expect(answered.text).toContain('already answered');
    const unknown = await browser.open(`${hosted.host.url}/link?link=lk_link_unknown`);
    expect(unknown).toMatchObject({ status: 404 });
    expect(unknown.text).toContain('Start again in the application');
    const none = await browser.press(await toCallback().open(`${hosted.host.url}/link`), 'Cancel');
    expect(none).toMatchObject({ status: 400, text: unknown.text });
  });

  test('leads back to the application with a link that has expired', async () => {
    const port = await freePort();
    const signInUrl = `http://127.0.0.1:${port}/link`;
    await using server = await createTestServer({ signInUrl });
    const host = await startLinkingProgram(command(port), port, {
      cwd: process.cwd(),
      env: environment({
        ...PYTHON,
        PORT: port,
        HOST_URL: 'https://host.example',
        LATCHKEY_URL: server.baseUrl,
        LATCHKEY_ADMIN_SECRET: server.adminSecret,
      }),
    });
    onTestFinished(host.stop);
    const link = await server.beginLink();
    const headers = { Origin: 'https://host.example', 'Sec-Fetch-Site': 'same-origin' };
    const signedIn = await fetch(link.signInUrl, { method: 'POST', headers, redirect: 'manual' });
    const [cookie = ''] = signedIn.headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-session=(?=.*; Secure)/i);

    server.advance(3_600_000);
    const response = await fetch(link.signInUrl, { headers: { cookie }, redirect: 'manual' });
    const address = response.headers.get('Location');
    expect(await link.finish(address)).toMatchObject({ grant: null, error_code: 'link_expired' });
  });

  // This test must be the last: it stops the service.
  test('says to try again without Latchkey, and has printed no link and no key', async () => {
    const cookie = (await signIn()).headers.getSetCookie()[0]?.split(';', 1)[0] as string;
    await hosted.service.stop();
    const response = await open('/link?link=lk_link_any', { headers: { cookie } });
    expect([response.status, await response.text()]).toEqual([503, expect.stringMatching('Try')]);
    expect(hosted.host.printed()).toContain('Latchkey: ');
    expect(hosted.host.printed()).not.toMatch(/lk_(link|key|ticket)_/);
  });
});
