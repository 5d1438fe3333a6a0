import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import { anId, aRefusal } from './records.ts';

export function describeRefusals(stores: SuiteStores): void {
  describe('refusals', () => {
    test('are found by request and by grant, newest first, as they were kept', async () => {
      const [request_id, grant_id] = ['a.caller-s_own', anId()];
      const first = aRefusal({ request_id, grant_id });
      const second = aRefusal({ request_id, reason: null, by: null, application_id: null });
      const third = aRefusal({ grant_id, address: null });
      const fourth = aRefusal({ request_id, grant_id: null });
      await stores.store.keepRefusals([third, first]);
      await stores.store.keepRefusals([fourth, second]);

      const { other } = stores;
      const all = { limit: 9, before: null };
      const ofRequest = { request_id };
      expect(await other.findRefusals(ofRequest, all)).toStrictEqual([fourth, second, first]);
      const newest = { limit: 2, before: null };
      expect(await other.findRefusals(ofRequest, newest)).toStrictEqual([fourth, second]);
      const next = { limit: 1, before: fourth.id };
      expect(await other.findRefusals(ofRequest, next)).toStrictEqual([second]);
      expect(await other.findRefusals({ grant_id }, all)).toStrictEqual([third, first]);
      const older = { limit: 9, before: third.id };
      expect(await other.findRefusals({ grant_id }, older)).toStrictEqual([first]);
      expect(await other.findRefusals({ grant_id: anId() }, all)).toEqual([]);
      expect(await other.findRefusals({ request_id: 'A.caller-s_own' }, all)).toEqual([]);
    });

    test('are kept once, however often they are passed', async () => {
      const request_id = anId();
      const batch = Array.from({ length: 250 }, () => aRefusal({ request_id }));
      await stores.store.keepRefusals(batch.slice(0, 100));
      await stores.other.keepRefusals(batch);
      const found = await stores.store.findRefusals({ request_id }, { limit: 1_000, before: null });
      expect(found).toStrictEqual(batch.toReversed());
      expect(await stores.store.findFirstRefusal(request_id)).toStrictEqual(batch[0]);
      expect(await stores.store.findFirstRefusal(anId())).toBeNull();
    });
  });
}
