import { recover } from '@latchkey/rules/grants/recover';
import { parseCredential } from '@latchkey/schema';
import { anInitiator, grantOf, issued, redemptionOf } from '@latchkey/store-suite/records';
import pino from 'pino';
import { expect, test } from 'vitest';
import { closeService, openService } from '../../src/open-service.ts';

// Regression: the recovery was refused as "used", although nobody had the secret yet.
test('a recovery that is overtaken by the lost redemption succeeds', async () => {
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
  const { grant, grant_secret } = await recover(service, application_id, grant_id, anInitiator());
  expect(grant).toEqual(await grantOf(store, grant_id));
  expect(parseCredential('grantSecret', grant_secret)).toBe(grant_id);
  await closeService(opened);
});
