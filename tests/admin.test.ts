import { Latchkey } from '@latchkey/client';
import { LatchkeyAdmin } from '@latchkey/client/admin';
import { createTestServer, type TestServer } from '@latchkey/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

// What a host does, with the real service.

const HOUR = 3_600_000;
const redirectUri = 'http://127.0.0.1/callback';

let service: TestServer;
let latchkey: Latchkey;
let admin: LatchkeyAdmin;
let account_id: string;

beforeAll(async () => {
  service = await createTestServer({ scopes: ['profile.read', 'photos.read'] });
  latchkey = new Latchkey(service);
  const { baseUrl, adminSecret } = service;
  admin = new LatchkeyAdmin({ baseUrl, adminSecret, maxRetries: 0 });
  ({ id: account_id } = await service.putAccount());
});
afterAll(() => service.close());

/** Begins a link, up to the sign-in page. */
async function begin(scope = 'profile.read photos.read') {
  const { url, ...kept } = await latchkey.authorizationUrl({ redirectUri, scope });
  const response = await fetch(url, { redirect: 'manual' });
  const link = new URL(response.headers.get('Location') ?? '').searchParams.get('link') as string;
  return {
    link,
    finish: (callbackUrl: string) => latchkey.finishLinking(callbackUrl, { ...kept, redirectUri }),
  };
}

test('a host reads who asks for what, and sends its user to the consent page', async () => {
  const { link } = await begin();
  expect(await admin.links.read({ link })).toMatchObject({
    status: 'open',
    scope: 'profile.read photos.read',
    redirect_host: '127.0.0.1',
  });
  const { redirect_to, status } = await admin.links.identify({ link, account_id });
  expect(status).toBe('identified');
  const page = await fetch(redirect_to, { redirect: 'manual' });
  expect([page.status, page.headers.get('Location')]).toEqual([
    303,
    expect.stringMatching(/\/link\/[\w-]+\?opened=[\w-]+$/),
  ]);
});

test('a host with a consent page of its own approves a part, or denies', async () => {
  const { link, finish } = await begin();
  const approval = { link, account_id, scope: 'photos.read' };
  const { redirect_to, grant_id } = await admin.links.approve(approval);
  expect((await admin.links.approve(approval)).redirect_to).toBe(redirect_to);
  expect(await finish(redirect_to)).toMatchObject({ grant_id, scope: 'photos.read' });
  await expect(admin.links.deny({ link })).rejects.toMatchObject({
    error_code: 'link_decided',
    link_status: 'approved',
  });

  const other = await begin();
  const denied = await admin.links.deny({ link: other.link });
  await expect(other.finish(denied.redirect_to)).rejects.toThrow('not linked');
});

test('a user sees and ends the connected applications', async () => {
  const { data } = await admin.connections.list({ account_id });
  expect(data.map(({ application }) => application.name)).toEqual(['Test']);
  const application_id = data[0]?.application.id as string;
  const { url } = await admin.pages.create({ page: 'connections', account_id });
  expect((await fetch(url, { redirect: 'manual' })).status).toBe(303);

  const ended = await admin.connections.revoke({ account_id, application_id });
  expect(ended.data).toEqual([expect.objectContaining({ revoked: true })]);
  expect((await admin.connections.list({ account_id })).data).toEqual([]);
});

test('an expired link leads the browser back to its application', async () => {
  const { link, finish } = await begin();
  service.advance(HOUR);
  const error = await admin.links.identify({ link, account_id }).catch((error) => error);
  expect(error).toMatchObject({ name: 'InvalidRequestError', error_code: 'link_expired' });
  await expect(finish(error.redirect_to)).rejects.toMatchObject({
    name: 'LinkDeniedError',
    error_code: 'link_expired',
  });
});

test('lists go on where the page before ended', async () => {
  await admin.applications.create({ name: 'Another' });
  const first = await admin.applications.list({ limit: 1 });
  const second = await admin.applications.list({ limit: 1, cursor: first.next_cursor as string });
  const names = [...first.data, ...second.data].map(({ name }) => name);
  expect(names).toEqual(['Another', 'Test']);
  expect(await admin.scopes.list()).toMatchObject({
    data: [{ scope: 'photos.read' }, { scope: 'profile.read' }],
  });
});
