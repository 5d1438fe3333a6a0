/** What one server needed for one load. */
export interface Sample {
  /** Responses per second. */
  throughput: number;
  /** CPU seconds of the server per 1,000 requests. */
  cpu: number;
  /** Milliseconds to the response: the median, and the 99th percentile. */
  p50: number;
  p99: number;
  /** CPU seconds of its database server per 1,000 requests. Undefined where that is not measured. */
  databaseCpu?: number;
}

/** @param sorted - in ascending order */
export function quantile(sorted: ArrayLike<number>, fraction: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The range of the values, divided by their median. */
export function spread(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / median(values);
}

/** What is known of a server at the end. */
export interface Footprint {
  name: string;
  startMilliseconds: number;
  /** MiB. */
  peakMemory: number;
}

/** What every sample has. */
export type Figure = Exclude<keyof Sample, 'databaseCpu'>;

/** All samples of a benchmark. */
export class Results {
  readonly #samples = new Map<string, Sample[]>();
  readonly footprints: Footprint[] = [];

  #key(name: string, connections: number, operation: string): string {
    return `${name}/${connections}/${operation}`;
  }

  /** @param samples - by operation */
  add(name: string, connections: number, samples: Record<string, Sample | undefined>): void {
    for (const [operation, sample] of Object.entries(samples)) {
      if (sample === undefined) continue;
      const key = this.#key(name, connections, operation);
      this.#samples.set(key, [...(this.#samples.get(key) ?? []), sample]);
    }
  }

  /** One sample per round; empty if the operation was not measured. */
  samples(name: string, connections: number, operation: string): Sample[] {
    return this.#samples.get(this.#key(name, connections, operation)) ?? [];
  }

  /** The medians over the rounds; null if the operation was not measured. */
  medians(name: string, connections: number, operation: string): Sample | null {
    const samples = this.samples(name, connections, operation);
    if (samples.length === 0) return null;
    const medianOf = (figure: keyof Sample) =>
      median(samples.map((sample) => sample[figure] ?? Number.NaN));
    return {
      throughput: medianOf('throughput'),
      cpu: medianOf('cpu'),
      p50: medianOf('p50'),
      p99: medianOf('p99'),
      ...(samples[0]?.databaseCpu !== undefined && { databaseCpu: medianOf('databaseCpu') }),
    };
  }
}
