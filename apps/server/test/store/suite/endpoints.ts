import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import type { SuiteStores } from './harness.ts';
import { aDeletion, anApplication, anEndpoint, anId, atOnce } from './records.ts';

const MOST = { most: 3 };
const ALL = { limit: 100, before: null };

export function describeEndpoints(stores: SuiteStores): void {
  const onEmpty = (run: (store: Store, other: Store) => Promise<void>) =>
    stores.withFresh(async (database) => {
      const [store, other] = [
        await database.open({ recordsEvents: true }),
        await database.open({ recordsEvents: true }),
      ];
      await run(store, other).finally(() => Promise.all([store.close(), other.close()]));
    });

  describe('an endpoint', () => {
    test('is created, found, listed by its owner, and deleted for every process', () =>
      onEmpty(async (store, other) => {
        expect(await store.hasEndpoints()).toBe(false);
        const application = anApplication();
        await store.createApplication(application);
        const host = anEndpoint({ types: ['grant.created', 'grant.revoked'] });
        const own = anEndpoint({ application_id: application.id });
        for (const endpoint of [host, own]) {
          expect(await store.createEndpoint(endpoint, MOST)).toBe('created');
        }
        expect(await other.hasEndpoints()).toBe(true);
        expect(await other.findEndpoint(host.id)).toEqual(host);
        expect(await other.findEndpoint(anId())).toBeNull();
        expect(await other.listEndpoints({}, ALL)).toEqual([own, host]);
        expect(await other.listEndpoints({}, { limit: 1, before: own.id })).toEqual([host]);
        expect(await other.listEndpoints({ application_id: null }, ALL)).toEqual([host]);
        const ofApplication = { application_id: application.id };
        expect(await other.listEndpoints(ofApplication, ALL)).toEqual([own]);
        expect(await other.listEndpoints({ application_id: anId() }, ALL)).toEqual([]);
        expect(await other.deleteEndpoint(host.id, 9)).toEqual(host);
        expect(await store.deleteEndpoint(host.id, 9)).toBeNull();
        expect(await store.findEndpoint(host.id)).toBeNull();
        expect(await store.updateEndpoint(host.id, { types: null })).toBeNull();
        expect(await store.rotateEndpoint(host.id, { overlap_until: null })).toBeNull();
        expect(await store.listEndpoints({}, ALL)).toEqual([own]);
      }));

    test('changes what is asked for, and an earlier reason of its end stays', () =>
      onEmpty(async (store, other) => {
        const endpoint = anEndpoint();
        await store.createEndpoint(endpoint, MOST);
        const url = 'https://hooks.example/2';
        const types = ['grant.revoked' as const];
        expect(await other.updateEndpoint(endpoint.id, { url, types })).toEqual({
          ...endpoint,
          ...{ url, types },
        });
        const disabled = { ...endpoint, url, types, disabled_reason: 'operator' as const };
        expect(await other.updateEndpoint(endpoint.id, { disabled_reason: 'operator' })).toEqual(
          disabled,
        );
        expect(await store.updateEndpoint(endpoint.id, { disabled_reason: 'failing' })).toEqual(
          disabled,
        );
        expect(await store.updateEndpoint(endpoint.id, { disabled_reason: null })).toEqual({
          ...{ ...endpoint, url, types },
        });
        expect(await store.rotateEndpoint(endpoint.id, { overlap_until: 7 })).toMatchObject({
          ...{ secret_version: 2, overlap_until: 7 },
        });
        await atOnce(4, (index) =>
          (index % 2 === 0 ? store : other).rotateEndpoint(endpoint.id, { overlap_until: null }),
        );
        expect(await store.findEndpoint(endpoint.id)).toMatchObject({
          ...{ url, secret_version: 6, overlap_until: null },
        });
      }));

    test('is one of at most so many of its owner, in any race', () =>
      onEmpty(async (store, other) => {
        const application = anApplication();
        await store.createApplication(application);
        for (const application_id of [null, application.id]) {
          const outcomes = await atOnce(8, (index) =>
            (index % 2 === 0 ? store : other).createEndpoint(anEndpoint({ application_id }), MOST),
          );
          expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(3);
          const [newest] = await store.listEndpoints({ application_id }, ALL);
          await store.updateEndpoint(newest?.id ?? '', { disabled_reason: 'operator' });
          expect(await other.createEndpoint(anEndpoint({ application_id }), MOST)).toBe(
            'endpoint_limit_reached',
          );
          await store.deleteEndpoint(newest?.id ?? '', 9);
          expect(await other.createEndpoint(anEndpoint({ application_id }), MOST)).toBe('created');
        }
      }));

    test('is not left unheard: without EVENTS_KEY, nobody changes anything', () =>
      stores.withFresh(async (database) => {
        const store = await database.open({ recordsEvents: true });
        const endpoint = anEndpoint();
        const claim = { evenIfCopied: false };
        await database.open({ claim }).then((silent) => silent.close());
        await store.createEndpoint(endpoint, MOST);
        await expect(database.open({ claim })).rejects.toThrow(/EVENTS_KEY is not set/);
        for (const options of [
          { claim: { ...claim, unheard: true } },
          { claim, recordsEvents: true },
          {},
        ]) {
          await database.open(options).then((opened) => opened.close());
        }
        await store.deleteEndpoint(endpoint.id, 9);
        await store.close();
        await database.sweep(Date.now() + 7_200_000);
        await database.open({ claim }).then((silent) => silent.close());
      }));

    test('of a deleted application is unknown at once, and none is created for it', () =>
      onEmpty(async (store, other) => {
        const application = anApplication({ disabled: true });
        const { id: application_id } = application;
        await store.createApplication(application);
        const endpoint = anEndpoint({ application_id });
        await store.createEndpoint(endpoint, MOST);
        await store.deleteApplication(aDeletion({ application_id }));
        expect(await other.findEndpoint(endpoint.id)).toBeNull();
        expect(await other.listEndpoints({}, ALL)).toEqual([]);
        expect(await other.listEndpoints({ application_id }, ALL)).toEqual([]);
        expect(await other.deleteEndpoint(endpoint.id, 9)).toBeNull();
        expect(await other.updateEndpoint(endpoint.id, { types: null })).toBeNull();
        expect(await other.createEndpoint(anEndpoint({ application_id }), MOST)).toBe(
          'application_not_found',
        );
        expect(await other.createEndpoint(anEndpoint({ application_id: anId() }), MOST)).toBe(
          'application_not_found',
        );
      }));
  });
}
