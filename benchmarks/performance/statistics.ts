/** What one load on one server was seen to take. */
export interface Sample {
  /** Requests answered in a second. */
  throughput: number;
  /** CPU seconds of the server for 1,000 requests. */
  cpu: number;
  /** Milliseconds to an answer, of the median request and of the 99th in a hundred. */
  p50: number;
  p99: number;
  /** Milliseconds to the answer that took longest. */
  slowest: number;
}

/** The value below which a part of the values lies, of values in ascending order. */
export function quantile(sorted: ArrayLike<number>, part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** How far the values lie apart: from the least to the most, in parts of their median. */
export function spread(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / median(values);
}

/** The medians of several rounds. */
export function medians(samples: readonly Sample[]): Sample {
  const of = (name: keyof Sample) => median(samples.map((sample) => sample[name]));
  return {
    throughput: of('throughput'),
    cpu: of('cpu'),
    p50: of('p50'),
    p99: of('p99'),
    slowest: of('slowest'),
  };
}
