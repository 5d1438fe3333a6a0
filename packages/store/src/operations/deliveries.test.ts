import { expect, onTestFinished, test, vi } from 'vitest';
import type { Adapter } from '../adapter.ts';
import { deliveries } from './deliveries.ts';
import type { NamesInside } from './names.ts';

/** A message that names an account to an application. */
const delivery = {
  ...{ id: 'd', endpoint_id: 'e', names_of: 'account', names_for: 'application' },
  ...{ type: 'account.updated', body: '{}', round: null, created_at: 1, generation: 0 },
  ...{ has_choice: false, account_id: null },
};

/** With these primitives; what the others do changes nothing here. */
function deliveriesWith(
  primitives: Record<string, (of: { id: string }) => Promise<unknown>>,
  mayKnow: NamesInside['mayKnow'],
  tell: () => Promise<unknown> = async () => {},
  changes: Record<string, object> = {},
) {
  const claimed = () => async (of: { endpoint_id: string }) => [
    {
      ...{ ...delivery, status: 'pending', id: `to ${of.endpoint_id}` },
      names_for: of.endpoint_id === 'host' ? null : of.endpoint_id,
      ...changes[of.endpoint_id],
    },
  ];
  const db = new Proxy({} as Adapter, {
    get: (_, name: string) =>
      name === 'changeSome' ? claimed : () => primitives[name] ?? (async () => true),
  });
  const told = async (id: string) => ({
    stored: { generation: 0 },
    endpoint: { id, disabled_reason: null, types: null },
    application: { disabled: false, idle_days: null },
  });
  return deliveries(
    db,
    { findTold: told, findVisible: told } as never,
    {} as never,
    {} as never,
    { mayKnow, isEnding: async () => false, forget: async () => {} },
    { tell, tellSome: tell } as never,
  );
}

const claimOf = (...ids: string[]) => ({
  ...{ now: 2, claim: 'c', endpoints: ids.map((id) => ({ id, most: 1 })) },
});

test('who disconnects while events are made is told of by none', async () => {
  let isConnected = true;
  const { retryDelivery } = deliveriesWith(
    { find: async () => ({ ...delivery, status: 'failed' }) },
    // Its grant is later than the message.
    async (_pair, _application, _now, by = null) => by === null && isConnected,
    async () => {
      isConnected = false;
    },
  );
  expect(await retryDelivery('d', 2)).toBe(null);
});

test('who disconnects while the events of another are made is told of by none', async () => {
  let isConnected = true;
  const { claimDeliveries } = deliveriesWith(
    { find: async () => ({ ...delivery, status: 'pending' }) },
    // The grant of one is later than the message.
    async ({ application_id }, _application, _now, by = null) =>
      application_id === 'anew' ? by === null : isConnected,
    async () => {
      isConnected = false;
    },
  );
  const claimed = await claimDeliveries(claimOf('anew', 'other'));
  expect(claimed.map(({ endpoint }) => endpoint.id)).toEqual(['anew']);
});

test('one that waits for events of before it holds up no other', async () => {
  let released: unknown;
  const { claimDeliveries } = deliveriesWith(
    {
      find: async () => ({ ...delivery, status: 'pending' }),
      changeEach: async (all) => {
        released = all;
      },
    },
    async ({ application_id }, _application, _now, by = null) =>
      application_id !== 'anew' || by === null,
    // There are always more.
    async () => true,
  );
  const claimed = await claimDeliveries(claimOf('anew', 'other'));
  expect(claimed.map(({ endpoint }) => endpoint.id)).toEqual(['other']);
  expect(released).toEqual([{ id: 'to anew', claim: 'c', now: 252 }]);
});

test('who is erased and put again while the events of another are made is told of by none', async () => {
  let isErased = false;
  const { claimDeliveries } = deliveriesWith(
    {
      find: async ({ id }) =>
        id === 'to host' && isErased
          ? { ...delivery, status: 'dropped', body: null }
          : { ...delivery, status: 'pending' },
    },
    async (_pair, _application, _now, by = null) => by === null,
    async () => {
      isErased = true;
    },
  );
  const claimed = await claimDeliveries(claimOf('anew', 'host'));
  expect(claimed.map(({ endpoint }) => endpoint.id)).toEqual(['anew']);
});

test('who disconnects while the message of another is dropped is told of by none', async () => {
  let isConnected = true;
  const { claimDeliveries } = deliveriesWith(
    {
      change: async () => {
        isConnected = false;
      },
    },
    async ({ application_id }) => application_id === 'other' && isConnected,
  );
  expect(await claimDeliveries(claimOf('gone', 'other'))).toEqual([]);
});

test.each([
  ['the message of another that is past is dropped', { generation: 1 }, 'change'],
  ['the choice of the grant of another is read', { has_choice: true, grant_id: 'g' }, 'joined'],
  ['the message of another is written', { body: null, account_id: 'a' }, 'change'],
])('who disconnects while %s is told of by none', async (_, other, primitive) => {
  let isConnected = true;
  const step = async () => {
    isConnected = false;
    return null;
  };
  const { claimDeliveries } = deliveriesWith(
    { [primitive]: step, find: async () => ({ id: 'a' }) },
    async () => {
      await null;
      return isConnected;
    },
    undefined,
    { other: { names_of: null, ...other } },
  );
  const claimed = await claimDeliveries(claimOf('named', 'other'));
  expect(claimed.map(({ endpoint }) => endpoint.id)).not.toContain('named');
  expect(isConnected).toBe(false);
});

test('who disconnects while an answer is on its way for long is told of by none', async () => {
  const clock = vi.spyOn(performance, 'now');
  onTestFinished(() => clock.mockRestore());
  let time = 0;
  clock.mockImplementation(() => (time += 1_000));
  let asked = 0;
  const once = deliveriesWith({}, async () => ++asked === 1);
  expect(await once.claimDeliveries(claimOf('named'))).toEqual([]);
  // A database that is always slow holds up nobody.
  const slow = deliveriesWith({}, async () => true);
  expect(await slow.claimDeliveries(claimOf('named'))).toHaveLength(1);
});
