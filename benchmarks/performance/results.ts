import type { Operation } from './measure.ts';
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

  #key(name: string, connections: number, operation: Operation): string {
    return `${name}/${connections}/${operation}`;
  }

  add(name: string, connections: number, operation: Operation, sample: Sample): void {
    const key = this.#key(name, connections, operation);
    this.#samples.set(key, [...(this.#samples.get(key) ?? []), sample]);
  }

  /** Of every round; empty for what was not measured. */
  samples(name: string, connections: number, operation: Operation): Sample[] {
    return this.#samples.get(this.#key(name, connections, operation)) ?? [];
  }

  /** The medians of the rounds; null for what was not measured. */
  medians(name: string, connections: number, operation: Operation): Sample | null {
    const samples = this.samples(name, connections, operation);
    return samples.length === 0 ? null : medians(samples);
  }
}
