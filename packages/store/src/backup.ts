import type { Milliseconds } from '@latchkey/domain/clock';
import type { CommandChange } from './records.ts';

export interface Backup {
  /** The name of the database in messages. */
  database: string;
  contents: BackupContents;
}

export interface BackupContents {
  bytes: number;
  schema_version: number;
  applications: number;
  accounts: number;
  grants: number;
  /** Later changes are not in the backup. Null if `latchkey backup` did not make the file. */
  made_at: Milliseconds | null;
}

/** What the logs may not have yet of the database that a backup replaces. */
export interface ReplacedDatabase {
  /** The last number of its log. */
  log_number: number;
  command_changes: CommandChange[];
}

export interface StagedBackup extends Backup {
  /** Opens the backup where it waits. */
  url: string;
  /** Null if there is none, it is another one, or it cannot be read any more. */
  replaced: ReplacedDatabase | null;
  /** @returns the directory with the former files; null if there was no database */
  putInPlace(): Promise<string | null>;
  remove(): void;
}
