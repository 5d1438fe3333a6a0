import { medians, type Sample } from './statistics.ts';

/** What is known of a contender at the end. */
export interface Footprint {
  name: string;
  startMilliseconds: number;
  /** MiB. */
  peakMemory: number;
}

/** All samples of a run. */
export class Results {
  readonly #samples = new Map<string, Sample[]>();
  readonly footprints: Footprint[] = [];

  #key(name: string, connections: number, operation: string): string {
    return `${name}/${connections}/${operation}`;
  }

  /** @param turn - a sample of each operation that was measured */
  add(name: string, connections: number, turn: Record<string, Sample | undefined>): void {
    for (const [operation, sample] of Object.entries(turn)) {
      if (sample === undefined) continue;
      const key = this.#key(name, connections, operation);
      this.#samples.set(key, [...(this.#samples.get(key) ?? []), sample]);
    }
  }

  /** Of every round; empty for what was not measured. */
  samples(name: string, connections: number, operation: string): Sample[] {
    return this.#samples.get(this.#key(name, connections, operation)) ?? [];
  }

  /** The medians of the rounds; null for what was not measured. */
  medians(name: string, connections: number, operation: string): Sample | null {
    const samples = this.samples(name, connections, operation);
    return samples.length === 0 ? null : medians(samples);
  }
}
