import { settle } from '@latchkey/store/uncertain-writes';
import { MongoNetworkError } from 'mongodb';
import { expect, test } from 'vitest';
import { isDatabaseError, unavailable } from '../src/errors.ts';
import { countSends, type WriteOptions } from '../src/sends.ts';

test('a repetition that never left is made again', async () => {
  const sent: string[] = [];
  async function command({ comment }: WriteOptions) {
    sent.push('begun');
    // The pool is emptied once the first connection breaks: then the command is not even encoded.
    if (sent.length === 2) throw new MongoNetworkError('the pool was emptied');
    comment.toBSON();
    if (sent.length === 1) throw new MongoNetworkError('closed');
    return 'made';
  }
  const write = {
    send: () => countSends(command, (send) => send({} as never)),
    readBack: async () => 'retry' as const,
  };
  const { signal: closing } = new AbortController();
  const settling = { timeout: 60_000, closing, isDatabaseError, unavailable };
  expect(await settle(write, settling)).toBe('made');
  expect(sent).toHaveLength(3);
});
