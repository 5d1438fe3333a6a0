import type { EndpointRecord } from '@latchkey/store/records';
import type { EndedTry } from '@latchkey/store/store';
import { expect, test } from 'vitest';
import { createEndings } from './endings.ts';

const ended = (delivery_id: string) => ({ delivery_id }) as EndedTry;

test('what ends while others are written down is written together, and each knows its own outcome', async () => {
  const batches: string[][] = [];
  const disabled: EndpointRecord[] = [];
  const first = Promise.withResolvers<EndpointRecord[]>();
  const results = [first.promise, Promise.reject(new Error('It is down.')), Promise.resolve([])];
  results[1]?.catch(() => {});
  const write = createEndings(
    {
      endTries: async (tries) => {
        batches.push(tries.map(({ delivery_id }) => delivery_id));
        return (await results.shift()) ?? [];
      },
    },
    (endpoint) => disabled.push(endpoint),
  );
  const one = write(ended('1'));
  const others = [write(ended('2')), write(ended('3'))];
  expect(batches).toEqual([['1']]);
  const gone = { id: 'gone' } as EndpointRecord;
  first.resolve([gone]);
  await one;
  expect(disabled).toEqual([gone]);
  for (const other of others) await expect(other).rejects.toThrow('It is down.');
  await write(ended('4'));
  expect(batches).toEqual([['1'], ['2', '3'], ['4']]);
});
