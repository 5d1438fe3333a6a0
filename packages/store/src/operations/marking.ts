import { isDeepStrictEqual } from 'node:util';
import { type Ending, type Marked, unfinishedOf, type Work } from '../endings.ts';

/** What a mark has begun or done, or what has to be finished first, since there is no room for it. */
export type Marking<W = Work> = { work: W } | { first: Work };

export async function marking<W>(
  mark: () => Promise<Marking<W>>,
  finish: (work: Work) => Promise<void>,
): Promise<W> {
  for (;;) {
    const marked = await mark();
    if ('work' in marked) return marked.work;
    await finish(marked.first);
  }
}

/** The one that makes room. A reader may keep a log from being emptied for an erasure, which then waits for a later one. */
export function firstOf(marked: Marked, of: Parameters<typeof unfinishedOf>[1]): Work {
  const unfinished = unfinishedOf(marked, of);
  return unfinished.find(({ kind }) => kind !== 'erasure') ?? (unfinished[0] as Work);
}

/** Whether a record that was read back has it. */
export const hasEnding = (marked: NonNullable<Marked>, { before, at, by }: Ending): boolean =>
  marked.endings?.some(
    (one) => one.before === before && one.at === at && isDeepStrictEqual(one.by, by),
  ) ?? false;
