import type { Clock } from '@latchkey/domain/clock';
import type { Store } from '@latchkey/store/store';
import type { ExportTurns } from './accounts/export-turns.ts';
import type { Audit } from './audit/audit.ts';
import type { Events } from './events/events.ts';
import type { IdleGrants } from './grants/end-idle-grants.ts';
import type { Linking } from './linking/linking.ts';
import type { Room } from './room.ts';
import type { Counts } from './summary/counts.ts';
import type { UseNotes } from './use-notes.ts';
import type { InSteps } from './work/pace.ts';
import type { Runner } from './work/runner.ts';
import type { Turns } from './work/turns.ts';

/** What the rules work with. Each takes the parts that it uses. */
export interface Dependencies {
  store: Store;
  clock: Clock;
  room: Room;
  useNotes: UseNotes;
  audit: Audit;
  exportTurns: ExportTurns;
  idleGrants: IdleGrants;
  counts: Counts;
  linking: Linking | null;
  runner: Runner;
  /** For lists of any length: one of an account at a time, and all of them take turns with other requests. */
  lists: { turns: Turns; inSteps: InSteps };
  /** Null without EVENTS_KEY. */
  events: Events | null;
}
