import { openTarget } from '../../src/store/open-store.ts';
import type { StoredGrant } from '../../src/store/transfer.ts';
import { aBinding, aHash, anAccount, anApplication, anId, anInitiator } from './suite/records.ts';

const PAGE = 1_000;

/**
 * Fills a database with the grants of one application and one account. Each fourth is revoked.
 *
 * @param count - a multiple of 4, and of 1,000 if it is more than that
 */
export async function manyGrants(url: string, count: number) {
  const target = await openTarget(url);
  const mark = { id: anId(), is: 'used' } as const;
  await target.replace(null, mark);
  const [application, account] = [anApplication(), anAccount()];
  await target.write('applications', { records: [application] }, mark);
  await target.write('accounts', { records: [{ place: anId(), account }] }, mark);
  const created_at = Date.now();
  for (let done = 0; done < count; done += PAGE) {
    const grants = Array.from({ length: Math.min(PAGE, count) }, (_, index): StoredGrant => {
      const revoked_at = index % 4 === 0 ? created_at : null;
      return {
        grant_id: anId(),
        application_id: application.id,
        account_id: account.id,
        ...{ scope: 'profile.read email', account, code_hash: aHash() },
        ...aBinding(),
        created_at,
        secret_hash: revoked_at === null ? aHash() : null,
        first_used_at: null,
        last_used_at: null,
        revoked_reason: null,
        revoked_at,
        recoveries: 0,
        recovered_at: null,
        issued_by: anInitiator({ by: 'operator', secret_id: null }),
        redeemed_by: anInitiator(),
        recovered_by: null,
        first_used_by: null,
        revoked_by: revoked_at === null ? null : anInitiator(),
      };
    });
    await target.write('grants', { records: grants }, mark);
  }
  await target.close();
  return { application, account };
}
