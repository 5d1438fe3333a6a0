import { expect, test } from 'vitest';
import { aRefusal } from '../../test/store/suite/records.ts';
import { openStore } from '../store/open-store.ts';
import { explainRequest } from './explain.ts';

test('the first refusal of an id is shown, however often a caller repeats it', async () => {
  const store = await openStore('file::memory:', { clock: Date.now });
  const request_id = 'of-a-caller';
  const [first, ...more] = Array.from({ length: 60 }, (_, at) => aRefusal({ request_id, at }));
  await store.keepRefusals([...more, first as never]);
  const shown = await explainRequest(store, request_id);
  const [newest, oldest] = [shown[0], shown.at(-1)];
  expect(shown).toHaveLength(20);
  expect([newest?.at, oldest?.at].map((at) => Date.parse(at ?? ''))).toEqual([59, 0]);
  await store.close();
});
