import type { Milliseconds } from '@latchkey/domain/clock';
import { newId } from '@latchkey/domain/credentials/credentials';
import { afterChange, DomainError } from '@latchkey/domain/domain-error';
import { CLAIM_LASTS, PING_WAIT } from '@latchkey/domain/lifetimes';
import { newDelivery } from '@latchkey/store/delivery';
import { ping } from '@latchkey/store/event';
import type { DeliveryRecord, EndpointRecord } from '@latchkey/store/records';
import type { EndpointChanges } from '@latchkey/store/store';
import type { Dependencies } from '../dependencies.ts';
import { eventsOf } from './events.ts';

/** An event costs a delivery for each. */
export const MAX_ENDPOINTS_OF_APPLICATION = 3;
export const MAX_ENDPOINTS_OF_HOST = 5;

/** No application hears of it, because its own call has created the grant. */
const OF_THE_HOST = 'grant.created';

type Members = Pick<EndpointRecord, 'url' | 'application_id' | 'types'>;

export async function createEndpoint(
  service: Pick<Dependencies, 'store' | 'clock' | 'room' | 'events'>,
  members: Members,
): Promise<EndpointRecord> {
  const { store, clock, room } = service;
  refuseUrl(service, members.url);
  refuseTypes(members);
  const { application_id } = members;
  const most = application_id === null ? MAX_ENDPOINTS_OF_HOST : MAX_ENDPOINTS_OF_APPLICATION;
  if (await room.isFull()) {
    if (application_id !== null && (await store.findApplication(application_id)) === null) {
      throw new DomainError('application_not_found');
    }
    const range = { limit: most, before: null };
    const present = await store.listEndpoints({ application_id }, range);
    throw new DomainError(present.length < most ? 'store_full' : 'endpoint_limit_reached');
  }
  const now = clock();
  const endpoint = newEndpoint(newId(now), members, now);
  const outcome = await store.createEndpoint(endpoint, { most });
  if (outcome !== 'created') throw new DomainError(outcome);
  return endpoint;
}

export const newEndpoint = (id: string, members: Members, now: Milliseconds): EndpointRecord => ({
  ...{ id, ...members, disabled_reason: null, created_at: now },
  ...{ secret_version: 1, overlap_until: null },
  ...{ last_success_at: null, failing_since: null, failures: 0 },
});

export async function findEndpoint(
  { store }: Pick<Dependencies, 'store'>,
  endpoint_id: string,
): Promise<EndpointRecord> {
  return found(await store.findEndpoint(endpoint_id));
}

export async function findEnabledEndpoint(
  service: Pick<Dependencies, 'store'>,
  endpoint_id: string,
): Promise<EndpointRecord> {
  const endpoint = await findEndpoint(service, endpoint_id);
  if (endpoint.disabled_reason !== null) throw new DomainError('endpoint_disabled');
  return endpoint;
}

export async function updateEndpoint(
  service: Pick<Dependencies, 'store' | 'events'>,
  endpoint_id: string,
  {
    url,
    types,
    disabled,
  }: {
    url?: string | undefined;
    types?: EndpointRecord['types'] | undefined;
    disabled?: boolean | undefined;
  },
): Promise<EndpointRecord> {
  if (url !== undefined) refuseUrl(service, url);
  if (types?.includes(OF_THE_HOST)) {
    const { application_id } = await findEndpoint(service, endpoint_id);
    refuseTypes({ application_id, types });
  }
  const changes: EndpointChanges = {
    ...(url !== undefined && { url }),
    ...(types !== undefined && { types }),
    ...(disabled !== undefined && { disabled_reason: disabled ? 'operator' : null }),
  };
  return found(await service.store.updateEndpoint(endpoint_id, changes));
}

export async function rotateEndpoint(
  { store, clock }: Pick<Dependencies, 'store' | 'clock'>,
  endpoint_id: string,
  overlap: Milliseconds,
): Promise<EndpointRecord> {
  const overlap_until = overlap === 0 ? null : clock() + overlap;
  return found(await store.rotateEndpoint(endpoint_id, { overlap_until }));
}

export async function deleteEndpoint(
  { store, clock }: Pick<Dependencies, 'store' | 'clock'>,
  endpoint_id: string,
): Promise<EndpointRecord> {
  return found(await store.deleteEndpoint(endpoint_id, clock()));
}

/** Returns the delivery when its only try has ended, or after {@link PING_WAIT}. */
export async function pingEndpoint(
  service: Pick<Dependencies, 'store' | 'clock' | 'events'>,
  endpoint_id: string,
): Promise<DeliveryRecord> {
  const { store, clock } = service;
  const now = clock();
  const event = ping({ id: newId(now), at: now }, endpoint_id);
  const delivery = {
    ...newDelivery(event, endpoint_id, now + CLAIM_LASTS),
    ...{ claim: newId(now), body: event.body },
  };
  const endpoint = await store.createPing(delivery);
  if (endpoint === null) {
    await findEnabledEndpoint(service, endpoint_id);
    // It was enabled in between.
    throw new DomainError('endpoint_disabled');
  }
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, PING_WAIT);
  try {
    await Promise.race([eventsOf(service).tryNow({ delivery, endpoint }), late.promise]);
  } finally {
    clearTimeout(timer);
  }
  // It is gone if its endpoint was deleted more than 30 days ago by the clock.
  return afterChange(async () => (await store.findDelivery(delivery.id)) ?? delivery);
}

function found(endpoint: EndpointRecord | null): EndpointRecord {
  if (endpoint === null) throw new DomainError('endpoint_not_found');
  return endpoint;
}

function refuseTypes({ application_id, types }: Pick<Members, 'application_id' | 'types'>): void {
  if (application_id === null || !types?.includes(OF_THE_HOST)) return;
  throw DomainError.invalid(
    ['types'],
    `Must not have ${OF_THE_HOST}: only the endpoints of the host are told of it.`,
  );
}

function refuseUrl(service: Pick<Dependencies, 'events'>, url: string): void {
  if (!eventsOf(service).refusesUrl(url)) return;
  throw DomainError.invalid(
    ['url'],
    'Must be an https: address that the service may connect to: see OUTBOUND_ALLOW.',
  );
}
