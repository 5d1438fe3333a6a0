import { pastDeadline } from '@latchkey/domain/request-scope';
import { expect, test } from 'vitest';
import { replayDeliveries } from './deliveries.ts';

test.each([
  [0, 'store_unavailable'],
  [1, 'outcome_unknown'],
])('a replay that fails after %i pages is %s', async (pages, code) => {
  let begun = 0;
  const store = {
    findEndpoint: async () => ({ disabled_reason: null, application_id: null }),
    async replayDeliveries({ limit }: { limit: number }) {
      if (begun === pages) throw pastDeadline();
      begun += 1;
      return limit;
    },
  };
  const service = { store: store as never, clock: () => 1 };
  await expect(replayDeliveries(service, 'an endpoint', 0)).rejects.toMatchObject({ code });
});
