import { setImmediate } from 'node:timers/promises';
import type { ConnectedGrant } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import { expect, test } from 'vitest';
import type { Dependencies } from '../dependencies.ts';
import { createTurns } from '../work/turns.ts';
import { listAlreadyAllowed } from './already-allowed.ts';
import type { LinkAccess } from './link-access.ts';

test('the newest 1,000 grants say what is allowed by now, and are read in parts, for one page at a time', async () => {
  const read: number[] = [];
  let [reading, most] = [0, 0];
  const grants = Array.from({ length: 1_500 }, (_, nth) => ({
    ...{ grant_id: String(nth).padStart(4, '0'), resource: null },
    scope: nth < 1_000 ? `s${nth % 3}` : 'older',
  })) as ConnectedGrant[];
  const store = {
    async listActiveGrants(_, { limit, before }) {
      const page = grants.filter(({ grant_id }) => grant_id > (before ?? '')).slice(0, limit);
      read.push(page.length);
      if (before === null) return page;
      most = Math.max(most, ++reading);
      await setImmediate();
      reading -= 1;
      return page;
    },
  } satisfies Partial<Store> as unknown as Store;
  const asked = {
    link: { resource: null, scope: 's0', optional_scope: null },
    application: { id: 'a', idle_days: null },
  } as unknown as LinkAccess;
  const lists = { turns: createTurns() } as Dependencies['lists'];
  const view = () => listAlreadyAllowed({ store, clock: () => 0, lists }, asked, 'ada');
  for (const allowed of await Promise.all([view(), view(), view()])) {
    expect([...allowed]).toEqual(['s1', 's2']);
  }
  expect(Math.max(...read)).toBe(100);
  expect(most).toBe(1);
});
