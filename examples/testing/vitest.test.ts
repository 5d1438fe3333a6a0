import { ApplicationDisabledError, Latchkey } from '@latchkey/client';
import { createTestServer } from '@latchkey/testing';
import { expect, test } from 'vitest';
import { link, nameOf } from './links.ts';

test('a user links an account', async () => {
  await using server = await createTestServer();
  const latchkey = new Latchkey(server);
  const { code } = await server.issueCode();

  const linked = await link(latchkey, code);
  expect(linked && (await nameOf(latchkey, linked))).toBe('Ada Lovelace');
});

test('the response is lost, and the grant is recovered', async () => {
  await using server = await createTestServer();
  const latchkey = new Latchkey(server);
  const { code, grant_id } = await server.issueCode();
  server.dropNextAnswer('grants.convert');

  const linked = await link(latchkey, code);
  expect(linked?.grant_id).toBe(grant_id);
  expect(linked && (await nameOf(latchkey, linked))).toBe('Ada Lovelace');
});

test('the user takes too long', async () => {
  await using server = await createTestServer();
  const { code } = await server.issueCode();
  server.expire();

  expect(await link(new Latchkey(server), code)).toBeNull();
});

test('the user unlinks the account at the service', async () => {
  await using server = await createTestServer();
  const latchkey = new Latchkey(server);
  const { code, grant_id } = await server.issueCode();
  const linked = await link(latchkey, code);
  await server.revoke(grant_id);

  expect(linked && (await nameOf(latchkey, linked))).toBeNull();
});

test('the service disables the application for a while', async () => {
  await using server = await createTestServer();
  const latchkey = new Latchkey(server);
  const { code } = await server.issueCode();
  const linked = await link(latchkey, code);
  await server.disable();

  // Not null: the account is still linked.
  await expect(linked && nameOf(latchkey, linked)).rejects.toThrow(ApplicationDisabledError);
  await server.enable();
  expect(linked && (await nameOf(latchkey, linked))).toBe('Ada Lovelace');
});
