import { aDeletion, anId, aWork } from '@latchkey/store-suite/records';
import { expect, test } from 'vitest';
import { toId } from '../src/values.ts';
import { batch, failure } from './scripted-server.ts';
import { scripted } from './scripted-store.ts';

test('a step that fails follows a mark', async () => {
  const { server, store } = await scripted();
  server.on('find', () => failure(13, 'Unauthorized'));
  const ended = store.doStep(aWork(), 'grants', 9);
  await expect(ended).rejects.toMatchObject({ code: 'outcome_unknown' });
});

test('a deletion whose mark is refused changed nothing', async () => {
  const { server, store } = await scripted();
  server.on('find', () => failure(13, 'Unauthorized'));
  const deleted = store.deleteApplication(aDeletion());
  await expect(deleted).rejects.toMatchObject({ code: 'store_unavailable' });
});

test('a removal of codes whose response is lost is sent again', async () => {
  const { server, store } = await scripted();
  server.on('find', () => batch({ _id: toId(anId()) }));
  server.script('delete', 'close', { n: 0 });
  expect(await store.doStep(aWork(), 'grants', 9)).toMatchObject({
    ...{ isOver: false, codes_cancelled: 0 },
  });
  expect(server.sent('delete')).toHaveLength(2);
});
