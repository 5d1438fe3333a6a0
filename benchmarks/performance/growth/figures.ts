import { quantile } from '../results.ts';

/** What an operation took on one database. */
export interface Figure {
  /** Milliseconds to the response: the median, and the 99th percentile. */
  p50: number;
  p99: number;
  /** CPU seconds of the server per 1,000 requests. NaN if that is not known. */
  cpu: number;
}

/** All requests of all rounds, by operation. Some operations have few in a round. */
export class Figures {
  readonly #all = new Map<string, { latencies: number[]; cpu: number }>();

  /** @param cpu - CPU seconds of the server per 1,000 requests. Default: not known */
  add(operation: string, latencies: ArrayLike<number>, cpu = Number.NaN): void {
    const of = this.#all.get(operation) ?? { latencies: [], cpu: 0 };
    this.#all.set(operation, of);
    of.latencies.push(...Array.from(latencies));
    of.cpu += cpu * latencies.length;
  }

  /** Undefined if the operation was not measured. */
  of(operation: string): Figure | undefined {
    const of = this.#all.get(operation);
    if (of === undefined) return undefined;
    const sorted = of.latencies.toSorted((one, other) => one - other);
    return {
      p50: quantile(sorted, 0.5),
      p99: quantile(sorted, 0.99),
      cpu: of.cpu / sorted.length,
    };
  }
}
