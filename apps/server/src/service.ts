import type { Setting } from '@latchkey/schema';
import type { ExportTurns } from './accounts/export-turns.ts';
import type { Deletions } from './applications/deletions.ts';
import type { Audit } from './audit/audit.ts';
import type { CommandChanges } from './audit/command-changes.ts';
import type { LogNumbers } from './audit/log-numbers.ts';
import type { ClientDocuments } from './client-documents/client-documents.ts';
import type { Clock } from './clock.ts';
import type { Events } from './events/events.ts';
import type { IdleGrants } from './grants/end-idle-grants.ts';
import type { Room } from './store/room.ts';
import type { Store } from './store/store.ts';
import type { StoreDriver } from './store/store-driver.ts';
import type { UseNotes } from './store/use-notes.ts';
import type { Counts } from './summary/counts.ts';
import type { LiveGrants } from './summary/live-grants.ts';
import type { Vouchers } from './vouchers.ts';

export interface Linking {
  publicUrl: string;
  signInUrl: string;
  vouchers: Vouchers;
  /** Null if CLIENT_DOCUMENTS is off. */
  clientDocuments: ClientDocuments | null;
}

export interface Service {
  driver: StoreDriver;
  store: Store;
  clock: Clock;
  room: Room;
  useNotes: UseNotes;
  audit: Audit;
  commandChanges: CommandChanges;
  logNumbers: LogNumbers;
  deletions: Deletions;
  exportTurns: ExportTurns;
  idleGrants: IdleGrants;
  counts: Counts;
  liveGrants: LiveGrants;
  linking: Linking | null;
  /** Null without EVENTS_KEY. */
  events: Events | null;
  /** Takes credentials out of a text, as out of what is logged and stored. */
  redact(text: string): string;
  /** Those in force, without secrets. */
  settings: () => Setting[];
}

export function linkingOf({ linking }: Pick<Service, 'linking'>): Linking {
  if (linking === null) throw new Error('The linking flow is off: SIGN_IN_URL is not set.');
  return linking;
}

export function eventsOf({ events }: Pick<Service, 'events'>): Events {
  if (events === null) throw new Error('Events are off: EVENTS_KEY is not set.');
  return events;
}
