import { randomUUID } from 'node:crypto';
import { endConnection } from '@latchkey/rules/connections/end-connection';
import type { Service } from '@latchkey/rules/service';
import { noCounts } from '@latchkey/rules/summary/counts';
import type { Store } from '@latchkey/store/store';
import { anInitiator } from '@latchkey/store-suite/records';
import { expect, test } from 'vitest';

const connection = { account_id: randomUUID(), application_id: randomUUID() };

/** Ends the connection in a store that has these codes, list by list, and so many grants. */
async function endIn(lists: string[][], grants: number) {
  const done: string[] = [];
  const left = Array.from({ length: grants }, () => randomUUID());
  const store = {
    async listPendingCodes() {
      done.push('list');
      return lists.shift() ?? [];
    },
    async cancelCode(grant_id: string) {
      done.push(grant_id);
      return null;
    },
    async revokeActive() {
      done.push('grants');
      const ended = left.splice(0, 100).map((grant_id) => ({ grant_id }));
      return ended.length === 0 ? null : ended;
    },
  } as unknown as Store;
  const service = { store, clock: () => 0, counts: noCounts } as unknown as Service;
  return { ended: await endConnection(service, connection, anInitiator()), done };
}

test('the codes are listed until a list is empty, and then the grants', async () => {
  const { done } = await endIn([['a', 'b'], ['a']], 0);
  expect(done).toEqual(['list', 'a', 'b', 'list', 'a', 'list', 'grants']);
});

test('the first 1,000 grants are returned, and all are ended', async () => {
  const { ended, done } = await endIn([], 1_250);
  expect(ended).toHaveLength(1_000);
  expect(done.filter((what) => what === 'grants')).toHaveLength(14);
});
