import { DOCUMENTED_REDIRECT_URIS } from '@latchkey/store/store';
import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import { aDeletion, aDocumented, anApplication, atOnce } from './records.ts';

export function describeDocumented(stores: SuiteStores): void {
  describe('applications with a document', () => {
    test('are found by its address, and read as they were put', async () => {
      const { store, other } = stores;
      const application = aDocumented({ redirect_uris: ['http://127.0.0.1:1/cb'] });
      const { uri } = application.document;
      expect(await store.findDocumented(uri)).toBeNull();
      expect(await store.putDocumented(application)).toEqual(application);
      for (const options of [{}, { mayBeStale: true }]) {
        expect(await other.findDocumented(uri, options)).toEqual(application);
      }
      expect(await other.findApplication(application.id)).toEqual(application);
      expect(await store.findDocumented(`${uri}/`)).toBeNull();
    });

    test('are one for each address, whoever puts them, on any process', async () => {
      const { document } = aDocumented();
      const puts = Array.from({ length: 8 }, (_, number) =>
        aDocumented({ document, redirect_uris: [`http://127.0.0.1:${number}/cb`] }),
      );
      const put = await atOnce(puts.length, (number) =>
        (number % 2 ? stores.store : stores.other).putDocumented(puts[number] as never),
      );
      expect(new Set(put.map(({ id }) => id)).size).toBe(1);
      const found = await stores.store.findDocumented(document.uri);
      expect(found?.redirect_uris.toSorted()).toEqual(
        puts.flatMap(({ redirect_uris }) => redirect_uris),
      );
    });

    test('take what their document says from the latest, and keep the rest', async () => {
      const { store } = stores;
      const first = aDocumented({ redirect_uris: ['http://127.0.0.1:0/cb'] });
      await store.putDocumented(first);
      const idle = await store.updateApplication(first.id, { idle_days: 7, scopes: ['a'] });
      const { document } = first;
      const changed = {
        name: 'Renamed',
        homepage_uri: 'https://client.example/',
        document: { ...document, method: 'none' as const, jwks_uri: null, signing_alg: null },
      };
      const uris = Array.from({ length: 21 }, (_, port) => `http://127.0.0.1:${port}/cb`);
      for (const uri of uris) {
        await store.putDocumented(aDocumented({ ...changed, redirect_uris: [uri] }));
      }
      const expected = {
        ...idle,
        ...changed,
        redirect_uris: uris.slice(-DOCUMENTED_REDIRECT_URIS),
      };
      const { policy_uri, tos_uri } = aDocumented();
      expect(await store.findApplication(first.id)).toEqual({ ...expected, policy_uri, tos_uri });
    });

    test('come back under another id once they are deleted', async () => {
      const { store, other } = stores;
      const application = aDocumented();
      const { document } = application;
      await store.putDocumented(application);
      await store.setApplicationDisabled(application.id, true, 0);
      await store.deleteApplication(aDeletion({ application_id: application.id }));
      expect(await other.findDocumented(document.uri)).toBeNull();
      const again = aDocumented({ document });
      expect((await other.putDocumented(again)).id).toBe(again.id);
      expect(await store.findDocumented(document.uri)).toEqual(again);
    });

    test('are listed alone, left out, or with the others', async () => {
      await stores.withFresh(async (database) => {
        const store = await database.open();
        try {
          const registered = anApplication();
          const documented = aDocumented();
          await store.createApplication(registered);
          await store.putDocumented(documented);
          const list = async (documented?: boolean) =>
            (await store.listApplications({ limit: 9, before: null }, { documented })).map(
              ({ id }) => id,
            );
          expect(await list()).toEqual([documented.id, registered.id]);
          expect(await list(true)).toEqual([documented.id]);
          expect(await list(false)).toEqual([registered.id]);
          const older = await store.listApplications({ limit: 9, before: documented.id });
          expect(older.map(({ id }) => id)).toEqual([registered.id]);
        } finally {
          await store.close();
        }
      });
    });
  });
}
