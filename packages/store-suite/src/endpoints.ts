import type { Store } from '@latchkey/store/store';
import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import { aDeletion, anApplication, anEndpoint, anId, atOnce } from './records.ts';

const MOST = { most: 3 };
const ALL = { limit: 100, before: null };

const signing = (current: string, previous: string | null = null) => ({
  evenIfCopied: false,
  eventsKeys: { current, previous },
});

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
        const application = anApplication();
        await store.createApplication(application);
        const host = anEndpoint({ types: ['grant.created', 'grant.revoked'] });
        const own = anEndpoint({ application_id: application.id });
        for (const endpoint of [host, own]) {
          expect(await store.createEndpoint(endpoint, MOST)).toBe('created');
        }
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
        const claim = { evenIfCopied: false, eventsKeys: null };
        await database.open({ claim }).then((silent) => silent.close());
        await store.createEndpoint(endpoint, MOST);
        await expect(database.open({ claim })).rejects.toThrow(/EVENTS_KEY is not set/);
        for (const options of [{ claim: { evenIfCopied: false } }, { claim: signing('a') }, {}]) {
          await database.open(options).then((opened) => opened.close());
        }
        await store.deleteEndpoint(endpoint.id, 9);
        await store.close();
        await database.sweep(Date.now() + 7_200_000);
        await database.open({ claim }).then((silent) => silent.close());
      }));

    // [current, previous], and what the database knows then; null where the start is refused.
    test.each<[string, (readonly [string, string | null, readonly string[] | null])[]]>([
      [
        'the key of before',
        [
          ['a', null, ['a']],
          ['a', null, ['a']],
        ],
      ],
      [
        'another key',
        [
          ['a', null, ['a']],
          ['b', null, null],
          ['b', 'c', null],
          ['a', null, ['a']],
        ],
      ],
      [
        'a change of the key, process by process, and a second change',
        [
          ['a', null, ['a']],
          ['a', 'a', ['a']],
          ['b', 'a', ['b', 'a']],
          // A process that was not told of the new one yet, or a deployment that was rolled back.
          ['a', null, ['b', 'a']],
          ['b', 'a', ['b', 'a']],
          ['b', null, ['b']],
          // A process that still has both.
          ['b', 'a', ['b']],
          ['a', null, null],
          ['c', 'b', ['c', 'b']],
          ['c', null, ['c']],
          ['b', null, null],
        ],
      ],
      [
        'a change that is taken back',
        [
          ['a', null, ['a']],
          ['b', 'a', ['b', 'a']],
          ['a', 'b', ['a', 'b']],
          ['a', null, ['a']],
          ['b', null, null],
        ],
      ],
    ])('has secrets of a key: a start with %s', (_, starts) =>
      stores.withFresh(async (database) => {
        const store = await database.open({ recordsEvents: true });
        await store.createEndpoint(anEndpoint(), MOST);
        for (const [current, previous, known] of starts) {
          const before = await store.findEventsKeys();
          const started = database.open({ claim: signing(current, previous) });
          if (known === null) {
            await expect(started).rejects.toThrow(/another key .* --new-events-key.* rotate ID/);
            expect(await store.findEventsKeys()).toEqual(before);
          } else {
            await started.then((opened) => opened.close());
            expect(await store.findEventsKeys()).toEqual(known);
          }
        }
        const claim = { ...signing('z'), evenIfCopied: false };
        const isNew = { ...claim, eventsKeys: { ...claim.eventsKeys, isNew: true } };
        await database.open({ claim: isNew }).then((opened) => opened.close());
        expect(await store.findEventsKeys()).toEqual(['z']);
        await store.close();
      }),
    );

    test('has secrets of the key with which it was made, whatever the other processes have', () =>
      stores.withFresh(async (database) => {
        const [one, other] = [
          await database.open({ recordsEvents: true, claim: signing('a') }),
          await database.open({ recordsEvents: true, claim: signing('b') }),
        ];
        const admit = (store: Store, current: string) =>
          store.admitEventsKeys({ current, previous: null });
        await admit(one, 'a');
        const endpoint = anEndpoint();
        await one.createEndpoint(endpoint, MOST);
        await expect(admit(other, 'b')).rejects.toThrow(/another key/);
        await admit(one, 'a');
        // Nobody has a secret any more.
        await one.deleteEndpoint(endpoint.id, 9);
        await admit(other, 'b');
        expect(await one.findEventsKeys()).toEqual(['b']);
        await Promise.all([one.close(), other.close()]);
      }));

    test('has secrets of one key, of processes that start at the same time', () =>
      stores.withFresh(async (database) => {
        const store = await database.open({ recordsEvents: true, claim: signing('a') });
        await store.createEndpoint(anEndpoint(), MOST);
        const starts = await Promise.allSettled(
          ['b', 'a', 'c', 'a'].map((current) =>
            database.open({ claim: signing(current, current === 'b' ? 'a' : null) }),
          ),
        );
        expect(starts.map(({ status }) => status)).toEqual([
          ...['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
        ]);
        expect(await store.findEventsKeys()).toEqual(['b', 'a']);
        for (const start of starts) if (start.status === 'fulfilled') await start.value.close();
        await store.close();
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
