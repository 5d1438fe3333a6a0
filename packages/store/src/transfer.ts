import type { Milliseconds } from '@latchkey/domain/clock';
import type { Input } from './condition.ts';
import type { AnyKind } from './kind.ts';
import * as kinds from './kinds.ts';
import type { UseMark, UseMarks } from './use-mark.ts';

/** What a copy brings, in the order of the names. */
export const copiedKinds = Object.values<AnyKind>(kinds)
  .filter(({ copied }) => copied !== undefined)
  .sort((one, other) => (one.name < other.name ? -1 : 1));

export interface Page {
  after: string | null;
  limit: number;
}

/** What a copy needs of each of its two databases. */
export interface Transfer extends UseMarks {
  /** For messages, without credentials. */
  readonly name: string;

  /** The first records after a key, or of all, in the order of their keys. */
  read(kind: AnyKind, page: Page): Promise<Input[]>;

  /**
   * Replaces the record with the same key by each of these, and removes records. On MongoDB without a
   * replica set, the mark is looked at just before.
   *
   * @returns false if the mark is another one, and nothing was changed
   */
  write(
    kind: AnyKind,
    changes: { records: readonly Input[]; removed?: readonly string[] },
    mark: UseMark,
  ): Promise<boolean>;

  /** Makes deliveries of all events that were recorded, since a copy does not bring those. */
  makeDeliveries(now: Milliseconds): Promise<void>;

  /**
   * Changes if a service works on the database. Always null where that is not known, or where the last copy
   * has locked it.
   */
  activity(): Promise<number | null>;

  /** About how many grants there are. */
  estimateGrants(): Promise<number>;

  close(): Promise<void>;
}
