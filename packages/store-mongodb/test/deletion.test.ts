import { aDeletion } from '@latchkey/store-suite/records';
import { expect, test } from 'vitest';
import { batch, failure } from './scripted-server.ts';
import { scripted } from './scripted-store.ts';

const firstPart = { limit: 9, before: null };

test('a deletion that fails behind the removal of its codes may be made in part', async () => {
  const { server, store } = await scripted();
  server.on('find', () => failure(13, 'Unauthorized'));
  const ended = store.endGrants(aDeletion(), firstPart);
  await expect(ended).rejects.toMatchObject({ code: 'outcome_unknown' });
  expect(server.sent('delete')).toHaveLength(1);
});

test('a deletion whose first write is refused changed nothing', async () => {
  const { server, store } = await scripted();
  server.on('delete', () => failure(13, 'Unauthorized'));
  const ended = store.endGrants(aDeletion(), firstPart);
  await expect(ended).rejects.toMatchObject({ code: 'store_unavailable' });
});

test('a removal of codes whose response is lost is sent again', async () => {
  const { server, store } = await scripted();
  server.script('delete', 'close', { n: 0 });
  server.on('find', () => batch());
  expect(await store.endGrants(aDeletion(), firstPart)).toEqual({ revoked: 0, before: null });
  expect(server.sent('delete')).toHaveLength(2);
});
