import { markdownTable } from '../../../packages/test-kit/src/markdown-table.ts';

/** What was measured after a number of codes. Sizes are in MiB. */
export interface Slice {
  /** The codes converted so far. */
  codes: number;
  /** Resident memory at the end of the slice. */
  resident: number;
  /** The most resident memory within the slice. */
  peak: number;
  database: number;
  writeAheadLog: number;
  /** CPU seconds of the server per 1,000 codes. */
  cpu: number;
}

/**
 * The maximum in the last half of a run, divided by the maximum in its second quarter: about 1 if
 * the values are flat, 2 if they grow linearly. In the first quarter the heap still finds its size.
 */
export function growth(values: readonly number[]): number {
  const [quarter, half] = [values.length / 4, values.length / 2];
  return Math.max(...values.slice(half)) / Math.max(...values.slice(quarter, half));
}

export function report(slices: readonly Slice[]): string {
  return markdownTable([
    [
      'codes converted',
      'resident MiB',
      'peak in the slice MiB',
      'database MiB',
      'write-ahead log MiB',
      'CPU s/1,000',
    ],
    ...slices.map(({ codes, resident, peak, database, writeAheadLog, cpu }) => [
      codes.toLocaleString('en'),
      resident.toFixed(0),
      peak.toFixed(0),
      database.toFixed(0),
      writeAheadLog.toFixed(1),
      cpu.toFixed(3),
    ]),
  ]);
}
