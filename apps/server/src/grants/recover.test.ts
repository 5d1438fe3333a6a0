import { parseCredential } from '@latchkey/schema';
import { expect, test } from 'vitest';
import { createSecretUsage } from '../applications/secret-usage.ts';
import { openStore } from '../store/open-store.ts';
import { issued, redemptionOf } from '../store/suite-records.ts';
import { recover } from './recover.ts';

// It was told that the grant was used, and to revoke it, although nobody had its secret.
test('a recovery that the exchange overtakes gets the grant, and no "used already"', async () => {
  const store = await openStore('file::memory:', { clock: Date.now });
  const code = await issued(store);
  const overtaken = {
    ...store,
    async recoverGrant(recovery: Parameters<typeof store.recoverGrant>[0]) {
      const grant = await store.recoverGrant(recovery);
      await store.redeemCode(redemptionOf(code));
      return grant;
    },
  };
  const service = {
    store: overtaken,
    clock: Date.now,
    secretUsage: createSecretUsage(store, () => undefined),
  };
  const { grant, grant_secret } = await recover(service, code.application_id, code.grant_id);
  expect(grant).toEqual(await store.findGrant(code.grant_id));
  expect(parseCredential('grantSecret', grant_secret)).toBe(code.grant_id);
  await store.close();
});
