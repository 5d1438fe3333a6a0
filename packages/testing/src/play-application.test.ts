import { Latchkey } from '@latchkey/client';
import { LatchkeyAdmin } from '@latchkey/client/admin';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestServer, type TestServer } from './index.ts';

const SIGN_IN_URL = 'http://127.0.0.1:4001/link?from=latchkey';

let server: TestServer;
let admin: LatchkeyAdmin;
let account_id: string;
beforeAll(async () => {
  server = await createTestServer({ signInUrl: SIGN_IN_URL });
  const { baseUrl, adminSecret } = server;
  admin = new LatchkeyAdmin({ baseUrl, adminSecret });
  account_id = (await server.putAccount()).id;
});
afterAll(() => server.close());

/** Begins a link, as far as the host. */
async function begin() {
  const application = await server.beginLink();
  const link = new URL(application.signInUrl).searchParams.get('link') as string;
  return { application, link };
}

test('an application brings the browser to the host', async () => {
  const hints = { loginHint: 'ada@example.com', uiLocales: 'de en' };
  const { signInUrl } = await server.beginLink(hints);
  expect(signInUrl.startsWith(`${SIGN_IN_URL}&link=lk_link_`)).toBe(true);
  const { searchParams } = new URL(signInUrl);
  expect(searchParams.get('login_hint')).toBe(hints.loginHint);
  expect(searchParams.get('ui_locales')).toBe(hints.uiLocales);
});

test('the user allows it on the page of the service', async () => {
  const { application, link } = await begin();
  const { redirect_to } = await admin.links.identify({ link, account_id });
  const { grant, error_code } = await application.finish(redirect_to);
  expect([grant?.account.username, error_code]).toEqual(['ada', null]);
  const latchkey = new Latchkey(server);
  expect((await latchkey.account(grant?.grant_secret ?? '')).id).toBe(account_id);
  // The page has been opened.
  await expect(application.finish(redirect_to)).rejects.toThrow('page_expired');
});

test('the callback of the application has a path like those of the service', async () => {
  const redirectUris = ['https://app.example/link/callback'];
  const own = await createTestServer({ signInUrl: SIGN_IN_URL, redirectUris });
  try {
    const { id } = await own.putAccount();
    const application = await own.beginLink();
    const link = new URL(application.signInUrl).searchParams.get('link') as string;
    const host = new LatchkeyAdmin({ baseUrl: own.baseUrl, adminSecret: own.adminSecret });
    const { redirect_to } = await host.links.identify({ link, account_id: id });
    expect(await application.finish(redirect_to)).toMatchObject({ error_code: null });
  } finally {
    await own.close();
  }
});

test('the user checks a part of what is optional', async () => {
  const scopes = ['profile.read', 'posts.read', 'posts.write'];
  const own = await createTestServer({ signInUrl: SIGN_IN_URL, scopes });
  try {
    const { id } = await own.putAccount();
    const host = new LatchkeyAdmin({ baseUrl: own.baseUrl, adminSecret: own.adminSecret });
    const link = await own.beginLink({ optionalScope: 'posts.read posts.write' });
    const asked = new URL(link.signInUrl).searchParams.get('link') as string;
    const { redirect_to } = await host.links.identify({ link: asked, account_id: id });
    await expect(
      link.finish(redirect_to, 'allow', { optionalScope: 'profile.read' }),
    ).rejects.toThrow('parameter_invalid');
    const again = await host.links.identify({ link: asked, account_id: id });
    const { grant } = await link.finish(again.redirect_to, 'allow', {
      optionalScope: 'posts.write',
    });
    expect(grant?.scope).toBe('profile.read posts.write');

    const latchkey = new Latchkey(own);
    const redirectUri = 'http://127.0.0.1/callback';
    const request = { redirectUri, scope: 'profile.read', optionalScope: 'posts.read' };
    const { url, ...kept } = await latchkey.authorizationUrl(request);
    const callback = await own.approve(url, { scope: 'profile.read posts.read' });
    const linked = await latchkey.finishLinking(callback, { ...kept, redirectUri });
    expect(linked.scope).toBe('profile.read posts.read');
  } finally {
    await own.close();
  }
});

test('the user chooses what the host asks for, and the grant says it', async () => {
  const { application, link } = await begin();
  const choice = { title: 'Which workspace?', options: [{ id: 'ws-7' }, { id: 'ws-8' }] };
  const { redirect_to } = await admin.links.identify({ link, account_id, choice });
  await expect(application.finish(redirect_to)).rejects.toThrow('parameter_invalid');
  const again = await admin.links.identify({ link, account_id, choice });
  const { grant } = await application.finish(again.redirect_to, 'allow', { choice: 'ws-8' });
  const chosen = async (secret: string) => (await new Latchkey(server).grant(secret)).choice;
  expect(await chosen(grant?.grant_secret ?? '')).toEqual({ id: 'ws-8', label: 'ws-8' });

  const { code } = await server.issueCode({ choice: { id: 'ws-7', label: 'Acme' } });
  const issued = await new Latchkey(server).convert(code);
  expect(await chosen(issued.grant_secret)).toEqual({ id: 'ws-7', label: 'Acme' });
  const redirectUri = 'http://127.0.0.1/callback';
  const latchkey = new Latchkey(server);
  const { url, ...kept } = await latchkey.authorizationUrl({ redirectUri, scope: 'profile.read' });
  const callback = await server.approve(url, { choice: { id: 'ws-9' } });
  const linked = await latchkey.finishLinking(callback, { ...kept, redirectUri });
  expect(await chosen(linked.grant_secret)).toEqual({ id: 'ws-9', label: 'ws-9' });
});

test('the user denies it on the page of the service', async () => {
  const { application, link } = await begin();
  const { redirect_to } = await admin.links.identify({ link, account_id });
  const denied = { grant: null, error_code: 'access_denied' };
  expect(await application.finish(redirect_to, 'deny')).toEqual(denied);
});

test('the host decides it itself', async () => {
  const allowed = await begin();
  const approval = await admin.links.approve({ link: allowed.link, account_id });
  expect(await allowed.application.finish(approval.redirect_to)).toMatchObject({
    grant: { scope: 'profile.read' },
  });
  const used = { grant: null, error_code: 'code_already_used' };
  expect(await allowed.application.finish(approval.redirect_to)).toEqual(used);

  const denied = await begin();
  const denial = await admin.links.deny({ link: denied.link });
  expect((await denied.application.finish(denial.redirect_to)).error_code).toBe('access_denied');
});

test.each([null, '/sign-in', 'http://127.0.0.1/callback?code=lk_code_1'])(
  'the host leads to %j, where no application is',
  async (address) => {
    const { application } = await begin();
    await expect(application.finish(address)).rejects.toThrow(/^Your host sends the browser to/);
  },
);

test('a request that the service refuses does not come to the host', async () => {
  await expect(server.beginLink({ scope: 'none.such' })).rejects.toThrow('scope_unknown');
});
