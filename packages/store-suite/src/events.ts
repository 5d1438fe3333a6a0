import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '@latchkey/domain/domain-error';
import { CLAIM_LASTS, DELIVERIES_KEPT } from '@latchkey/domain/lifetimes';
import { inRequest } from '@latchkey/domain/request-scope';
import { type Choice, type EventType, formatTimestamp } from '@latchkey/schema';
import { deletionWork } from '@latchkey/store/endings';
import {
  accountUpdated,
  applicationChanged,
  type Event,
  grantCreated,
  grantEventId,
  grantRevoked,
} from '@latchkey/store/event';
import type {
  ApplicationRecord,
  DeliveryRecord,
  EndpointRecord,
  EndReason,
  GrantRecord,
} from '@latchkey/store/records';
import type { ClaimedDelivery, EndedTry, Store } from '@latchkey/store/store';
import { describe, expect, test } from 'vitest';
import { erase, finish, revokeAll } from './finish.ts';
import type { SuiteStores, TestDatabase } from './harness.ts';
import {
  aChoice,
  aDeletion,
  anAccount,
  anApplication,
  anEndpoint,
  anId,
  anInitiator,
  aPing,
  atOnce,
  type Granted,
  granted,
  inPortions,
} from './records.ts';

const ALL = { limit: 100, before: null };
const MOST = { most: 5 };
const DAY = 86_400_000;

interface Told {
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

export function describeEvents(stores: SuiteStores): void {
  const onEmpty = (run: (store: Store, other: Store, database: TestDatabase) => Promise<void>) =>
    stores.withFresh(async (database) => {
      const [store, other] = [
        await database.open({ recordsEvents: true }),
        await database.open({ recordsEvents: true }),
      ];
      await run(store, other, database).finally(() => Promise.all([store.close(), other.close()]));
    });

  async function endpointOf(store: Store, members: Partial<EndpointRecord> = {}) {
    const endpoint = anEndpoint(members);
    expect(await store.createEndpoint(endpoint, MOST)).toBe('created');
    return endpoint;
  }

  async function makeAll(store: Store, now = Date.now()) {
    while (await store.makeDeliveries(now)) {}
  }

  const deliveriesOf = async (store: Store, { id }: EndpointRecord, now = Date.now()) => {
    await makeAll(store, now);
    return store.listDeliveries({ endpoint_id: id }, ALL);
  };

  const told = async (store: Store, endpoint: EndpointRecord): Promise<Told[]> =>
    (await deliveriesOf(store, endpoint)).map(({ body }) => JSON.parse(body ?? 'null'));

  async function claimed(store: Store, { id }: EndpointRecord, now: number, most = 100) {
    return store.claimDeliveries({ now, claim: anId(), endpoints: [{ id, most }] });
  }

  const ended = (
    delivery: Pick<DeliveryRecord, 'id' | 'claim' | 'endpoint_id'>,
    members: Partial<EndedTry> & { result?: EndedTry['attempt']['result']; at?: number } = {},
  ): EndedTry => {
    const { result = 'delivered', at = Date.now(), ...rest } = members;
    return {
      ...{ delivery_id: delivery.id, claim: delivery.claim ?? '' },
      ...{ endpoint_id: delivery.endpoint_id, url: 'https://hooks.example/latchkey' },
      attempt: { at, duration_ms: 7, result, status_code: result === 'delivered' ? 204 : 500 },
      ...{ next_attempt_at: null, isGone: false, now: at },
      ...rest,
    };
  };

  async function ofApplication(store: Store) {
    const application = anApplication();
    await store.createApplication(application);
    return { application, application_id: application.id };
  }

  const revocationOf = ({ grant }: Granted) => ({
    grant_id: grant.grant_id,
    application_id: null,
    now: grant.created_at + 5,
    initiator: anInitiator(),
  });

  describe('an event', () => {
    test('of a grant is told to the host, its end to its application too, with the same id', () =>
      onEmpty(async (store, other) => {
        const { application_id } = await ofApplication(store);
        const host = await endpointOf(store);
        const own = await endpointOf(store, { application_id });
        const bystander = await endpointOf(store, {
          application_id: (await ofApplication(store)).application_id,
        });
        const { grant } = await granted(store, { application_id });
        const { grant_id, account, scope, resource } = grant;
        const revoked_at = grant.created_at + 5;
        const initiator = anInitiator({ by: 'user' });
        await store.revokeGrant({ grant_id, application_id: null, now: revoked_at, initiator });

        const about = {
          ...{ object: 'oauth_grant', grant_id, application_id, account_id: account.id },
          ...{ resource, document_uri: null, choice: null },
          created_at: formatTimestamp(grant.created_at),
        };
        const revocation = {
          type: 'grant.revoked',
          timestamp: formatTimestamp(revoked_at),
          data: {
            ...{ ...about, revoked: true, revoked_at: formatTimestamp(revoked_at) },
            reason: 'user',
          },
        };
        expect(await told(other, host)).toEqual([
          revocation,
          {
            type: 'grant.created',
            timestamp: about.created_at,
            data: { ...about, scope, revoked: false },
          },
        ]);
        expect(await told(other, own)).toEqual([revocation]);
        expect(await told(other, bystander)).toEqual([]);
        const event_id = grantEventId(grant_id, 'grant.revoked');
        const ofGrant = await store.listDeliveries({ grant_id }, ALL);
        expect(ofGrant.map((one) => [one.type, one.endpoint_id, one.event_id]).sort()).toEqual(
          [
            ['grant.created', host.id, grantEventId(grant_id, 'grant.created')],
            ['grant.revoked', host.id, event_id],
            ['grant.revoked', own.id, event_id],
          ].sort(),
        );
        expect(ofGrant[0]).toMatchObject({
          ...{ grant_id, account_id: account.id, status: 'pending', claim: null, tries: 0 },
          ...{ attempts: [], ended_at: null, created_at: revoked_at },
        });
        expect(await store.listDeliveries({ grant_id: anId() }, ALL)).toEqual([]);
      }));

    test('of a grant waits for two rounds at most, however many ended at once before', () =>
      onEmpty(async (store) => {
        const { application_id } = await ofApplication(store);
        const host = await endpointOf(store, { types: ['grant.revoked'] });
        for (let made = 0; made < 250; made += 50) {
          await atOnce(50, () => granted(store, { application_id }));
        }
        const later = await granted(store);
        await makeAll(store);
        const now = Date.now();
        await revokeAll(store, { application_id, now, initiator: anInitiator() });
        await store.revokeGrant({ ...revocationOf(later), now: now + 5 });
        for (let round = 0; round < 2; round++) await store.makeDeliveries(now);
        const { grant_id } = later.grant;
        expect(await store.listDeliveries({ grant_id }, ALL)).toHaveLength(1);
        await makeAll(store);
        const range = { limit: 300, before: null };
        expect(await store.listDeliveries({ endpoint_id: host.id }, range)).toHaveLength(251);
      }));

    test('of a grant says at each try what the user chose, until nothing may have it', () =>
      onEmpty(async (store, _other, database) => {
        const endpoint = await endpointOf(store);
        const choice = aChoice({ label: 'Ada’s notes' });
        const revoked = await granted(store, { choice });
        const active = await granted(store, { choice });
        const plain = await granted(store, { choice: null });
        await store.revokeGrant(revocationOf(revoked));
        await makeAll(store);
        const kept = await store.listDeliveries({ endpoint_id: endpoint.id }, ALL);
        expect(kept).toHaveLength(4);
        expect(JSON.stringify(kept)).not.toContain(choice.label);
        let now = Date.now();
        const tried = async () => {
          now += CLAIM_LASTS + 1;
          const due = await claimed(store, endpoint, now);
          return due.map(({ delivery: { type, grant_id, body } }) => [
            ...[type, grant_id, body, JSON.parse(body).data.choice],
          ]);
        };
        const chosen = async () =>
          (await tried()).map(([type, grant_id, , choice]) => [type, grant_id, choice]).sort();

        const first = await tried();
        expect(await tried()).toEqual(first);
        const ofGrants = (one: Choice | null, two: Choice | null) =>
          [
            ['grant.created', revoked.grant.grant_id, one],
            ['grant.revoked', revoked.grant.grant_id, one],
            ['grant.created', active.grant.grant_id, two],
            ['grant.created', plain.grant.grant_id, null],
          ].sort();
        expect(await chosen()).toEqual(ofGrants(choice, choice));
        await database.reduceRevoked(1, revoked.grant.created_at + 2 * DAY);
        expect(await chosen()).toEqual(ofGrants(null, choice));
        const account_id = active.grant.account.id;
        await erase(store, { account_id, now, initiator: anInitiator() });
        const after = await chosen();
        expect(after).toEqual(expect.arrayContaining(ofGrants(null, null)));
        expect(JSON.stringify(after)).not.toContain(choice.label);
      }));

    test('is recorded of every way in which a grant ends, once', () =>
      onEmpty(async (store, other) => {
        const endings: {
          [Name in EndReason]: (one: Granted & { application_id: string }) => Promise<unknown>;
        } = {
          application: (one) => store.revokeGrant(revocationOf(one)),
          user: ({ grant, application_id }) =>
            revokeAll(store, {
              ...{ account_id: grant.account.id, application_id, now: Date.now() },
              initiator: anInitiator({ by: 'user' }),
            }),
          host: ({ application_id }) =>
            revokeAll(store, {
              ...{ application_id, now: Date.now() },
              initiator: anInitiator({ by: 'operator' }),
            }),
          account_erased: ({ grant }) =>
            erase(store, {
              ...{ account_id: grant.account.id, now: Date.now(), initiator: anInitiator() },
            }),
          async application_deleted({ application_id }) {
            await store.setApplicationDisabled(application_id, true, Date.now());
            const deletion = aDeletion({ application_id });
            await store.deleteApplication(deletion);
            await finish(store, deletionWork(deletion, 0));
            await finish(store, deletionWork(deletion, 0));
          },
          idle: (one) =>
            store.revokeGrant({ ...revocationOf(one), reason: 'idle', initiator: null }),
          replaced: (one) => store.revokeGrant({ ...revocationOf(one), reason: 'replaced' }),
        };
        const host = await endpointOf(store, { types: ['grant.revoked'] });
        const told: [string, string][] = [];
        for (const [reason, end] of Object.entries(endings)) {
          const { application_id } = await ofApplication(store);
          const own = await endpointOf(store, { application_id, types: ['grant.revoked'] });
          const one = await granted(store, { application_id });
          const uninvolved = await granted(store);
          await end({ ...one, application_id });
          // Again, and too late: it has ended.
          await store.revokeGrant(revocationOf(one));
          const { grant_id } = one.grant;
          await makeAll(other);
          await makeAll(store);
          const deliveries = await store.listDeliveries({ grant_id }, ALL);
          expect(deliveries.map(({ endpoint_id }) => endpoint_id).sort()).toEqual(
            [host.id, own.id].sort(),
          );
          for (const { body } of deliveries) {
            const { data } = JSON.parse(body ?? '');
            expect(data).toMatchObject({ grant_id, account_id: one.grant.account.id });
            told.push([reason, data.reason]);
          }
          const others = await store.listDeliveries({ grant_id: uninvolved.grant.grant_id }, ALL);
          expect(others).toEqual([]);
          // A deleted application is told of it too.
          const due = await store.claimDeliveries({
            ...{ now: Date.now(), claim: anId(), endpoints: [{ id: own.id, most: 9 }] },
          });
          expect(due.map(({ delivery }) => delivery.grant_id)).toEqual([grant_id]);
        }
        expect(told).toEqual(
          Object.keys(endings).flatMap((name) => [
            [name, name],
            [name, name],
          ]),
        );
      }));

    test('of a bulk is recorded of each grant', () =>
      onEmpty(async (store, other) => {
        const { application_id } = await ofApplication(store);
        const host = await endpointOf(store, { types: ['grant.revoked'] });
        const account = anAccount();
        const grants: string[] = [];
        for (let count = 0; count < 7; count++) {
          grants.push((await granted(store, { application_id, account })).grant.grant_id);
        }
        const revocation = { application_id, now: Date.now(), initiator: anInitiator() };
        await revokeAll(store, revocation);
        const told = await deliveriesOf(other, host);
        expect(told.map(({ grant_id }) => grant_id).sort()).toEqual(grants.sort());
      }));

    test('of an account is told to those with an active grant of it, if something changed', () =>
      onEmpty(async (store, other) => {
        const [linked, former] = [await ofApplication(store), await ofApplication(store)];
        const host = await endpointOf(store, { types: ['account.updated'] });
        const own = await endpointOf(store, { application_id: linked.application_id });
        const left = await endpointOf(store, { application_id: former.application_id });
        const account = anAccount({ username: 'ada' });
        await store.putAccount(account);
        await store.putAccount({ ...account, external_id: 'u-1' });
        await granted(store, { application_id: linked.application_id, account });
        await store.revokeGrant(
          revocationOf(await granted(store, { application_id: former.application_id, account })),
        );
        await store.putAccount(account);
        expect(await told(other, host)).toEqual([]);
        await store.putAccount({ ...account, username: 'ada2' });
        await store.putAccount({ ...account, username: 'ada3', external_id: 'u-2' });

        const [heard, ...others] = await told(other, host);
        expect(heard?.data).toEqual({ object: 'service_account', ...account, username: 'ada3' });
        // What is not told yet is one event.
        expect(others).toEqual([]);
        expect(await told(other, own)).toContainEqual(heard);
        expect((await told(other, left)).map(({ type }) => type)).toEqual(['grant.revoked']);
        // Events of one millisecond have no order.
        await sleep(2);
        await store.putAccount({ ...account, username: 'ada4' });
        const [newest, before] = await told(other, host);
        expect([newest?.data.username, before?.data.username]).toEqual(['ada4', 'ada3']);
      }));

    test('of an account that is erased is told to nobody, also once it is put again', () =>
      onEmpty(async (store, other) => {
        const host = await endpointOf(store, { types: ['account.updated'] });
        const account = anAccount();
        await store.putAccount(account);
        await store.putAccount({ ...account, username: 'ada2' });
        await erase(other, {
          ...{ account_id: account.id, now: Date.now(), initiator: anInitiator() },
        });
        await store.putAccount({ ...account, username: 'ada3' });
        expect(await told(store, host)).toEqual([]);
        await store.putAccount({ ...account, username: 'ada4' });
        await erase(other, {
          ...{ account_id: account.id, now: Date.now(), initiator: anInitiator() },
        });
        await store.putAccount({ ...account, username: 'ada5' });
        // Whichever of the two is read last.
        await store.putAccount({ ...account, username: 'ada6' });
        expect((await told(store, host)).map(({ data }) => data.username)).toEqual(['ada6']);
      }));

    test('of an application that is disabled or enabled is told to it, if that changed something', () =>
      onEmpty(async (store, other) => {
        const { application, application_id } = await ofApplication(store);
        const own = await endpointOf(store, { application_id });
        for (const disabled of [false, true, true, false]) {
          await store.setApplicationDisabled(application_id, disabled, Date.now());
        }
        const data = { object: 'application', id: application_id, name: application.name };
        const heard = await told(other, own);
        expect(heard.map(({ type, data }) => [type, data])).toEqual(
          expect.arrayContaining([
            ['application.enabled', { ...data, disabled: false }],
            ['application.disabled', { ...data, disabled: true }],
          ]),
        );
        expect(heard).toHaveLength(2);
      }));

    test('is told to who was there when it happened, and wanted it', () =>
      onEmpty(async (store, other) => {
        const before = await granted(store);
        const host = await endpointOf(other, { types: ['grant.created'] });
        const after = await granted(store);
        await store.revokeGrant(revocationOf(before));
        await other.updateEndpoint(host.id, { types: ['grant.revoked'] });
        await granted(store);
        await store.revokeGrant(revocationOf(after));
        await other.updateEndpoint(host.id, { disabled_reason: 'operator' });
        await granted(store);
        await other.updateEndpoint(host.id, { disabled_reason: null, types: null });
        const told = await deliveriesOf(store, host);
        const { grant_id } = after.grant;
        expect(told.map((one) => [one.type, one.grant_id]).sort()).toEqual([
          ['grant.created', grant_id],
          ['grant.revoked', grant_id],
        ]);
      }));

    test('is no event without EVENTS_KEY', () =>
      onEmpty(async (store, _other, database) => {
        const host = await endpointOf(store);
        const silent = await database.open();
        const one = await granted(silent);
        await silent.revokeGrant(revocationOf(one));
        await silent.putAccount({ ...one.grant.account, username: 'ada2' });
        await silent.close();
        expect(await told(store, host)).toEqual([]);
      }));

    test('has all of a grant that is reduced next', () =>
      onEmpty(async (store, _other, database) => {
        const host = await endpointOf(store, { types: ['grant.revoked'] });
        const one = await granted(store);
        const { grant_id, account, resource, application_id } = one.grant;
        await store.revokeGrant({ ...revocationOf(one), now: Date.now() - 2 * DAY });
        await database.reduceRevoked(1, Date.now());
        const [heard] = await told(store, host);
        expect(heard?.data).toMatchObject({
          ...{ grant_id, account_id: account.id, resource, reason: 'application', application_id },
        });
      }));

    interface About {
      application: ApplicationRecord;
      grant: GrantRecord;
      at: number;
    }
    const toldGrant = ({ account, ...grant }: GrantRecord) => ({
      ...{ ...grant, account_id: account.id, document_uri: null },
    });
    const initiator = anInitiator();
    // What an event is of, and what is told of it.
    const happenings: {
      [Type in EventType]: (store: Store, about: About) => Promise<Pick<Event, 'body'>>;
    } = {
      'grant.created': async (_, { grant }) => grantCreated(toldGrant(grant)),
      async 'grant.revoked'(store, { grant, at }) {
        const { grant_id } = grant;
        await store.revokeGrant({ grant_id, application_id: null, now: at, initiator });
        return grantRevoked({ ...toldGrant(grant), revoked_at: at, reason: 'application' });
      },
      async 'account.updated'(store, { grant }) {
        const account = { ...grant.account, username: 'ada2' };
        await store.putAccount(account);
        return accountUpdated({ id: '', at: 0 }, account);
      },
      async 'application.disabled'(store, { application: { id, name }, at }) {
        await store.setApplicationDisabled(id, true, at);
        return applicationChanged({ id: '', at }, { id, name: name as string, disabled: true });
      },
      async 'application.enabled'(store, { application: { id, name }, at }) {
        await store.setApplicationDisabled(id, true, at - 1);
        await store.setApplicationDisabled(id, false, at);
        return applicationChanged({ id: '', at }, { id, name: name as string, disabled: false });
      },
    };
    // What the next change can remove, or change.
    const changes: { [change: string]: (store: Store, about: About) => Promise<unknown> } = {
      'no change': async () => {},
      'a new name of the application': (store, { application }) =>
        store.updateApplication(application.id, { name: 'Renamed' }),
      async 'the deletion of the application'(store, { application, at }) {
        const deletion = aDeletion({ application_id: application.id });
        await store.setApplicationDisabled(application.id, true, at + 1);
        expect(await store.deleteApplication(deletion)).toMatchObject({ id: application.id });
        await finish(store, deletionWork(deletion, application.revocations));
      },
      'the disabling of the application': (store, { application, at }) =>
        store.setApplicationDisabled(application.id, true, at + 1),
      'the enabling of the application': (store, { application, at }) =>
        store.setApplicationDisabled(application.id, false, at + 1),
      'the end of the grant': (store, { grant, at }) =>
        store.revokeGrant({
          ...{ grant_id: grant.grant_id, application_id: null, now: at + 1, initiator },
        }),
      'another id of the account at the host': (store, { grant }) =>
        store
          .findAccount(grant.account.id)
          .then((account) =>
            store.putAccount({ ...(account ?? grant.account), external_id: 'u-9' }),
          ),
      'the erasure of the account': (store, { grant, at }) =>
        erase(store, { account_id: grant.account.id, now: at + 1, initiator }),
    };
    test.each(
      Object.keys(happenings).flatMap((type) =>
        Object.keys(changes)
          // Its names must not be told any more.
          .filter((change) => type !== 'account.updated' || !change.startsWith('the erasure'))
          .map((change) => [type as EventType, change] as const),
      ),
    )('%s is told as it was, whatever comes behind it: %s', (type, change) =>
      onEmpty(async (store, other) => {
        const host = await endpointOf(store, { types: [type] });
        const { application, application_id } = await ofApplication(store);
        const { grant } = await granted(store, { application_id });
        const about = { application, grant, at: grant.created_at + 5 };
        const { body } = await happenings[type](store, about);
        await changes[change]?.(store, about);
        const wanted = JSON.parse(body);
        // The store has its own time for it.
        if (type === 'account.updated') wanted.timestamp = expect.any(String);
        expect((await told(other, host)).at(-1)).toEqual(wanted);
      }),
    );

    test('becomes one delivery an endpoint, however many processes make it', () =>
      onEmpty(async (store, other) => {
        const host = await endpointOf(store, { types: ['grant.created'] });
        for (let round = 0; round < 5; round++) {
          await granted(store);
          await atOnce(4, (index) => makeAll(index % 2 === 0 ? store : other));
        }
        expect(await deliveriesOf(store, host)).toHaveLength(5);
        expect(await store.countEvents(100)).toMatchObject({ pending: 5, failing_endpoints: 0 });
      }));
  });

  describe('a delivery', () => {
    async function withDeliveries(store: Store, count: number) {
      const host = await endpointOf(store, { types: ['grant.created'] });
      for (let made = 0; made < count; made++) await granted(store);
      await makeAll(store);
      return host;
    }

    test('is claimed by one process, for a minute', () =>
      onEmpty(async (store, other) => {
        const host = await withDeliveries(store, 6);
        const now = Date.now() + 5;
        expect(await other.listDueEndpoints({ now, except: [] })).toEqual([
          { id: host.id, application_id: null, standing: 'new' },
        ]);
        expect(await other.listDueEndpoints({ now, except: [host.id] })).toEqual([]);
        const claims = await atOnce(6, (index) =>
          claimed(index % 2 === 0 ? store : other, host, now, 2),
        );
        const ids = claims.flat().map(({ delivery }) => delivery.id);
        expect(new Set(ids).size).toBe(6);
        expect(ids).toHaveLength(6);
        expect(claims.flat()[0]?.endpoint).toMatchObject({ id: host.id, secret_version: 1 });
        expect(await claimed(other, host, now + CLAIM_LASTS - 1)).toEqual([]);
        expect(await store.listDueEndpoints({ now: now + CLAIM_LASTS - 1, except: [] })).toEqual(
          [],
        );
        // Its process was killed.
        const later = await claimed(other, host, now + CLAIM_LASTS);
        expect(later.map(({ delivery }) => delivery.id).sort()).toEqual(ids.sort());
        // A process that stalled changes nothing of the delivery any more.
        const [lost] = claims.flat();
        if (lost) await store.endTries([ended(lost.delivery)]);
        expect(await store.findDelivery(lost?.delivery.id ?? '')).toMatchObject({
          ...{ status: 'pending', tries: 0 },
        });
        if (lost) await store.releaseDeliveries(lost.delivery.claim ?? '', [lost.delivery.id], now);
        expect(await claimed(store, host, now + CLAIM_LASTS + 1)).toEqual([]);
      }));

    test('is claimed with no more of its endpoint than the caller has room for', () =>
      onEmpty(async (store) => {
        const endpoint = await endpointOf(store);
        for (let nth = 0; nth < 5; nth++) await granted(store);
        await makeAll(store);
        const now = Date.now() + 5;
        const parts = [];
        for (let part = 0; part < 4; part++) parts.push(await claimed(store, endpoint, now, 2));
        expect(parts.map(({ length }) => length)).toEqual([2, 2, 1, 0]);
        expect(new Set(parts.flat().map(({ delivery }) => delivery.id)).size).toBe(5);
      }));

    test('ends as its try says, and is kept for 30 days', () =>
      onEmpty(async (store, other, database) => {
        const host = await withDeliveries(store, 3);
        const now = Date.now() + 5;
        const [first, second, third] = await claimed(store, host, now);
        if (!first || !second || !third) throw new Error('Three deliveries are due.');
        await other.releaseDeliveries(third.delivery.claim, [third.delivery.id], now + 1);
        const disabled = await store.endTries([
          ended(first.delivery, { at: now, now: now + 7 }),
          ended(second.delivery, { at: now, result: 'refused', next_attempt_at: now + 5_000 }),
        ]);
        expect(disabled).toEqual([]);
        const attempt = { at: now, duration_ms: 7, result: 'delivered', status_code: 204 };
        expect(await other.findDelivery(first.delivery.id)).toMatchObject({
          ...{ status: 'delivered', due_at: null, claim: null, attempts: [attempt], tries: 1 },
          ended_at: now + 7,
        });
        const failed = { ...attempt, result: 'refused', status_code: 500 };
        expect(await other.findDelivery(second.delivery.id)).toMatchObject({
          ...{ status: 'pending', due_at: now + 5_000, claim: null, attempts: [failed], tries: 1 },
        });
        expect(await other.findDelivery(third.delivery.id)).toMatchObject({
          ...{ status: 'pending', due_at: now + 1, claim: null, attempts: [], tries: 0 },
        });
        expect(await other.findEndpoint(host.id)).toMatchObject({
          ...{ last_success_at: now, failing_since: now },
        });
        const list = (status?: DeliveryRecord['status']) =>
          other
            .listDeliveries({ endpoint_id: host.id, status }, ALL)
            .then((found) => found.map(({ id }) => id));
        expect(await list('delivered')).toEqual([first.delivery.id]);
        expect(await list('failed')).toEqual([]);
        const all = await list();
        expect(all).toEqual(
          [first, second, third]
            .map(({ delivery }) => delivery.id)
            .sort()
            .reverse(),
        );
        expect(
          await other.listDeliveries({ endpoint_id: host.id }, { limit: 1, before: all[0] ?? '' }),
        ).toMatchObject([{ id: all[1] }]);
        await database.sweep(now + 7 + DELIVERIES_KEPT - 1);
        expect(await store.findDelivery(first.delivery.id)).not.toBeNull();
      }));

    test('keeps the last ten attempts', () =>
      onEmpty(async (store) => {
        const host = await withDeliveries(store, 1);
        const now = Date.now() + 5;
        for (let tries = 0; tries < 12; tries++) {
          const at = now + tries;
          const [due] = await claimed(store, host, at);
          if (!due) throw new Error('A delivery is due.');
          await store.endTries([
            ended(due.delivery, { at, result: 'refused', next_attempt_at: at + 1 }),
          ]);
        }
        const [delivery] = await deliveriesOf(store, host);
        expect(delivery?.tries).toBe(12);
        expect(delivery?.attempts.map(({ at }) => at - now)).toEqual([
          2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
        ]);
      }));

    test('of a failing endpoint ends it after five days and five tries, or at once if it is gone', () =>
      onEmpty(async (store, other) => {
        const host = await withDeliveries(store, 9);
        const now = Date.now() + 5;
        const due = await claimed(store, host, now);
        const fail = (index: number, at: number, members: Parameters<typeof ended>[1] = {}) => {
          const delivery = due[index]?.delivery;
          if (!delivery) throw new Error('Nine deliveries are due.');
          return other.endTries([
            ended(delivery, { at, result: 'refused', next_attempt_at: at + 1_000, ...members }),
          ]);
        };
        expect(await fail(0, now, { isGone: true, url: 'https://hooks.example/before' })).toEqual(
          [],
        );
        expect(await fail(1, now + 5 * DAY)).toEqual([]);
        expect(await fail(2, now + 5 * DAY)).toEqual([]);
        expect(await fail(3, now + 5 * DAY)).toEqual([]);
        expect(await store.findEndpoint(host.id)).toMatchObject({ failing_since: now });
        expect(await store.countEvents(100)).toMatchObject({ failing_endpoints: 1 });
        const failing = { disabled_reason: 'failing', failing_since: now };
        expect(await fail(4, now + 5 * DAY)).toMatchObject([failing]);
        expect(await store.findEndpoint(host.id)).toMatchObject(failing);
        const ofHost = await store.listDeliveries({ endpoint_id: host.id }, ALL);
        expect(new Set(ofHost.map(({ status }) => status))).toEqual(new Set(['dropped']));
        expect(await store.listDueEndpoints({ now: now + 9 * DAY, except: [] })).toEqual([]);

        expect(await store.updateEndpoint(host.id, { disabled_reason: null })).toMatchObject({
          ...{ disabled_reason: null, failing_since: null, failures: 0 },
        });
        await fail(6, now);
        await fail(7, now + 1, { result: 'delivered', next_attempt_at: null });
        expect(await store.findEndpoint(host.id)).toMatchObject({
          ...{ last_success_at: now + 1, failing_since: null, failures: 0 },
        });
        expect(await fail(5, now, { isGone: true })).toMatchObject([{ disabled_reason: 'gone' }]);
      }));

    test('is dropped with its endpoint, and replayed or tried again on request', () =>
      onEmpty(async (store, other) => {
        const beside = await endpointOf(store, { types: ['grant.created'] });
        const host = await withDeliveries(store, 3);
        // It was enabled, so nothing was pending when it was disabled.
        await other.updateEndpoint(host.id, { disabled_reason: null });
        const now = Date.now() + 5;
        const [first] = await claimed(store, host, now, 1);
        if (!first) throw new Error('A delivery is due.');
        expect(await other.retryDelivery(first.delivery.id, now)).toBeNull();
        await other.updateEndpoint(host.id, { disabled_reason: 'operator' });
        expect(await claimed(store, host, now + CLAIM_LASTS)).toEqual([]);
        const dropped = await store.listDeliveries(
          { endpoint_id: host.id, status: 'dropped' },
          ALL,
        );
        expect(dropped).toHaveLength(3);
        expect(dropped[0]).toMatchObject({ due_at: null, claim: null });
        await store.endTries([ended(first.delivery)]);
        expect(await store.findDelivery(first.delivery.id)).toMatchObject({ status: 'dropped' });
        await other.updateEndpoint(host.id, { disabled_reason: null });
        const replay = { endpoint_id: host.id, since: dropped[0]?.ended_at ?? 0, now };
        const ofOther = await endpointOf(store);
        expect(await other.replayDeliveries({ ...replay, endpoint_id: ofOther.id, limit: 2 })).toBe(
          0,
        );
        expect(await other.replayDeliveries({ ...replay, since: Date.now() + DAY, limit: 2 })).toBe(
          0,
        );
        expect(await other.replayDeliveries({ ...replay, since: 0, limit: 2 })).toBe(2);
        expect(await other.replayDeliveries({ ...replay, since: 0, limit: 2 })).toBe(1);
        expect(await other.replayDeliveries({ ...replay, since: 0, limit: 2 })).toBe(0);
        const again = await claimed(store, host, now);
        expect(again.map(({ delivery }) => delivery.id).sort()).toEqual(
          dropped.map(({ id }) => id).sort(),
        );
        const [one] = again;
        if (!one) throw new Error('A delivery is due.');
        await store.endTries([ended(one.delivery)]);
        expect(await other.retryDelivery(one.delivery.id, now + 9)).toMatchObject({
          ...{ status: 'pending', due_at: now + 9, tries: 0, claim: null, ended_at: null },
          body: dropped.find(({ id }) => id === one.delivery.id)?.body,
        });
        expect(await other.retryDelivery(anId(), now)).toBeNull();
        await store.deleteEndpoint(host.id, now + 10);
        expect(await store.findDelivery(one.delivery.id)).toMatchObject({
          ...{ status: 'dropped', ended_at: now + 10 },
        });
        expect(await claimed(store, host, now + CLAIM_LASTS)).toEqual([]);
        const ofHost = await store.listDeliveries({ endpoint_id: host.id }, ALL);
        expect(ofHost.map(({ status }) => status)).toEqual(['dropped', 'dropped', 'dropped']);
        expect(await claimed(store, beside, now + CLAIM_LASTS)).toHaveLength(3);
      }));

    test('that waits for a later try is due now on request, and one under way stays with its try', () =>
      onEmpty(async (store, other) => {
        const host = await withDeliveries(store, 3);
        const now = Date.now() + 5;
        const [first, second, third] = await claimed(store, host, now);
        if (!first || !second || !third) throw new Error('Three deliveries are due.');
        const wait = ({ delivery }: ClaimedDelivery) =>
          ended(delivery, { at: now, result: 'refused', next_attempt_at: now + DAY });
        await store.endTries([wait(first), wait(second)]);
        const ping = aPing({ endpoint_id: host.id, due_at: now + DAY });
        expect(await store.createPing(ping)).not.toBeNull();
        await store.releaseDeliveries(ping.claim, [ping.id], now + DAY);

        const begun = { status: 'pending', claim: null, tries: 0 };
        expect(await other.retryDelivery(third.delivery.id, now + 1)).toBeNull();
        const retried = await other.retryDelivery(first.delivery.id, now + 1);
        expect(retried).toMatchObject({ ...begun, due_at: now + 1, attempts: [{ at: now }] });
        expect(await store.findDelivery(first.delivery.id)).toEqual(retried);
        expect(await other.retryDelivery(first.delivery.id, now + 1)).toBeNull();
        const replay = { endpoint_id: host.id, since: now + DAY, now: now + 2, limit: 9 };
        expect(await other.replayDeliveries(replay)).toBe(1);
        expect(await store.findDelivery(second.delivery.id)).toMatchObject({
          ...{ ...begun, due_at: now + 2 },
        });
        expect(await other.replayDeliveries(replay)).toBe(0);
        const due = await claimed(other, host, now + 2);
        expect(due.map(({ delivery }) => delivery.id).sort()).toEqual(
          [first.delivery.id, second.delivery.id].sort(),
        );

        await store.endTries(due.map(wait));
        await store.endTries([ended(third.delivery, { isGone: true, result: 'refused' })]);
        for (const { delivery } of due) {
          expect(await other.retryDelivery(delivery.id, now + 9)).toBeNull();
        }
        expect(await other.replayDeliveries({ ...replay, since: 0 })).toBe(0);
      }));

    test('that is claimed while it begins anew stays with its try', () =>
      onEmpty(async (store, other) => {
        const host = await withDeliveries(store, 2);
        const now = Date.now() + 5;
        const waiting = await claimed(store, host, now);
        const refused = { at: now, result: 'refused', next_attempt_at: now + 1_000 } as const;
        await store.endTries(waiting.map(({ delivery }) => ended(delivery, refused)));
        const ids = waiting.map(({ delivery }) => delivery.id);
        const [claims] = await Promise.all([
          claimed(other, host, now + 1_000),
          store.retryDelivery(ids[0] ?? '', now),
          store.replayDeliveries({ endpoint_id: host.id, since: 0, now, limit: 9 }),
        ]);
        const again = await claimed(store, host, now + 1_001);
        expect([...claims, ...again].map(({ delivery }) => delivery.id).sort()).toEqual(ids.sort());
      }));

    test('is not said to be as it was by a replay that has begun some anew', () =>
      onEmpty(async (store) => {
        const endpoint = await endpointOf(store, { types: ['grant.created'] });
        await inPortions(300, async () => void (await granted(store)));
        await makeAll(store);
        const waiting = Date.now() + DAY;
        async function fail() {
          const end = { result: 'refused', next_attempt_at: waiting } as const;
          for (let due: ClaimedDelivery[] | null = null; due?.length !== 0; ) {
            due = await claimed(store, endpoint, Date.now() + 5, 300);
            await store.endTries(due.map(({ delivery }) => ended(delivery, end)));
          }
        }
        await fail();
        const of = { endpoint_id: endpoint.id, since: 0, limit: 300 };
        // Until it has time enough, the deadline is at another place of it each time. A write of a
        // replay before may come late, so each has a moment of its own, before those of the others.
        for (let time = 1, now = Date.now(), isDone = false; !isDone; time *= 1.2, now -= 1) {
          const result = await inRequest(() => store.replayDeliveries({ ...of, now }), {
            endsAt: performance.now() + time,
          }).catch((error) => DomainError.from(error).code);
          isDone = result === 300;
          const [first] = await store.listDueEndpoints({ now, except: [] });
          if (result === 'store_unavailable') expect(first).toBeUndefined();
          else await fail();
        }
      }));

    test('to a disabled application is dropped, but that of an end and of the disabling', () =>
      onEmpty(async (store, other) => {
        const { application_id } = await ofApplication(store);
        const own = await endpointOf(store, { application_id });
        const host = await endpointOf(store, { types: ['account.updated'] });
        const one = await granted(store, { application_id });
        const { account } = one.grant;
        await store.putAccount({ ...account, username: 'ada2' });
        await makeAll(store);
        await store.putAccount({ ...account, username: 'ada3' });
        await store.setApplicationDisabled(application_id, true, Date.now());
        await store.revokeGrant(revocationOf(one));
        await makeAll(other);
        await store.setApplicationDisabled(application_id, false, Date.now());
        await makeAll(other);
        const due = await claimed(other, own, Date.now() + 5);
        const types = due.map(({ delivery }) => delivery.type).sort();
        expect(types).toEqual(['application.disabled', 'application.enabled', 'grant.revoked']);
        expect(await claimed(other, host, Date.now() + 5)).toHaveLength(2);
      }));

    test('that begins anew is not dropped by an earlier disabling of its application', () =>
      onEmpty(async (store, other) => {
        const { application_id } = await ofApplication(store);
        const own = await endpointOf(store, { application_id, types: ['account.updated'] });
        // A grant from before the message: for a later one, the disabling would be told before the replay.
        const code_expires_at = Date.now() + 1_000;
        const { account } = (await granted(store, { application_id, code_expires_at })).grant;
        await store.putAccount({ ...account, username: 'ada2' });
        await makeAll(store);
        const now = Date.now() + 5;
        const [due] = await claimed(store, own, now);
        if (!due) throw new Error('A delivery is due.');
        const { delivery } = due;
        await store.endTries([ended(delivery, { at: now, result: 'refused' })]);
        for (const disabled of [true, false]) {
          await store.setApplicationDisabled(application_id, disabled, now);
        }
        const replay = { endpoint_id: own.id, since: 0, now, limit: 9 };
        expect(await other.replayDeliveries(replay)).toBe(1);
        await makeAll(other);
        expect(await store.findDelivery(delivery.id)).toMatchObject({ status: 'pending' });
      }));

    test('of what happened after a disabling of its application is not dropped by that', () =>
      onEmpty(async (store, other) => {
        const { application_id } = await ofApplication(store);
        const own = await endpointOf(store, { application_id, types: ['account.updated'] });
        const { account } = (await granted(store, { application_id })).grant;
        for (const disabled of [true, false]) {
          await store.setApplicationDisabled(application_id, disabled, Date.now());
        }
        await sleep(2);
        await store.putAccount({ ...account, username: 'ada2' });
        await makeAll(other);
        expect(await claimed(store, own, Date.now() + 5)).toHaveLength(1);
      }));

    /** Told, and to be told, of an account that it has a grant of. */
    async function withNames(store: Store, members: Partial<ApplicationRecord> = {}) {
      const application = anApplication(members);
      await store.createApplication(application);
      const application_id = application.id;
      const types: EventType[] = ['account.updated'];
      const own = await endpointOf(store, { application_id, types });
      const host = await endpointOf(store, { types });
      const { grant } = await granted(store, { application_id });
      const account = { ...grant.account, username: 'secret-2' };
      await store.putAccount({ ...account, username: 'secret-1' });
      await makeAll(store);
      const [first] = await claimed(store, own, Date.now() + 5);
      if (!first) throw new Error('A delivery is due.');
      await store.endTries([ended(first.delivery)]);
      await sleep(2);
      await store.putAccount(account);
      await makeAll(store);
      const [second] = await claimed(store, own, Date.now() + 5);
      if (!second) throw new Error('A delivery is due.');
      const refused = {
        at: Date.now(),
        result: 'refused',
        next_attempt_at: Date.now() + DAY / 2,
      } as const;
      await store.endTries([ended(second.delivery, refused)]);
      const left = async () =>
        (await store.listDeliveries({ endpoint_id: own.id }, ALL))
          .map(({ status, body }) => [status, body])
          .sort();
      const ids = [first.delivery.id, second.delivery.id] as const;
      const disconnect = () =>
        revokeAll(store, {
          ...{ account_id: account.id, application_id, now: Date.now() },
          initiator: anInitiator({ by: 'user' }),
        });
      return { own, host, application_id, account, ids, left, disconnect };
    }
    const GONE = [
      ['delivered', null],
      ['dropped', null],
    ];

    test('has no names for an application whose last grant has ended, when it is claimed', () =>
      onEmpty(async (store, other) => {
        const { own, host, left, disconnect } = await withNames(store);
        await disconnect();
        expect(await claimed(other, own, Date.now() + DAY)).toEqual([]);
        expect((await left())[1]).toEqual(GONE[1]);
        await makeAll(store);
        expect(await left()).toEqual(GONE);
        expect(await claimed(other, host, Date.now() + DAY)).toHaveLength(2);
      }));

    test('keeps the names of what happened after that end, and for other applications', () =>
      onEmpty(async (store, other) => {
        const types: EventType[] = ['account.updated'];
        const account = anAccount();
        const ends: { application_id: string; endpoint: EndpointRecord; grant_id: string }[] = [];
        for (let count = 0; count < 2; count++) {
          const { application_id } = await ofApplication(store);
          const endpoint = await endpointOf(store, { application_id, types });
          const { grant } = await granted(store, { application_id, account });
          ends.push({ application_id, endpoint, grant_id: grant.grant_id });
        }
        const [own, bystander] = ends as [(typeof ends)[0], (typeof ends)[0]];
        for (const username of ['first', 'second', 'third']) {
          await store.putAccount({ ...account, username });
          await makeAll(store);
          for (const { endpoint } of username === 'third' ? [] : ends) {
            const tried = await claimed(store, endpoint, Date.now() + 5);
            await store.endTries(tried.map(({ delivery }) => ended(delivery)));
          }
          await sleep(2);
        }
        const told = async ({ endpoint }: typeof own) =>
          (await deliveriesOf(other, endpoint)).map(({ body, status }) => [
            status,
            body?.match(/first|second|third/)?.[0],
          ]);
        const all = [
          ['pending', 'third'],
          ['delivered', 'second'],
          ['delivered', 'first'],
        ];
        expect(await told(own)).toEqual(all);

        const oldest = (await deliveriesOf(store, own.endpoint)).at(-1);
        const { grant_id, application_id } = own;
        await granted(store, { application_id, account: { ...account, username: 'third' } });
        const revocation = { grant_id, application_id, initiator: anInitiator() };
        await store.revokeGrant({ ...revocation, now: oldest?.created_at ?? 0 });
        expect(await told(own)).toEqual([...all.slice(0, 2), ['delivered', undefined]]);
        expect(await told(bystander)).toEqual(all);
      }));

    test('keeps the names of an account when another one disconnects, and is erased', () =>
      onEmpty(async (store, other) => {
        const { application_id } = await ofApplication(store);
        const endpoint = await endpointOf(store, { application_id, types: ['account.updated'] });
        const { account } = (await granted(store, { application_id })).grant;
        await store.putAccount({ ...account, username: 'told' });
        await makeAll(store);
        const [one] = await claimed(store, endpoint, Date.now() + 5);
        if (!one) throw new Error('A delivery is due.');
        await store.endTries([ended(one.delivery)]);
        await store.putAccount({ ...account, username: 'waits' });
        const left = async () =>
          (await deliveriesOf(other, endpoint))
            .filter(({ account_id }) => account_id === account.id)
            .map(({ status, body }) => [status, body?.match(/told|waits/)?.[0]])
            .sort();
        const kept = [
          ['delivered', 'told'],
          ['pending', 'waits'],
        ];
        const { grant } = await granted(store, { application_id });
        // As often as the other one was put.
        for (const username of ['2', '3']) await store.putAccount({ ...grant.account, username });
        expect(await left()).toEqual(kept);

        const now = Date.now();
        const initiator = anInitiator();
        await store.revokeGrant({ grant_id: grant.grant_id, application_id, now, initiator });
        expect(await left()).toEqual(kept);
        await erase(store, { account_id: grant.account.id, now, initiator });
        expect(await left()).toEqual(kept);
      }));

    test('has no names for it from a mark on, before anything of that is written down', () =>
      onEmpty(async (store, other) => {
        const { own, left, application_id, account } = await withNames(store);
        const mark = { account_id: account.id, now: Date.now(), initiator: anInitiator() };
        await store.markRevocation({ ...mark, application_id });
        // A new grant brings none back.
        await sleep(2);
        await granted(other, { application_id, account });
        expect(await claimed(other, own, Date.now() + DAY)).toEqual([]);
        expect((await left()).map(([status]) => status)).toEqual(['delivered', 'dropped']);
      }));

    test('has no names for it soon after, and a new grant brings none back', () =>
      onEmpty(async (store, other, database) => {
        const { own, application_id, account, ids, left, disconnect } = await withNames(store);
        const another = await granted(store, { application_id, account });
        await sleep(10);
        await store.revokeGrant(revocationOf(another));
        await makeAll(other);
        expect((await left()).map(([status]) => status)).toEqual(['delivered', 'pending']);
        expect(JSON.stringify(await left())).toContain('secret-1');

        await disconnect();
        await sleep(2);
        await granted(store, { application_id, account });
        await makeAll(other);
        expect(await left()).toEqual(GONE);
        // Else who looks for names would read it for 30 days: each part of a long work all that was done before.
        for (const id of ids) {
          expect(await database.membersOf('deliveries', id)).not.toContain('names_of');
        }
        for (const id of ids) expect(await store.retryDelivery(id, Date.now() + DAY)).toBeNull();
        const replay = { endpoint_id: own.id, since: 0, now: Date.now(), limit: 9 };
        expect(await store.replayDeliveries(replay)).toBe(0);
        await store.putAccount({ ...account, username: 'ada' });
        await makeAll(other);
        expect(await claimed(store, own, Date.now() + 5)).toHaveLength(1);
      }));

    test('has no names for it where the grant is reduced before its end is told', () =>
      onEmpty(async (store, other, database) => {
        const { application_id, account, left, disconnect } = await withNames(store);
        await disconnect();
        await database.reduceRevoked(1, Date.now() + 2 * DAY);
        await granted(store, { application_id, account });
        await makeAll(other);
        expect(await left()).toEqual(GONE);
      }));

    test.each([
      [
        'a claim',
        async (store: Store, id: string) =>
          (await claimed(store, { id } as EndpointRecord, Date.now() + DAY)).at(0) ?? null,
      ],
      ['a retry', (store: Store, _: string, id: string) => store.retryDelivery(id, Date.now())],
      [
        'a replay',
        async (store: Store, endpoint_id: string) =>
          (await store.replayDeliveries({ endpoint_id, since: 0, now: Date.now(), limit: 1 })) ||
          null,
      ],
    ])('has no names after %s for an application without a grant', (_, again) =>
      onEmpty(async (store, other) => {
        const { own, ids, left, application_id, account, disconnect } = await withNames(store);
        await disconnect();
        await sleep(2);
        await granted(store, { application_id, account });
        expect(await again(other, own.id, ids[1])).toBeNull();
        expect(await left()).toEqual(GONE);
      }),
    );

    test('is not made, and has no names, for an application all of whose grants are idle', () =>
      onEmpty(async (store, other) => {
        const { own, host, account, ids, left } = await withNames(store, { idle_days: 1 });
        const later = Date.now() + 3 * DAY;
        await store.putAccount({ ...account, username: 'secret-3' });
        await makeAll(other, later);
        expect(await left()).toHaveLength(2);
        expect(await store.listDeliveries({ endpoint_id: host.id }, ALL)).toHaveLength(3);
        expect(await store.retryDelivery(ids[0], later)).toBeNull();
        expect((await left())[0]).toEqual(['delivered', null]);
        expect(await claimed(other, own, later)).toEqual([]);
        expect(await left()).toEqual(GONE);
      }));

    test('has no names in any race of its making with the end of the last grant', () =>
      onEmpty(async (store, other) => {
        const { own, application_id } = await withNames(store);
        for (let round = 0; round < 12; round++) {
          const { grant } = await granted(store, { application_id });
          await store.putAccount({ ...grant.account, username: `secret-of-${round}` });
          await Promise.all([
            makeAll(other),
            makeAll(store),
            store.revokeGrant({ ...revocationOf({ grant } as Granted), now: Date.now() }),
          ]);
        }
        await makeAll(store);
        // What was made after an end that its process has not seen is dropped at its claim.
        expect(await claimed(other, own, Date.now() + 5)).toEqual([]);
        const found = await store.listDeliveries({ endpoint_id: own.id }, ALL);
        expect(JSON.stringify(found)).not.toContain('secret-of');
        expect(found.filter(({ status }) => status === 'pending')).toHaveLength(1);
      }));

    test('has no names of an erased account, and none is made', () =>
      onEmpty(async (store, other) => {
        const host = await endpointOf(store, { types: ['account.updated'] });
        const account = anAccount();
        await store.putAccount(account);
        for (const username of ['ada2', 'ada3']) {
          await store.putAccount({ ...account, username });
          await makeAll(store);
        }
        const [first] = await claimed(store, host, Date.now() + 5, 1);
        if (!first) throw new Error('A delivery is due.');
        await store.endTries([ended(first.delivery)]);
        await store.putAccount({ ...account, username: 'ada4' });
        await erase(other, {
          ...{ account_id: account.id, now: Date.now(), initiator: anInitiator() },
        });
        const left = await deliveriesOf(store, host);
        expect(left.map(({ status, body }) => [status, body]).sort()).toEqual([
          ['delivered', null],
          ['dropped', null],
        ]);
        expect(await other.retryDelivery(first.delivery.id, Date.now())).toBeNull();
        const since = { since: 0, now: Date.now(), limit: 9 };
        expect(await other.replayDeliveries({ endpoint_id: host.id, ...since })).toBe(0);
        // Nor of the one that is put under its id.
        await store.putAccount(account);
        expect(await other.retryDelivery(first.delivery.id, Date.now())).toBeNull();
      }));

    test('of an account that was put again keeps its names at a late step of the erasure', () =>
      onEmpty(async (store, other) => {
        const host = await endpointOf(store, { types: ['account.updated'] });
        const account = anAccount();
        await store.putAccount(account);
        const erasure = { account_id: account.id, now: Date.now(), initiator: anInitiator() };
        const work = await store.markErasure(erasure);
        await finish(store, work);
        await store.putAccount(account);
        await store.putAccount({ ...account, username: 'ada2' });
        await makeAll(store);
        const tried = await claimed(store, host, Date.now() + 5);
        await store.endTries(tried.map(({ delivery }) => ended(delivery)));
        await store.putAccount({ ...account, username: 'ada3' });
        await makeAll(store);
        await other.doStep(work, 'messages', 9);
        const left = (await deliveriesOf(store, host)).map(({ status, body }) => [
          status,
          /ada[23]/.exec(body ?? '')?.[0],
        ]);
        expect(left.sort()).toEqual([
          ['delivered', 'ada2'],
          ['pending', 'ada3'],
        ]);
      }));

    test('of an erasure whose work is not done is not told, and has no choice', () =>
      onEmpty(async (store, other) => {
        const host = await endpointOf(store, { types: ['account.updated', 'grant.created'] });
        const account = anAccount();
        const choice = aChoice({ label: 'Ada’s notes' });
        await granted(store, { account, choice });
        await store.putAccount({ ...account, username: 'ada2' });
        await makeAll(store);
        const { id: account_id } = account;
        await store.markErasure({ account_id, now: Date.now(), initiator: anInitiator() });
        const tried = await claimed(other, host, Date.now() + 5);
        expect(tried.map(({ delivery: { type } }) => type)).toEqual(['grant.created']);
        expect(JSON.parse(tried[0]?.delivery.body ?? '').data.choice).toBeNull();
      }));

    test('of an erasure has no names, in any race with its making', () =>
      onEmpty(async (store, other) => {
        const host = await endpointOf(store, { types: ['account.updated'] });
        for (let round = 0; round < 12; round++) {
          const account = anAccount();
          await store.putAccount(account);
          await store.putAccount({ ...account, username: `secret-${round}` });
          await Promise.all([
            makeAll(other),
            makeAll(store),
            erase(store, {
              ...{ account_id: account.id, now: Date.now(), initiator: anInitiator() },
            }),
          ]);
        }
        const left = await deliveriesOf(store, host);
        expect(JSON.stringify(left)).not.toContain('secret-');
        expect(left.filter(({ status }) => status === 'pending')).toEqual([]);
      }));

    test('of a ping is claimed from its beginning, and needs an enabled endpoint', () =>
      onEmpty(async (store, other) => {
        const host = await endpointOf(store, { types: ['grant.created'] });
        const now = Date.now();
        const ping = aPing({ endpoint_id: host.id, due_at: now + CLAIM_LASTS });
        expect(await store.createPing(ping)).toMatchObject({ id: host.id, url: host.url });
        expect(await other.findDelivery(ping.id)).toEqual(ping);
        expect(await claimed(other, host, now)).toEqual([]);
        expect(await claimed(other, host, now + CLAIM_LASTS)).toMatchObject([
          { delivery: { id: ping.id, type: 'ping' } },
        ]);
        expect(await store.createPing(aPing())).toBeNull();
        await store.updateEndpoint(host.id, { disabled_reason: 'operator' });
        expect(await store.createPing(aPing({ endpoint_id: host.id }))).toBeNull();
      }));

    test('is pending until its end, and the oldest tells how far behind all are', () =>
      onEmpty(async (store) => {
        expect(await store.countEvents(9)).toEqual({
          ...{ pending: 0, oldest_at: null, failing_endpoints: 0 },
        });
        const host = await endpointOf(store, { types: ['grant.created'] });
        const first = await granted(store);
        const { created_at } = first.grant;
        expect(await store.countEvents(9)).toMatchObject({ pending: 1, oldest_at: created_at });
        for (let count = 0; count < 3; count++) await granted(store);
        await makeAll(store);
        expect(await store.countEvents(9)).toMatchObject({ pending: 4, oldest_at: created_at });
        expect(await store.countEvents(2)).toMatchObject({ pending: 2 });
        for (const { delivery } of await claimed(store, host, Date.now() + 5)) {
          await store.endTries([ended(delivery)]);
        }
        expect(await store.countEvents(9)).toMatchObject({ pending: 0, oldest_at: null });
      }));
  });
}
