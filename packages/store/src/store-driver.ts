import type { Clock } from '@latchkey/domain/clock';
import type { Backup, StagedBackup } from './backup.ts';
import type { Finding } from './finding.ts';
import type { OnStep } from './step.ts';
import type { Store, StoreOptions } from './store.ts';
import type { Transfer } from './transfer.ts';

/** One kind of database, by the URLs of its databases. A driver loads its store with the first call. */
export interface StoreDriver {
  /** What metrics and traces call it: `db.system.name` of OpenTelemetry. */
  readonly system: string;

  /** What its URLs begin with. */
  readonly schemes: readonly string[];

  /** What is wrong with a URL that has one of {@link schemes}, without a part of it. Default: nothing. */
  addressFault?(url: string): string | null;

  /** The absolute path of the database; null if it is not a file. */
  fileOf(url: string): string | null;

  /** Whether the database works within the process. Otherwise each call is a round trip. */
  readonly inProcess: boolean;

  /** Whether `latchkey backup` makes its backups. */
  readonly makesBackups: boolean;

  open(url: string, options: StoreOptions): Promise<Store>;

  /**
   * Opens a database to copy from.
   *
   * @param options.last - whether it is the last copy. If the store can lock the database, nothing else
   *   uses it until it is closed
   */
  openSource(url: string, options?: { last?: boolean }): Promise<Transfer>;

  openTarget(url: string): Promise<Transfer>;

  /** What `latchkey doctor` finds. */
  inspect(url: string, options: InspectOptions): AsyncIterable<Finding>;

  /**
   * Writes a backup to a file, for `latchkey backup`.
   *
   * @throws Error that names the tools to use, unless {@link makesBackups}
   */
  backUp(url: string, file: string, onStep?: OnStep): Promise<Backup>;

  /**
   * Reads a backup, for `latchkey restore`. The database stays as it is until
   * {@link StagedBackup.putInPlace}.
   *
   * @throws Error that names the tools to use, unless {@link makesBackups}
   */
  stageBackup(url: string, file: string, onStep?: OnStep): Promise<StagedBackup>;
}

interface InspectOptions {
  clock: Clock;
  /** Whether to take as long as it takes. */
  deep: boolean;
  /** Whether REVOKED_GRANT_DAYS is set. */
  reducesRevoked: boolean;
  onStep?: OnStep;
}
