import type { Store } from '@latchkey/store/store';
import { anInitiator, granted, issued, redemptionOf } from '@latchkey/store-suite/records';
import { slow } from '@latchkey/test-kit/long';
import { describeWithPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { query } from '@latchkey/test-kit/postgresql/query';
import { Replication } from '@latchkey/test-kit/postgresql/replication';
import { createDatabase, urlOf } from '@latchkey/test-kit/postgresql/test-databases';
import { expect, onTestFinished, test } from 'vitest';
import { openPostgresqlStore } from '../../src/postgresql-store.ts';

const GRANTS = 8;
const timeouts = { connect: 30_000, operation: 1_000, outcome: 1_000 };

describeWithPostgresql('a primary in whose place a standby was promoted', (programs) => {
  async function open(url: string): Promise<Store> {
    const store = await openPostgresqlStore({ url, clock: Date.now, timeouts });
    onTestFinished(() => store.close());
    return store;
  }

  test('accepts no grant that the other has revoked, nor a code', slow, async () => {
    const set = await Replication.start(programs, { standbys: 1 });
    onTestFinished(() => set.stop());
    const old = set.primary;
    const url = await createDatabase(old.url);
    const onOld = await open(url);
    const grants = await Promise.all(Array.from({ length: GRANTS }, () => granted(onOld)));
    const ids = grants.map(({ grant }) => grant.grant_id);
    const code = await issued(onOld);
    await set.settled();

    await set.failOver();
    const onNew = await open(urlOf(set.url, new URL(url).pathname.slice(1)));
    for (const grant_id of ids) {
      const revocation = { application_id: null, now: Date.now(), initiator: anInitiator() };
      expect(await onNew.revokeGrant({ grant_id, ...revocation })).not.toBeNull();
    }
    expect(await onNew.redeemCode(redemptionOf(code))).not.toBeNull();

    async function askTheOld(): Promise<void> {
      // So it still takes them for active.
      const [found] = await query(url, 'SELECT count(*) FROM grants WHERE revoked_at IS NULL');
      expect(found).toEqual({ count: `${GRANTS + 1}` });
      const asked = await Promise.allSettled([
        ...ids.map((id) => onOld.authenticateGrant(id, { currentAccount: false })),
        onOld.redeemCode(redemptionOf(code)),
      ]);
      const codes = asked.map((one) => one.status === 'rejected' && one.reason.code);
      expect(codes).toEqual([...ids, code].map(() => 'store_unavailable'));
    }
    await askTheOld();
    await old.kill();
    await old.restart();
    await askTheOld();
  });
});
