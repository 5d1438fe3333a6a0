import { MongoNetworkError } from 'mongodb';
import { expect, test } from 'vitest';
import { settle, type Write } from '../src/uncertain-writes.ts';

test('a repetition that never left is made again', async () => {
  const sent: string[] = [];
  const write: Write<string> = {
    async send({ comment }) {
      sent.push('begun');
      // The pool is emptied once the first connection breaks: then the command is not even encoded.
      if (sent.length === 2) throw new MongoNetworkError('the pool was emptied');
      comment.toBSON();
      if (sent.length === 1) throw new MongoNetworkError('closed');
      return 'made';
    },
    readBack: async () => 'retry',
  };
  const durably = <T>(command: (options: never) => Promise<T>) => command({} as never);
  const { signal } = new AbortController();
  expect(await settle(write, durably, 60_000, signal)).toBe('made');
  expect(sent).toHaveLength(3);
});
