import { BadSetting } from '@latchkey/domain/bad-setting';
import type { Clock } from '@latchkey/domain/clock';
import { DomainError } from '@latchkey/domain/domain-error';
import type { EndpointRecord } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import { CopiedDatabase } from '@latchkey/store/use-mark';
import type { Logger } from 'pino';
import type { Audit } from '../audit/audit.ts';
import { isRefusedUrl, type OutboundAllow } from '../outbound/destination.ts';
import { createSender, type SentAttempt } from './attempt.ts';
import {
  createDeliverer,
  type Deliverer,
  type DelivererOptions,
  type Delivering,
} from './deliverer.ts';
import { type EventsKeys, endpointSecret, fingerprintsOf } from './endpoint-secret.ts';

/** What endpoints need besides the store. */
export interface Events extends Deliverer {
  /**
   * Before a secret is handed out: whether it is of a key that the database knows, or of its first one.
   *
   * @throws DomainError `store_unavailable` if not, until this process is started with the right key
   */
  admitKeys(): Promise<void>;
  /** The newest secret of an endpoint, which signs first. */
  secretOf(endpoint: Pick<EndpointRecord, 'id' | 'secret_version'>): string;
  /** Whether the URL alone says that no message may go there: see OUTBOUND_ALLOW. */
  refusesUrl(url: string): boolean;
}

/** For metrics. */
export interface EventsObserver {
  onAttempt(this: void, attempt: SentAttempt): void;
  /** An endpoint that its tries have disabled. */
  onDisabled(this: void, endpoint: EndpointRecord): void;
}

export interface EventsSettings {
  /** Those in force: a process reads them again on SIGHUP. */
  keys(): EventsKeys;
  allow: OutboundAllow;
  /** For tests. */
  delivery?: DeliverySettings | undefined;
}

export interface DeliverySettings
  extends Pick<DelivererOptions, 'isBusy' | 'signingClock' | 'lookEvery'> {
  /** Stands between the deliverer and the store. */
  control?(this: void, store: Delivering): Delivering;
}

export function createEvents(
  store: Store,
  { keys, allow, delivery: { control, ...delivery } = {} }: EventsSettings,
  {
    clock,
    log,
    audit,
    userAgent,
    observer,
    onError,
  }: {
    clock: Clock;
    log: Logger;
    audit: Audit;
    userAgent: string;
    observer?: EventsObserver | undefined;
    onError(error: unknown): void;
  },
): Events {
  const deliverer = createDeliverer(control?.(store) ?? store, {
    ...delivery,
    ...{ clock, keys, log, userAgent, onError },
    onAttempt: (attempt) => observer?.onAttempt(attempt),
    sender: createSender({ clock, allow }),
    onDisabled(endpoint) {
      audit.disabled(endpoint);
      observer?.onDisabled(endpoint);
      const { id: endpoint_id, application_id, disabled_reason: reason } = endpoint;
      log.warn({ endpoint_id, application_id, reason }, 'an endpoint was disabled');
    },
  });
  return {
    ...deliverer,
    admitKeys: () =>
      store.admitEventsKeys(fingerprintsOf(keys())).catch((error) => {
        const isOurs = error instanceof BadSetting || error instanceof CopiedDatabase;
        throw isOurs ? new DomainError('store_unavailable', {}, error) : error;
      }),
    secretOf: ({ id, secret_version }) => endpointSecret(keys().current, id, secret_version),
    refusesUrl: (url) => isRefusedUrl(url, allow),
  };
}

export function eventsOf({ events }: { events: Events | null }): Events {
  if (events === null) throw new Error('Events are off: EVENTS_KEY is not set.');
  return events;
}
