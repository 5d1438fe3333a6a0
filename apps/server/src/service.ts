import type { Deletions } from './applications/deletions.ts';
import type { SecretUsage } from './applications/secret-usage.ts';
import type { Audit } from './audit/audit.ts';
import type { CommandChanges } from './audit/command-changes.ts';
import type { Clock } from './clock.ts';
import type { Store } from './store/store.ts';

/** What the rules work with. */
export interface Service {
  store: Store;
  clock: Clock;
  secretUsage: SecretUsage;
  audit: Audit;
  commandChanges: CommandChanges;
  deletions: Deletions;
}
