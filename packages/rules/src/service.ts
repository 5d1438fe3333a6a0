import type { Setting } from '@latchkey/schema';
import type { StoreDriver } from '@latchkey/store/store-driver';
import type { CommandChanges } from './audit/command-changes.ts';
import type { LogNumbers } from './audit/log-numbers.ts';
import type { Dependencies } from './dependencies.ts';

export interface Service extends Dependencies {
  driver: StoreDriver;
  commandChanges: CommandChanges;
  logNumbers: LogNumbers;
  /** Takes credentials out of a text, as out of what is logged and stored. */
  redact(text: string): string;
  /** Those in force, without secrets. */
  settings: () => Setting[];
}
