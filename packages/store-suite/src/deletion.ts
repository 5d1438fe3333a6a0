import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import { fillWithGrants } from './many-grants.ts';
import {
  aDeletion,
  anApplication,
  anId,
  anInitiator,
  aSecret,
  authenticated,
  granted,
  issued,
  redemptionOf,
} from './records.ts';

export function describeDeletion(stores: SuiteStores): void {
  /** An application that is disabled, as it is before it is deleted. */
  async function disabledApplication() {
    const application = anApplication({ disabled: true });
    await stores.store.createApplication(application);
    return application;
  }

  describe('a deleted application', () => {
    test('is unknown, and returned as it was', async () => {
      const application = await disabledApplication();
      const { id } = application;
      const deletion = aDeletion({ application_id: id });
      expect(await stores.store.deleteApplication(deletion)).toEqual(application);

      expect(await stores.other.findApplication(id)).toBeNull();
      const listed = await stores.other.listApplications({ limit: 100, before: null });
      expect(listed.map((entry) => entry.id)).not.toContain(id);
      expect(await stores.other.setApplicationDisabled(id, false, 0)).toBeNull();
      expect(await stores.other.updateApplication(id, { name: 'Acme 2' })).toBeNull();
      const limit = { most: 5, now: 0 };
      expect(await stores.other.addSecret(id, aSecret(), limit)).toBe('application_not_found');
      const [secret] = application.secrets;
      expect(await stores.other.removeSecret(id, secret?.id ?? '')).toBe('application_not_found');
      await stores.other.noteSecretUse(id, secret?.id ?? '', 1);
      expect(await stores.other.findApplication(id)).toBeNull();
      expect(await stores.other.deleteApplication(deletion)).toBe('application_not_found');
    });

    test('has to exist and to be disabled', async () => {
      const application = anApplication();
      await stores.store.createApplication(application);
      const deletion = aDeletion({ application_id: application.id });
      expect(await stores.store.deleteApplication(deletion)).toBe('application_enabled');
      expect(await stores.store.findApplication(application.id)).toEqual(application);
      expect(await stores.store.deleteApplication(aDeletion())).toBe('application_not_found');
    });

    test('is what its grants have none of, before they are revoked', async () => {
      const { id } = await disabledApplication();
      const { grant } = await granted(stores.store, { application_id: id });
      await stores.store.deleteApplication(aDeletion({ application_id: id }));
      const found = await authenticated(stores.other, grant.grant_id);
      expect(found).toMatchObject({ application_disabled: null });
    });

    test('has its grants revoked part by part, and its codes deleted', async () => {
      const { id: application_id } = await disabledApplication();
      const grants = [];
      for (let count = 0; count < 5; count++) {
        grants.unshift((await granted(stores.store, { application_id })).grant);
      }
      const [newest] = grants;
      if (newest)
        await stores.store.revokeGrant({
          ...newest,
          application_id: null,
          now: 3,
          initiator: anInitiator(),
        });
      const code = await issued(stores.store, { application_id });
      const other = await granted(stores.store);
      const otherCode = await issued(stores.store);
      const deletion = aDeletion({ application_id, deleted_at: 8 });
      await stores.store.deleteApplication(deletion);

      let before: string | null = null;
      let pages = 0;
      let revoked = 0;
      do {
        const page: { revoked: number; before: string | null } = await stores
          .handle(pages)
          .endGrants(deletion, { limit: 2, before });
        before = page.before;
        revoked += page.revoked;
        pages += 1;
      } while (before !== null && pages < 9);
      expect(pages).toBeGreaterThan(2);
      // One was revoked before.
      expect(revoked).toBe(grants.length - 1);
      const listed = await stores.other.listGrants({ application_id }, { limit: 9, before: null });
      expect(listed.map(({ grant_id, revoked_at }) => [grant_id, revoked_at])).toEqual(
        grants.map(({ grant_id }, index) => [grant_id, index === 0 ? 3 : 8]),
      );
      const last = await stores.store.findGrantHistory(grants.at(-1)?.grant_id ?? '');
      expect(last?.revoked_by).toEqual(deletion.deleted_by);
      expect((await authenticated(stores.store, last?.grant_id ?? ''))?.secret_hash).toBeNull();
      expect(await stores.store.findCode(code.grant_id)).toBeNull();
      expect(await stores.store.redeemCode(redemptionOf(code))).toBeNull();
      expect((await authenticated(stores.store, other.grant.grant_id))?.secret_hash).not.toBeNull();
      expect(await stores.store.findCode(otherCode.grant_id)).not.toBeNull();
    });

    test('has all of a large part revoked', async () => {
      await stores.withFresh(async (database) => {
        const count = 400;
        const { application } = await fillWithGrants(await database.openTarget(), count);
        const [application_id, range] = [application.id, { limit: count + 1, before: null }];
        const store = await database.open();
        const deletion = aDeletion({ application_id });
        expect(await store.endGrants(deletion, range)).toEqual({
          ...{ revoked: (count * 3) / 4, before: null },
        });
        const grants = await store.listGrants({ application_id }, range);
        expect(grants).toHaveLength(count);
        expect(grants.filter(({ revoked_at }) => revoked_at === null)).toEqual([]);
        await store.close();
      });
    });

    test('is remembered by every process until it is forgotten, and stays unknown', async () => {
      const application = await disabledApplication();
      const deletion = aDeletion({ application_id: application.id });
      const other = aDeletion({ application_id: (await disabledApplication()).id });
      await stores.store.deleteApplication(deletion);
      await stores.store.deleteApplication(other);
      const remembered = await stores.other.listDeletions();
      expect(remembered).toContainEqual(deletion);
      expect(remembered).toContainEqual(other);
      await stores.other.forgetDeletion(deletion.application_id);
      await stores.other.forgetDeletion(anId());
      expect(await stores.store.listDeletions()).not.toContainEqual(deletion);
      expect(await stores.store.listDeletions()).toContainEqual(other);
      await stores.store.forgetDeletion(other.application_id);
      expect(await stores.store.findApplication(application.id)).toBeNull();
    });

    test('was deleted by one of several calls', async () => {
      const { id } = await disabledApplication();
      const deletion = aDeletion({ application_id: id });
      const outcomes = await Promise.all(
        [0, 1, 2, 3].map((turn) => stores.handle(turn).deleteApplication(deletion)),
      );
      expect(outcomes.filter((outcome) => typeof outcome !== 'string')).toHaveLength(1);
    });
  });

  describe('a removed trial', () => {
    test('leaves nothing, whatever was made of it, and spares the rest', async () => {
      const application = await disabledApplication();
      const other = await granted(stores.store);
      const { grant } = await granted(stores.store, { application_id: application.id });
      const trial = { ...grant, account_id: grant.account.id };
      const without = { ...trial, grant_id: null };
      for (const removed of [without, trial, trial]) await stores.store.removeTrial(removed);

      expect(await stores.other.findApplication(application.id)).toBeNull();
      expect(await stores.other.findAccount(grant.account.id)).toBeNull();
      expect(await authenticated(stores.other, grant.grant_id)).toBeNull();
      expect(await stores.other.findGrantHistory(grant.grant_id)).toBeNull();
      expect(await authenticated(stores.other, other.grant.grant_id)).toMatchObject({
        grant: { revoked_at: null },
      });
    });
  });
}
