import type { MongodbKind } from './mongodb-servers.ts';

/** A target and whether it was met. */
export interface Target {
  text: string;
  measured: string;
  isMet: boolean;
}

/** Compares a ratio with its limit. */
export function ratioTarget(
  text: string,
  ratio: number,
  [bound, limit]: ['at least' | 'at most', number],
): Target {
  const isMet = bound === 'at least' ? ratio >= limit : ratio <= limit;
  return { text, measured: `${ratio.toFixed(2)} ×`, isMet };
}

export interface BenchmarkResult {
  /** Sizes and versions. */
  conditions: string[];
  /** Tables, in Markdown. */
  text: string;
  targets: Target[];
  plot?: { alt: string; svg: string };
}

/** A benchmark, which can be run alone. */
export interface Benchmark {
  /** The name of its page in `results`. */
  page: string;
  title: string;
  /**
   * @param mongodbs - what it also measures on
   * @param quick - whether to run with small sizes, for a first look
   */
  run(mongodbs: readonly MongodbKind[], quick: boolean): Promise<BenchmarkResult>;
}
