import type { GrantRecord, LinkRecord, PageRecord } from '@latchkey/store/records';
import { longer, runsAll, slow } from '@latchkey/test-kit/long';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type StoreCall, StoreProcess, together } from './child.ts';
import type { SuiteStores } from './harness.ts';
import {
  aConsentPage,
  aHash,
  anAccount,
  anApplication,
  anInitiator,
  approvalOf,
  aSecret,
  atOnce,
  authenticated,
  denialOf,
  identificationOf,
  identified,
  inPortions,
  issued,
  openingOf,
  present,
  recoveryOf,
  redemptionOf,
  withoutAccount,
} from './records.ts';

// With so many calls a round, few rounds show a store that reads first and then writes.
const ROUNDS = runsAll ? longer(25, 200) : 10;
const REDEEMERS = 64;
const PROCESSES = 3;
const REDEEMERS_A_PROCESS = 22;

export function describeRaces(stores: SuiteStores): void {
  describe('one code and many redeemers', slow, () => {
    test(`${REDEEMERS} calls of one process: one receives the grant, with its own secret`, async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const code = await issued(stores.store);
        const redemptions = Array.from({ length: REDEEMERS }, () => redemptionOf(code));
        const grants = await Promise.all(
          redemptions.map((redemption, turn) => stores.handle(turn).redeemCode(redemption)),
        );
        expect(present(grants)).toHaveLength(1);
        const winner = grants.findIndex((grant) => grant !== null);
        expect(await authenticated(stores.store, code.grant_id)).toMatchObject({
          grant: grants[winner],
          secret_hash: redemptions[winner]?.secret_hash,
        });
      }
    });
  });

  stores.describeUnless('processes', 'several processes', () => {
    const processes: StoreProcess[] = [];

    beforeAll(async () => {
      processes.push(...(await atOnce(PROCESSES, () => StoreProcess.start(stores.database))));
    });
    afterAll(() => Promise.all(processes.map((process) => process.stop())));

    test('redeem one code: one call of all receives the grant, with its own secret', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const code = await issued(stores.store);
        const redemptions = Array.from({ length: PROCESSES * REDEEMERS_A_PROCESS }, () =>
          redemptionOf(code),
        );
        const outcomes = await together(processes, (index) =>
          redemptions
            .slice(index * REDEEMERS_A_PROCESS, (index + 1) * REDEEMERS_A_PROCESS)
            .map((redemption) => ({ method: 'redeemCode', args: [redemption] })),
        );
        const grants = outcomes.flat() as (GrantRecord | null)[];
        expect(grants).toHaveLength(redemptions.length);
        expect(present(grants)).toHaveLength(1);
        const winner = grants.findIndex((grant) => grant !== null);
        expect(await authenticated(stores.store, code.grant_id)).toMatchObject({
          grant: grants[winner],
          secret_hash: redemptions[winner]?.secret_hash,
        });
      }
    });

    test('decide about one link request: one decision is made, by the host or on the page', async () => {
      for (let round = 0; round < 20; round++) {
        const { link, page, account } = await identified(stores.store);
        const next = aConsentPage(link, { account_id: account.id });
        const calls: StoreCall[] = [
          ...Array.from({ length: 4 }, () => approvalOf(link, account.id)),
          ...Array.from({ length: 4 }, () => approvalOf(link, account.id, page)),
          ...[denialOf(link), denialOf(link, page)],
        ].map((decision) => ({ method: 'decideLink', args: [decision] }));
        const outcomes = await together(processes, (index) =>
          index === 0
            ? [...calls, { method: 'identifyLink', args: [identificationOf(link, next)] }]
            : calls,
        );
        const [first = []] = outcomes;
        const again = first.pop() as LinkRecord | null;
        const decided = present(outcomes.flat() as (LinkRecord | null)[]);
        expect(decided).toHaveLength(1);
        const found = await stores.store.findLink(link.id);
        expect(found).toEqual(decided[0]);
        expect(found?.page_id).toBe(again ? next.id : page.id);
      }
    });

    test('come back to one page: one session is its own', async () => {
      for (let round = 0; round < 20; round++) {
        const { page } = await identified(stores.store);
        const sessions = Array.from({ length: 6 }, () => aHash());
        for (const session_hash of sessions) {
          await stores.store.openPage(openingOf(page, { session_hash }));
        }
        const outcomes = await together(processes, () =>
          sessions.map((session_hash) => ({
            method: 'returnToPage',
            args: [page.id, session_hash],
          })),
        );
        const found = await stores.store.findPage(page.id);
        const returned = present(outcomes.flat() as (PageRecord | null)[]);
        // Each process has sent each session once.
        expect(returned).toEqual(processes.map(() => found));
      }
    });

    test('never exceed the limit of secrets together', slow, async () => {
      for (let round = 0; round < 10; round++) {
        const application = anApplication();
        await stores.store.createApplication(application);
        const outcomes = await together(processes, () =>
          Array.from({ length: 6 }, () => ({
            method: 'addSecret',
            args: [application.id, aSecret(), { most: 5, now: Date.now() }],
          })),
        );
        expect(outcomes.flat().filter((outcome) => outcome === 'added')).toHaveLength(4);
        const found = await stores.store.findApplication(application.id);
        expect(found?.secrets).toHaveLength(5);
      }
    });

    test('see a revocation as soon as it has returned', async () => {
      for (let round = 0; round < 20; round++) {
        const code = await issued(stores.store);
        const { grant_id } = code;
        const redemption = redemptionOf(code);
        const grant = await stores.store.redeemCode(redemption);
        const { secret_hash, now } = redemption;
        const authenticate = () =>
          together(processes, () => [
            { method: 'authenticateGrant', args: [grant_id, { currentAccount: false }] },
            {
              method: 'noteUse',
              args: [{ grant_id, secret_hash, now, initiator: anInitiator() }],
            },
          ]);
        expect(await authenticate()).toEqual(
          Array(PROCESSES).fill([
            expect.objectContaining({
              grant: grant && {
                ...withoutAccount(grant),
                // Another process may have noted the use before.
                last_used_at: expect.toBeOneOf([null, now]),
              },
              secret_hash,
            }),
            true,
          ]),
        );
        await stores.store.revokeGrant({
          grant_id,
          application_id: null,
          now,
          initiator: anInitiator(),
        });
        expect(await authenticate()).toEqual(
          Array(PROCESSES).fill([
            expect.objectContaining({
              grant: grant && { ...withoutAccount(grant), last_used_at: now, revoked_at: now },
              secret_hash: null,
            }),
            false,
          ]),
        );
      }
    });

    test('see the last change of an account and an application', async () => {
      const account = anAccount();
      const application = anApplication();
      await stores.store.createApplication(application);
      for (const name of ['first', 'second']) {
        const put = { ...account, username: name };
        await stores.store.putAccount(put);
        const isFirst = name === 'first';
        const changed = await stores.store.setApplicationDisabled(application.id, isFirst, 0);
        const outcomes = await together(processes, () => [
          { method: 'findAccount', args: [account.id] },
          { method: 'findApplication', args: [application.id] },
        ]);
        expect(outcomes).toEqual(Array(PROCESSES).fill([put, changed]));
      }
    });
  });

  describe('everything at once', slow, () => {
    test('leaves each code either cancelled or one grant, in the state that the calls returned', async () => {
      await inPortions(60, async (index) => {
        const code = await issued(stores.store);
        const { grant_id, application_id } = code;
        const [one, two] = [stores.handle(index), stores.handle(index + 1)];
        const redemptions = Array.from({ length: 4 }, () => redemptionOf(code));
        const now = redemptions[0]?.now ?? 0;
        const secret_hash = redemptions[0]?.secret_hash ?? aHash();
        const recovery = recoveryOf({
          ...code,
          created_at: now,
          last_used_at: null,
          revoked_at: null,
        });

        const [grants, cancelled, recovered, used, revoked] = await Promise.all([
          Promise.all(
            redemptions.map((redemption, turn) => stores.handle(turn).redeemCode(redemption)),
          ),
          index % 3 === 0 ? two.cancelCode(grant_id) : null,
          two.recoverGrant(recovery),
          one.noteUse({ grant_id, secret_hash, now, initiator: anInitiator() }),
          index % 2 === 0
            ? two.revokeGrant({ grant_id, application_id, now, initiator: anInitiator() })
            : null,
        ]);

        expect(present(grants)).toHaveLength(cancelled ? 0 : 1);
        const winner = redemptions[grants.findIndex((grant) => grant !== null)];
        const found = await stores
          .handle(index)
          .authenticateGrant(grant_id, { currentAccount: false });
        expect(found === null).toBe(cancelled !== null);
        expect(found?.grant.revoked_at ?? null).toBe(revoked?.revoked_at ?? null);
        expect(found?.secret_hash ?? null).toEqual(
          cancelled || revoked ? null : recovered ? recovery.secret_hash : winner?.secret_hash,
        );
        expect(found?.first_used_at ?? null).toBe(used ? now : null);
        if (cancelled)
          expect({ recovered, used, revoked }).toEqual({
            recovered: null,
            used: false,
            revoked: null,
          });
      });
    });
  });
}
