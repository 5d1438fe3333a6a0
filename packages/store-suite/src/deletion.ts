import { deletionWork } from '@latchkey/store/endings';
import { describe, expect, test } from 'vitest';
import { finish } from './finish.ts';
import type { SuiteStores } from './harness.ts';
import {
  aDeletion,
  aDocumented,
  aKeptDocument,
  anApplication,
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

    test('has its grants revoked, and its codes deleted', async () => {
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

      for (let round = 0; round < 2; round++) {
        const found = await authenticated(stores.other, grants.at(-1)?.grant_id ?? '');
        expect(found).toMatchObject({ application_disabled: null, secret_hash: null });
        const listed = await stores.other.listGrants(
          { application_id },
          { limit: 9, before: null },
        );
        expect(listed.map(({ grant_id, revoked_at }) => [grant_id, revoked_at])).toEqual(
          grants.map(({ grant_id }, index) => [grant_id, index === 0 ? 3 : 8]),
        );
        const last = await stores.store.findGrantHistory(grants.at(-1)?.grant_id ?? '');
        expect(last).toMatchObject({
          ...{ revoked_by: deletion.deleted_by, revoked_reason: 'application_deleted' },
        });
        expect(await stores.store.findCode(code.grant_id)).toBeNull();
        expect(await stores.store.redeemCode(redemptionOf(code))).toBeNull();
        // The same once it is written down, part by part.
        if (round === 0) {
          const done = await finish(stores.store, deletionWork(deletion, 0), 2);
          expect(done).toMatchObject({ codes_cancelled: 1 });
          expect(done.revoked).toHaveLength(grants.length - 1);
        }
      }
      expect((await authenticated(stores.store, other.grant.grant_id))?.secret_hash).not.toBeNull();
      expect(await stores.store.findCode(otherCode.grant_id)).not.toBeNull();
    });

    test('is unfinished for every process until its work is done, and stays unknown', async () => {
      const application = await disabledApplication();
      const deletion = aDeletion({ application_id: application.id });
      const other = aDeletion({ application_id: (await disabledApplication()).id });
      await stores.store.deleteApplication(deletion);
      await stores.store.deleteApplication(other);
      const unfinished = await stores.other.listWork(1_000);
      const work = deletionWork(deletion, application.revocations);
      expect(unfinished).toContainEqual(work);
      expect(unfinished).toContainEqual(deletionWork(other, 0));
      await finish(stores.other, work);
      await stores.other.finishWork(deletionWork(aDeletion(), 0));
      expect(await stores.store.listWork(1_000)).not.toContainEqual(work);
      expect(await stores.store.listWork(1_000)).toContainEqual(deletionWork(other, 0));
      await finish(stores.store, deletionWork(other, 0));
      expect(await stores.store.findApplication(application.id)).toBeNull();
    });

    test('takes the kept document of it along, and leaves a pinned one', async () => {
      const { store } = stores;
      for (const isPinned of [false, true]) {
        const application = aDocumented({ disabled: true });
        const { uri: document_uri } = application.document;
        await store.putDocumented(application);
        const kept = aKeptDocument({ document_uri });
        if (isPinned) await store.pinDocument(kept, { most: 1_000 });
        else await store.keepDocument(kept);
        const deletion = aDeletion({ application_id: application.id });
        await store.deleteApplication(deletion);
        await finish(store, deletionWork(deletion, 0));
        expect((await stores.other.findKeptDocument(document_uri)) !== null).toBe(isPinned);
      }
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
