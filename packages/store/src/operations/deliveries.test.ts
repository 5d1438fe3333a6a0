import { expect, test } from 'vitest';
import type { Adapter } from '../adapter.ts';
import { deliveries } from './deliveries.ts';

test('who disconnects while events are made is told of by none', async () => {
  let isConnected = true;
  const forgotten: string[] = [];
  const delivery = {
    ...{ id: 'd', endpoint_id: 'e', names_of: 'account', names_for: 'application' },
    ...{ status: 'failed', body: '{}', round: null, created_at: 1 },
  };
  const primitives = { find: () => async () => delivery };
  const db = new Proxy(primitives, {
    get: (own, name) => (name in own ? own.find : () => async () => true),
  });
  const told = {
    stored: { generation: 0 },
    endpoint: { disabled_reason: null },
    application: { idle_days: null },
  };
  const { retryDelivery } = deliveries(
    db as unknown as Adapter,
    { findVisible: async () => told } as never,
    {} as never,
    {} as never,
    {
      // Its grant is later than the message.
      mayKnow: async (_pair, _application, _now, by = null) => by === null && isConnected,
      isEnding: async () => false,
      forget: async ({ account_id }) => {
        forgotten.push(account_id);
      },
    },
    async () => {
      isConnected = false;
    },
  );
  expect(await retryDelivery('d', 2)).toBe(null);
  expect(forgotten).toEqual(['account']);
});
