import { newId } from '@latchkey/domain/credentials/credentials';
import type { RefusalRecord } from '@latchkey/store/records';
import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import { anId, aRefusal } from './records.ts';

export function describeRefusals(stores: SuiteStores): void {
  describe('refusals', () => {
    test('are found by each of their ids, newest first, as they were kept', async () => {
      const { other } = stores;
      const [request_id, application_id] = ['a.caller-s_own', anId()];
      const [account_id, grant_id] = [anId(), anId()];
      const first = aRefusal({ request_id, application_id, account_id, grant_id });
      const second = aRefusal({ request_id, reason: null, by: null, application_id: null });
      const third = aRefusal({ application_id, account_id, grant_id, address: null });
      const fourth = aRefusal({ request_id, account_id: null, grant_id: null });
      await stores.store.keepRefusals([third, first]);
      await stores.store.keepRefusals([fourth, second]);

      const all = { limit: 9, before: null };
      const ofRequest = { request_id };
      expect(await other.findRefusals(ofRequest, all)).toStrictEqual([fourth, second, first]);
      const newest = { limit: 2, before: null };
      expect(await other.findRefusals(ofRequest, newest)).toStrictEqual([fourth, second]);
      const next = { limit: 1, before: fourth.id };
      expect(await other.findRefusals(ofRequest, next)).toStrictEqual([second]);
      const older = { limit: 9, before: third.id };
      for (const filter of [{ application_id }, { account_id }, { grant_id }]) {
        expect(await other.findRefusals(filter, all)).toStrictEqual([third, first]);
        expect(await other.findRefusals(filter, older)).toStrictEqual([first]);
      }
      expect(await other.findRefusals({}, { limit: 4, before: null })).toStrictEqual([
        ...[fourth, third, second, first],
      ]);
      expect(await other.findRefusals({ grant_id: anId() }, all)).toEqual([]);
      expect(await other.findRefusals({ request_id: 'A.caller-s_own' }, all)).toEqual([]);
    });

    test('are found from a time on', async () => {
      const at = Date.now();
      const [request_id, account_id] = [anId(), anId()];
      const [before, then, later] = [at - 1, at, at + 1].map((time) =>
        aRefusal({ id: newId(time), at: time, request_id, account_id }),
      ) as [RefusalRecord, RefusalRecord, RefusalRecord];
      await stores.store.keepRefusals([later, before, then]);
      const since = (time: number) => ({ limit: 9, before: null, since: time });
      for (const filter of [{ request_id }, { account_id }]) {
        expect(await stores.other.findRefusals(filter, since(at))).toStrictEqual([later, then]);
        expect(await stores.other.findRefusals(filter, since(-at))).toHaveLength(3);
      }
      const page = { ...since(at - 1), before: later.id };
      expect(await stores.other.findRefusals({ account_id }, page)).toStrictEqual([then, before]);
      expect(await stores.other.findFirstRefusal(request_id)).toStrictEqual(before);
      expect(await stores.other.findFirstRefusal(request_id, { since: at })).toStrictEqual(then);
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
