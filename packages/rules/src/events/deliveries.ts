import type { Milliseconds } from '@latchkey/domain/clock';
import { afterChange, DomainError } from '@latchkey/domain/domain-error';
import { isPastDeadline } from '@latchkey/domain/request-scope';
import type { DeliveryRecord } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';
import { findEnabledEndpoint } from './endpoints.ts';

/** Of one call. A page is one write. */
export const MAX_REPLAYED = 10_000;
const PAGE = 1_000;

export async function retryDelivery(
  service: Pick<Dependencies, 'store' | 'clock'>,
  delivery_id: string,
): Promise<DeliveryRecord> {
  const { store, clock } = service;
  const { endpoint_id } = await findRetriable(service, delivery_id);
  await findEnabledEndpoint(service, endpoint_id);
  const delivery = await store.retryDelivery(delivery_id, clock());
  if (delivery !== null) return delivery;
  // It is due or under way, unless it was erased meanwhile, or its endpoint was deleted or disabled.
  await findRetriable(service, delivery_id);
  await findEnabledEndpoint(service, endpoint_id);
  throw new DomainError('delivery_pending');
}

async function findRetriable(
  { store }: Pick<Dependencies, 'store'>,
  delivery_id: string,
): Promise<DeliveryRecord> {
  const delivery = await store.findDelivery(delivery_id);
  const isErased = delivery?.body === null && delivery.status !== 'pending';
  if (delivery === null || isErased) throw new DomainError('delivery_not_found');
  return delivery;
}

/** Returns how many are due again. */
export async function replayDeliveries(
  service: Pick<Dependencies, 'store' | 'clock'>,
  endpoint_id: string,
  since: Milliseconds,
): Promise<number> {
  const { store, clock } = service;
  const now = clock();
  if (since > now) throw DomainError.invalid(['since'], 'Must not lie in the future.');
  await findEnabledEndpoint(service, endpoint_id);
  let count = 0;
  for (;;) {
    const page = () => store.replayDeliveries({ endpoint_id, since, now, limit: PAGE });
    const replayed = await (count === 0 ? page() : afterChange(page));
    count += replayed;
    if (replayed < PAGE || count >= MAX_REPLAYED || isPastDeadline()) return count;
  }
}
