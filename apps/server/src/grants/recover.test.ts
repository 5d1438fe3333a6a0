import { parseCredential } from '@latchkey/schema';
import pino from 'pino';
import { expect, test } from 'vitest';
import { closeService, openService } from '../service.ts';
import { anOrigin, issued, redemptionOf } from '../store/suite-records.ts';
import { recover } from './recover.ts';

// It was told that the grant was used, and to revoke it, although nobody had its secret.
test('a recovery that the exchange overtakes gets the grant, and no "used already"', async () => {
  const opened = await openService('file::memory:', pino({ enabled: false }));
  const { store } = opened;
  const code = await issued(store);
  const service = {
    ...opened,
    store: {
      ...store,
      async recoverGrant(recovery: Parameters<typeof store.recoverGrant>[0]) {
        const grant = await store.recoverGrant(recovery);
        await store.redeemCode(redemptionOf(code));
        return grant;
      },
    },
  };
  const { application_id, grant_id } = code;
  const { grant, grant_secret } = await recover(service, application_id, grant_id, anOrigin());
  expect(grant).toEqual(await store.findGrant(grant_id));
  expect(parseCredential('grantSecret', grant_secret)).toBe(grant_id);
  await closeService(opened);
});
