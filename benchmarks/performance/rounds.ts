import { note } from './workbench.ts';

/** A round, in which each has its turn. */
export interface Round<T> {
  order: T[];
  /** The first is for the compilers of the servers, and does not count. */
  counts: boolean;
}

/**
 * So many rounds and one before them. Each begins with another, so that none is always the one after
 * the slowest.
 */
export function* rounds<T>(all: readonly T[], count: number): Generator<Round<T>> {
  for (let round = 0; round <= count; round++) {
    note(round === 0 ? 'Warming up …' : `Round ${round} of ${count} …`);
    yield {
      order: all.map((_, index) => all[(index + round) % all.length] as T),
      counts: round > 0,
    };
  }
}
