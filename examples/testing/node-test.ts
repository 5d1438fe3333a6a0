import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ApplicationDisabledError, Latchkey } from '@latchkey/client';
import { createTestServer, type TestServer } from '@latchkey/testing';
import { link, nameOf } from './links.ts';

let server: TestServer;
let latchkey: Latchkey;

before(async () => {
  server = await createTestServer();
  latchkey = new Latchkey(server);
});
after(() => server.close());

test('a user links an account', async () => {
  const { code } = await server.issueCode();
  const linked = await link(latchkey, code);
  assert.ok(linked);
  assert.equal(await nameOf(latchkey, linked), 'Ada Lovelace');
});

test('the response is lost, and the grant is recovered', async () => {
  const { code, grant_id } = await server.issueCode();
  server.dropNextAnswer('grants.convert');
  const linked = await link(latchkey, code);
  assert.ok(linked);
  assert.equal(linked.grant_id, grant_id);
  assert.equal(await nameOf(latchkey, linked), 'Ada Lovelace');
});

test('the user takes too long', async () => {
  const { code } = await server.issueCode();
  server.expire();
  assert.equal(await link(latchkey, code), null);
});

test('the user unlinks the account at the service', async () => {
  const { code, grant_id } = await server.issueCode();
  const linked = await link(latchkey, code);
  assert.ok(linked);
  await server.revoke(grant_id);
  assert.equal(await nameOf(latchkey, linked), null);
});

test('the service disables the application for a while', async () => {
  const { code } = await server.issueCode();
  const linked = await link(latchkey, code);
  assert.ok(linked);
  await server.disable();
  // Not null: the account is still linked.
  await assert.rejects(nameOf(latchkey, linked), ApplicationDisabledError);
  await server.enable();
  assert.equal(await nameOf(latchkey, linked), 'Ada Lovelace');
});
