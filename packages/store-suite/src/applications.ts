import { firstGenerations, generationsAfter } from '@latchkey/store/generations';
import type { ApplicationRecord } from '@latchkey/store/records';
import { EXPIRED_SECRETS_KEPT } from '@latchkey/store/secrets';
import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import { anApplication, anId, aSecret, atOnce } from './records.ts';

const MOST = 5;

export function describeApplications(stores: SuiteStores): void {
  describe('applications', () => {
    test('are read as they were created, with their secrets in order', async () => {
      const plain = anApplication({ secrets: [], public: true });
      const full = anApplication({
        disabled: true,
        redirect_uris: [],
        scopes: ['posts:read', 'posts:write'],
        logo_uri: `data:image/png;base64,${'A'.repeat(8_000)}`,
        homepage_uri: 'https://acme.example/',
        policy_uri: 'https://acme.example/privacy',
        tos_uri: 'https://acme.example/terms',
        resource_server: true,
        challenge_required: true,
        secrets: [
          aSecret({ created_at: 1_000, expires_at: 2_000, last_used_at: 1_500 }),
          aSecret({ created_at: 1_001 }),
          aSecret({ created_at: 1_002 }),
        ],
      });
      await stores.store.createApplication(plain);
      await stores.store.createApplication(full);

      expect(await stores.store.findApplication(plain.id)).toEqual(plain);
      expect(await stores.other.findApplication(full.id)).toEqual(full);
    });

    test('that are unknown are null', async () => {
      expect(await stores.store.findApplication(anId())).toBeNull();
      expect(await stores.store.setApplicationDisabled(anId(), true, 0)).toBeNull();
    });

    test('are listed newest first, and do not shift if one is created between two pages', async () => {
      const [first, second, third] = [anApplication(), anApplication(), anApplication()];
      // Created out of order: lists are ordered by id.
      for (const application of [second, third, first]) {
        await stores.store.createApplication(application);
      }
      const part = await stores.store.listApplications({ limit: 2, before: null });
      expect(part).toEqual([third, second]);

      await stores.store.createApplication(anApplication());
      const next = await stores.store.listApplications({ limit: 1, before: second.id });
      expect(next).toEqual([first]);
    });

    test('are listed to the end, one entry each whatever the number of secrets', async () => {
      await stores.withFresh(async (database) => {
        const store = await database.open();
        try {
          expect(await store.listApplications({ limit: 10, before: null })).toEqual([]);
          const older = anApplication({ secrets: [aSecret(), aSecret()] });
          const newer = anApplication({ secrets: [] });
          await store.createApplication(older);
          await store.createApplication(newer);

          expect(await store.listApplications({ limit: 2, before: null })).toEqual([newer, older]);
          expect(await store.listApplications({ limit: 2, before: newer.id })).toEqual([older]);
          expect(await store.listApplications({ limit: 2, before: older.id })).toEqual([]);
        } finally {
          await store.close();
        }
      });
    });

    test('are disabled and enabled repeatedly, and keep everything else', async () => {
      const application = anApplication();
      await stores.store.createApplication(application);
      for (const [disabled, now, enabled_at, generation] of [
        [true, 1_000, null, 1],
        [true, 2_000, null, 2],
        [false, 3_000, 3_000, 2],
        [false, 4_000, 3_000, 2],
      ] as const) {
        const changed = await stores.store.setApplicationDisabled(application.id, disabled, now);
        const generations = { ...firstGenerations, now: generation, disabled: generation };
        expect(changed).toEqual({ ...application, disabled, enabled_at, generations });
        expect(await stores.other.findApplication(application.id)).toEqual(changed);
      }
    });

    test('are changed in what is named, and keep everything else', async () => {
      const application = anApplication();
      await stores.store.createApplication(application);
      const changes = {
        name: 'Acme 2',
        redirect_uris: ['com.acme.app:/callback', 'https://acme.example/b'],
        scopes: ['posts:read'],
        logo_uri: 'https://acme.example/logo.png',
        homepage_uri: 'https://acme.example/',
        policy_uri: 'https://acme.example/privacy',
        tos_uri: 'https://acme.example/terms',
        resource_server: true,
        challenge_required: true,
        idle_days: 30,
        grants_per_account: 1,
        default_scopes: ['a', 'b'],
      };
      let expected: ApplicationRecord = application;
      for (const [name, value] of [...Object.entries(changes), ['scopes', null]] as const) {
        const generations = generationsAfter(expected, { [name as string]: value });
        expected = { ...expected, [name as string]: value, generations };
        const changed = await stores.store.updateApplication(application.id, {
          [name as string]: value,
        });
        expect(changed).toEqual(expected);
        expect(await stores.other.findApplication(application.id)).toEqual(expected);
      }
      expect(await stores.store.updateApplication(application.id, {})).toEqual(expected);
      expect(await stores.store.updateApplication(anId(), changes)).toBeNull();
    });

    test('lose none of several changes made at once', async () => {
      const used = aSecret();
      const removed = aSecret();
      const application = anApplication({ secrets: [used, removed] });
      await stores.store.createApplication(application);
      const added = [aSecret(), aSecret()];
      await Promise.all([
        stores.store.setApplicationDisabled(application.id, true, 0),
        stores.other.updateApplication(application.id, { name: 'Acme 2' }),
        stores.store.updateApplication(application.id, { scopes: ['posts:read'] }),
        stores.other.noteSecretUse(application.id, used.id, 5_000),
        stores.store.removeSecret(application.id, removed.id),
        ...added.map((secret, turn) =>
          stores.handle(turn).addSecret(application.id, secret, { most: MOST, now: 0 }),
        ),
      ]);
      const found = await stores.store.findApplication(application.id);
      expect(found).toMatchObject({ disabled: true, name: 'Acme 2', scopes: ['posts:read'] });
      expect(found?.secrets[0]).toEqual({ ...used, last_used_at: 5_000 });
      expect(found?.secrets).toHaveLength(3);
      expect(found?.secrets).toEqual(expect.arrayContaining(added));
    });
  });

  describe('secrets of an application', () => {
    test('are added after those it has', async () => {
      const application = anApplication();
      await stores.store.createApplication(application);
      const secret = aSecret({ expires_at: Date.now() + 1_000 });
      const limit = { most: MOST, now: Date.now() };
      expect(await stores.store.addSecret(application.id, secret, limit)).toBe('added');
      expect((await stores.other.findApplication(application.id))?.secrets).toEqual([
        ...application.secrets,
        secret,
      ]);
    });

    test('are not added to an application that does not exist', async () => {
      const limit = { most: MOST, now: Date.now() };
      expect(await stores.store.addSecret(anId(), aSecret(), limit)).toBe('application_not_found');
    });

    test('count against the limit while they are live, to the millisecond', async () => {
      const now = Date.now();
      const application = anApplication({
        secrets: [aSecret({ expires_at: now - 1 }), aSecret({ expires_at: now }), aSecret()],
      });
      await stores.store.createApplication(application);
      const add = (expires_at: number | null) =>
        stores.store.addSecret(application.id, aSecret({ expires_at }), { most: 3, now });
      expect(await add(now + 1)).toBe('added');
      expect(await add(null)).toBe('added');
      expect(await add(null)).toBe('secret_limit_reached');
      expect((await stores.store.findApplication(application.id))?.secrets).toHaveLength(5);

      // One of the live secrets has expired by then.
      const later = { most: 3, now: now + 1 };
      expect(await stores.store.addSecret(application.id, aSecret(), later)).toBe('added');
    });

    test('are deleted when one is added, if they expired before 20 others', async () => {
      const now = Date.now();
      const expired = Array.from({ length: EXPIRED_SECRETS_KEPT + 3 }, (_, age) =>
        aSecret({ expires_at: now - 1_000 + age }),
      );
      const [live, added] = [aSecret(), aSecret()];
      const application = anApplication({ secrets: [live, ...expired] });
      await stores.store.createApplication(application);
      await stores.store.addSecret(application.id, added, { most: 5, now });
      expect((await stores.other.findApplication(application.id))?.secrets).toEqual([
        live,
        ...expired.slice(3),
        added,
      ]);
    });

    test('stay within the limit when 16 are added at once', async () => {
      const application = anApplication();
      await stores.store.createApplication(application);
      const results = await atOnce(16, (turn) =>
        stores.handle(turn).addSecret(application.id, aSecret(), { most: MOST, now: Date.now() }),
      );
      expect(results.filter((result) => result === 'added')).toHaveLength(MOST - 1);
      expect(results.filter((result) => result === 'secret_limit_reached')).toHaveLength(12);
      const found = await stores.store.findApplication(application.id);
      expect(found?.secrets).toHaveLength(MOST);
    });

    test('are removed for good, the last one too, and make room', async () => {
      const [first, second] = [aSecret(), aSecret()];
      const application = anApplication({ secrets: [first, second] });
      const { id } = application;
      await stores.store.createApplication(application);

      const left = { ...application, secrets: [second] };
      expect(await stores.store.removeSecret(id, first.id)).toEqual(left);
      expect(await stores.other.findApplication(id)).toEqual(left);
      expect(await stores.store.removeSecret(id, first.id)).toBe('secret_not_found');
      expect(await stores.store.removeSecret(id, second.id)).toEqual({ ...left, secrets: [] });

      const limit = { most: 1, now: Date.now() };
      // An id that was removed can come again: the demo has one.
      const next = aSecret({ id: first.id });
      expect(await stores.store.addSecret(id, next, limit)).toBe('added');
      expect((await stores.store.findApplication(id))?.secrets).toEqual([next]);
    });

    test('are not removed by way of another application', async () => {
      const [mine, theirs] = [anApplication(), anApplication()];
      await stores.store.createApplication(mine);
      await stores.store.createApplication(theirs);
      const secret_id = theirs.secrets[0]?.id as string;
      expect(await stores.store.removeSecret(mine.id, secret_id)).toBe('secret_not_found');
      expect(await stores.store.removeSecret(anId(), secret_id)).toBe('application_not_found');
      expect(await stores.store.findApplication(theirs.id)).toEqual(theirs);
    });

    test('are removed by exactly one of several calls', async () => {
      const application = anApplication();
      await stores.store.createApplication(application);
      const secret_id = application.secrets[0]?.id as string;
      const results = await atOnce(8, (turn) =>
        stores.handle(turn).removeSecret(application.id, secret_id),
      );
      expect(results.filter((result) => result !== 'secret_not_found')).toEqual([
        { ...application, secrets: [] },
      ]);
    });
  });

  describe('the last use of a secret', () => {
    test('is noted for that secret, and never goes back', async () => {
      const [used, unused] = [aSecret(), aSecret()];
      const application = anApplication({ secrets: [used, unused] });
      await stores.store.createApplication(application);
      for (const [at, noted] of [
        [2_000, 2_000],
        [1_999, 2_000],
        [2_001, 2_001],
      ] as const) {
        await stores.store.noteSecretUse(application.id, used.id, at);
        expect((await stores.other.findApplication(application.id))?.secrets).toEqual([
          { ...used, last_used_at: noted },
          unused,
        ]);
      }
    });

    test('is the latest of those noted at once', async () => {
      const application = anApplication();
      await stores.store.createApplication(application);
      const secret_id = application.secrets[0]?.id as string;
      const times = [7, 3, 9, 1, 8, 2, 6, 4].map((seconds) => seconds * 1_000);
      await Promise.all(
        times.map((at, turn) => stores.handle(turn).noteSecretUse(application.id, secret_id, at)),
      );
      const found = await stores.store.findApplication(application.id);
      expect(found?.secrets[0]?.last_used_at).toBe(9_000);
    });

    test('brings no removed secret back', async () => {
      const application = anApplication();
      const [secret] = application.secrets;
      await stores.store.createApplication(application);
      await stores.store.removeSecret(application.id, secret?.id as string);
      await stores.store.noteSecretUse(application.id, secret?.id as string, 1_000);
      await stores.store.noteSecretUse(anId(), secret?.id as string, 1_000);
      expect((await stores.store.findApplication(application.id))?.secrets).toEqual([]);
    });
  });
}
