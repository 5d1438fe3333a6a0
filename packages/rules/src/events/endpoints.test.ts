import { DomainError } from '@latchkey/domain/domain-error';
import { PING_WAIT } from '@latchkey/domain/lifetimes';
import type { DeliveryRecord } from '@latchkey/store/records';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Dependencies } from '../dependencies.ts';
import { pingEndpoint } from './endpoints.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const endpoint_id = '0193aa00-0000-7000-8000-000000000120';

function serviceWith(tryNow: () => Promise<void>) {
  let stored: DeliveryRecord;
  const service = {
    clock: () => 0,
    events: { tryNow },
    store: {
      createPing: async (delivery: DeliveryRecord) => {
        stored = delivery;
        return { id: endpoint_id };
      },
      findDelivery: async () => stored,
    },
  };
  return service as unknown as Pick<Dependencies, 'store' | 'clock' | 'events'>;
}

test('a ping whose try lasts longer is returned as it is after 18 s', async () => {
  const found = vi.fn();
  const trying = Promise.withResolvers<void>();
  const pinged = pingEndpoint(
    serviceWith(() => trying.promise),
    endpoint_id,
  ).then(found);
  await vi.advanceTimersByTimeAsync(PING_WAIT - 1);
  expect(found).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await pinged;
  expect(PING_WAIT).toBe(18_000);
  expect(found).toHaveBeenCalledWith(expect.objectContaining({ endpoint_id, status: 'pending' }));
  // Nobody waits for it any more.
  trying.reject(new Error('The store is gone.'));
  await vi.advanceTimersByTimeAsync(0);
});

test('a ping whose end can’t be read is not said to have changed nothing', async () => {
  const service = serviceWith(async () => {});
  service.store.findDelivery = async () => {
    throw new DomainError('store_unavailable');
  };
  const pinging = pingEndpoint(service, endpoint_id);
  await expect(pinging).rejects.toMatchObject({ code: 'outcome_unknown' });
});

test('a ping leaves no timer behind', async () => {
  await pingEndpoint(
    serviceWith(async () => {}),
    endpoint_id,
  );
  expect(vi.getTimerCount()).toBe(0);
});
