import { expect, test } from 'vitest';
import type { Adapter } from '../adapter.ts';
import { isActive, type Markable, marksInside } from './marks.ts';

test('what a mark has ended is passed over in few reads, however much it is', async () => {
  const ending = { kind: 'revocation', before: 1, at: 7, by: null };
  const find = () => async () => ({ endings: [ending] });
  const { seen } = marksInside({ find } as unknown as Adapter);
  // Newest first. The oldest one alone was made after the mark.
  const grants = Array.from({ length: 5_000 }, (_, index) => ({
    ...{ id: String(5_000 - index).padStart(4, '0'), application_id: 'b', account_id: 'a' },
    ...{ revoked_at: null, account_revision: index === 4_999 ? 1 : 0, application_revocations: 1 },
  })) satisfies Markable[];
  let reads = 0;
  const found = await seen(
    async ({ before, limit }) => {
      reads += 1;
      return grants.filter(({ id }) => before === null || id < before).slice(0, limit);
    },
    isActive,
    { limit: 1, before: null },
  );
  expect(found).toEqual([grants[4_999]]);
  expect(reads).toBeLessThan(12);
});
