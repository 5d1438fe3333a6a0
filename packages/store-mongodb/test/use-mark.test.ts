import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { dropDatabase, freshName, urlOf } from '@latchkey/test-kit/mongodb/test-databases';
import { MongoClient, WriteConcern } from 'mongodb';
import { expect, test } from 'vitest';
import { useMarks } from '../src/use-mark.ts';

describeOnMongodb('a mark', (server) => {
  test('is replaced if it is the same, and not if it has more', async () => {
    const name = freshName();
    const client = new MongoClient(urlOf(server, name));
    const marks = useMarks(client.db(), {
      durable: { writeConcern: new WriteConcern('majority'), maxTimeMS: 5_000 },
      decisive: { readConcern: { level: 'majority' }, maxTimeMS: 5_000 },
    });
    const mark = { id: 'an-id', is: 'used' } as const;
    const [one, other] = [
      { ...mark, events_keys: ['a'] },
      { ...mark, events_keys: ['b'] },
    ];
    expect(await marks.replace(null, mark)).toBe(true);
    expect(await marks.replace(mark, one)).toBe(true);
    // A process that read the mark before.
    expect(await marks.replace(mark, other)).toBe(false);
    expect(await marks.find()).toEqual(one);
    expect(await marks.replace(one, other)).toBe(true);
    await client.close();
    await dropDatabase(server, name);
  });
});
