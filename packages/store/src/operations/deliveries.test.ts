import { expect, test } from 'vitest';
import type { Adapter } from '../adapter.ts';
import { deliveries } from './deliveries.ts';

test('who disconnects while events are made is told of by none', async () => {
  let isConnected = true;
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
      forget: async () => {},
    },
    async () => {
      isConnected = false;
    },
  );
  expect(await retryDelivery('d', 2)).toBe(null);
});

test('who disconnects while the events of another are made is told of by none', async () => {
  let isConnected = true;
  const delivery = {
    ...{ type: 'account.updated', status: 'pending', body: '{}', created_at: 1, generation: 0 },
    ...{ has_choice: false, account_id: null },
  };
  const primitives = {
    changeSome:
      () =>
      async ({ endpoint_id: names_for }: { endpoint_id: string }) => [
        { ...delivery, id: `to ${names_for}`, names_of: 'account', names_for },
      ],
    find: () => async () => delivery,
  };
  const db = new Proxy(primitives, {
    get: (own, name) => own[name as 'find'] ?? (() => async () => true),
  });
  const { claimDeliveries } = deliveries(
    db as unknown as Adapter,
    {
      findTold: async (id: string) => ({
        stored: { generation: 0 },
        endpoint: { id, disabled_reason: null, types: null },
        application: { disabled: false, idle_days: null },
      }),
    } as never,
    {} as never,
    {} as never,
    {
      // The grant of one is later than the message.
      mayKnow: async ({ application_id }, _application, _now, by = null) =>
        application_id === 'anew' ? by === null : isConnected,
      isEnding: async () => false,
      forget: async () => {},
    },
    async () => {
      isConnected = false;
    },
  );
  const endpoints = ['anew', 'other'].map((id) => ({ id, most: 1 }));
  const claimed = await claimDeliveries({ now: 2, claim: 'c', endpoints });
  expect(claimed.map(({ endpoint }) => endpoint.id)).toEqual(['anew']);
});

test('who disconnects while the message of another is dropped is told of by none', async () => {
  let isConnected = true;
  const delivery = { type: 'account.updated', status: 'pending', body: '{}', generation: 0 };
  const primitives = {
    changeSome:
      () =>
      async ({ endpoint_id: names_for }: { endpoint_id: string }) => [
        { ...delivery, id: `to ${names_for}`, names_of: 'account', names_for },
      ],
    change: () => async () => {
      isConnected = false;
    },
  };
  const db = new Proxy(primitives, {
    get: (own, name) => own[name as 'change'] ?? (() => async () => true),
  });
  const { claimDeliveries } = deliveries(
    db as unknown as Adapter,
    {
      findTold: async (id: string) => ({
        stored: { generation: 0 },
        endpoint: { id, disabled_reason: null, types: null },
        application: { disabled: false, idle_days: null },
      }),
    } as never,
    {} as never,
    {} as never,
    {
      mayKnow: async ({ application_id }) => application_id === 'other' && isConnected,
      isEnding: async () => false,
      forget: async () => {},
    },
    async () => {},
  );
  const endpoints = ['gone', 'other'].map((id) => ({ id, most: 1 }));
  expect(await claimDeliveries({ now: 2, claim: 'c', endpoints })).toEqual([]);
});
