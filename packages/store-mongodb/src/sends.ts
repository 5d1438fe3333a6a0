import type { Sent } from '@latchkey/store/uncertain-writes';
import type { ClientSession } from 'mongodb';
import type { Concerns } from './concerns.ts';
import { isRefusal } from './errors.ts';

type DurableOptions = Concerns['durable'] & { session?: ClientSession };

/** Adds the options that make a write durable. */
export type Durably = <T>(command: (options: DurableOptions) => Promise<T>) => Promise<T>;

export type WriteOptions = DurableOptions & { comment: { toBSON(): string } };

/** The driver asks the `comment` for its BSON each time it sends the command: see decision 32. */
export async function countSends<T>(
  command: (options: WriteOptions) => Promise<T>,
  durably: Durably,
): Promise<Sent<T>> {
  let sends = 0;
  const comment = {
    toBSON() {
      sends += 1;
      return 'latchkey';
    },
  };
  try {
    const result = await durably((options) => command({ ...options, comment }));
    return { result, sends };
  } catch (error) {
    return { error, sends, isRefused: isRefusal(error) };
  }
}
