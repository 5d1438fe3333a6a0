import { expect, test } from 'vitest';
import { createKeptResponses } from './kept-responses.ts';
import { createPlaces } from './places.ts';

test('a bound keeps what was used last', async () => {
  let fetched: string[] = [];
  const kept = createKeptResponses({
    clock: () => 0,
    places: createPlaces(),
    async fetch({ href }) {
      fetched.push(href);
      return { body: Buffer.from(href), keep: 1 };
    },
    read: String,
    most: 3,
  });
  const addressOf = (index: number) => `https://a.example/${index}`;
  for (const index of [0, 1, 2]) await kept.find(addressOf(index));
  await kept.find(addressOf(0));
  await kept.find(addressOf(3));
  fetched = [];
  await kept.find(addressOf(0));
  expect(fetched).toEqual([]);
  await kept.find(addressOf(1));
  expect(fetched).toEqual([addressOf(1)]);
});
