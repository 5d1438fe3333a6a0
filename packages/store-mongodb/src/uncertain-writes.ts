import { DomainError } from '@latchkey/domain/domain-error';
import type { ClientSession } from 'mongodb';
import type { Concerns } from './concerns.ts';
import { isDatabaseError, isRefusal, unavailable } from './errors.ts';
import { growingPauses } from './pauses.ts';

/** `result`: made, or can't be made any more. `retry`: not made, and may be sent again. */
export type ReadBack<T> = { result: T } | 'retry' | 'unknown';

export interface Write<T> {
  grant_id?: string;
  /** What was done of a longer work stays done, and a repetition of the work does the rest. */
  isPart?: true;
  /** Safe to repeat. Returns null if it matched nothing, and undefined if that is not known. */
  send(options: WriteOptions): Promise<T>;
  /** Left out if a repetition returns the same as the lost response. */
  readBack?(): Promise<ReadBack<T>>;
}

type WriteOptions = DurableOptions & { comment: { toBSON(): string } };

type DurableOptions = Concerns['durable'] & { session?: ClientSession };

/** Adds the options that make a write durable. */
export type Send = <T>(command: (options: DurableOptions) => Promise<T>) => Promise<T>;

// The longest is short compared with an election of 10 s.
const PAUSES = { first: 100, most: 1_000 };

/** @throws DomainError `store_unavailable` if nothing was changed, otherwise `outcome_unknown` */
export async function settle<T>(
  write: Write<T>,
  durably: Send,
  timeoutMs: number,
  closing: AbortSignal,
): Promise<T> {
  const first = await send(write, durably);
  if ('result' in first) {
    // That the driver's repetition matched nothing says nothing about the first command.
    if (first.result !== null || first.sends <= 1) return first.result;
    return afterRepetition(write, first.result, outcomeUnknown(write));
  }
  if (!mayBeMade(first)) throw unavailable(first.error);

  // The command may still be on its way, so `store_unavailable` could turn out wrong.
  const unknown = outcomeUnknown(write, first.error);
  const deadline = performance.now() + timeoutMs;
  const pause = growingPauses(PAUSES);
  for (;;) {
    const found = await tryReadBack(write);
    if (typeof found === 'object') return found.result;
    if (found === 'unknown') throw unknown;
    if (found === 'retry') {
      const next = await send(write, durably);
      if ('result' in next) return afterRepetition(write, next.result, unknown);
      // What was never sent, as where the pool was emptied just then, changes nothing of what is known.
      if (next.sends > 0 && !mayBeMade(next)) throw unknown;
    }
    if (closing.aborted || performance.now() >= deadline) throw unknown;
    await pause(closing);
  }
}

type Sent<T> = { sends: number } & ({ result: T } | { error: unknown });

/** The driver asks the `comment` for its BSON each time it sends the command: see decision 32. */
async function send<T>(write: Write<T>, durably: Send): Promise<Sent<T>> {
  let sends = 0;
  const comment = {
    toBSON() {
      sends += 1;
      return 'latchkey';
    },
  };
  try {
    const result = await durably((options) => write.send({ ...options, comment }));
    return { result, sends };
  } catch (error) {
    return { error, sends };
  }
}

function mayBeMade({ error, sends }: { error: unknown; sends: number }): boolean {
  // The response to the last of several sends says nothing about the first.
  return sends > 1 || (sends === 1 && !isRefusal(error));
}

export function outcomeUnknown({ grant_id }: { grant_id?: string }, cause?: unknown): DomainError {
  return new DomainError('outcome_unknown', grant_id === undefined ? {} : { grant_id }, cause);
}

async function tryReadBack<T>(write: Write<T>): Promise<ReadBack<T> | 'unreadable'> {
  if (!write.readBack) return 'retry';
  try {
    return await write.readBack();
  } catch (error) {
    if (!isDatabaseError(error)) throw error;
    return 'unreadable';
  }
}

/** If it matched nothing, the first command was made, or will match nothing either. */
async function afterRepetition<T>(write: Write<T>, result: T, unknown: DomainError): Promise<T> {
  if (result !== null) return result;
  const found = await tryReadBack(write);
  if (typeof found === 'object') return found.result;
  if (found === 'retry') return result;
  throw unknown;
}
