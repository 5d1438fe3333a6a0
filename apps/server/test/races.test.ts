import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '@latchkey/store/store';
import { anInitiator, grantOf } from '@latchkey/store-suite/records';
import { longer, slow } from '@latchkey/test-kit/long';
import { latchkeyServer } from '@latchkey/test-kit/races/latchkey';
import { withLatency } from '@latchkey/test-kit/races/latency';
import { measureRow, type Row, rows, type Server } from 'oauth-race';
import { beforeAll, describe, expect, test } from 'vitest';
import { invoke, succeed } from './http/call.ts';
import { runInProcess } from './http/command-process.ts';
import { describeOnEachStore, type FreshDatabase, sqliteDatabase } from './http/databases.ts';
import { ADMIN_SECRET, operator, startTestServer, useServer } from './http/running-server.ts';
import {
  addedTo,
  CALLBACK,
  LINKING,
  type LinkingApplication,
  linkingApplication,
  VERIFIER,
} from './linking/link-flow.ts';
import { openConsent, visit } from './linking/page-flow.ts';

// The rows of `oauth-race`, which `npm run bench:races` runs against Latchkey and other servers.

const load = { codes: longer(10, 100), requests: 8, pause: 0, seed: 1 };

const race = rows.find(({ id }) => id === 'race-pkce') as Row;
const abuses = rows.filter(({ id }) => /^(?:wrong|no|other|downgrade|replay)/.test(id));

/** The rows in which a code or its grant did not survive what somebody else sent, or was lost. */
async function harmful(latchkey: Server, size: { codes: number }): Promise<[string, object][]> {
  const found: [string, object][] = [];
  for (const row of abuses) {
    const { outcomes } = await measureRow(row, latchkey, { ...load, ...size });
    const harmless = row.id.startsWith('replay') ? 'refused, token kept' : 'refused';
    if (outcomes[harmless] !== size.codes) found.push([row.id, outcomes]);
  }
  return found;
}

/** Runs a test with a server on an empty database. */
async function withLatchkey(
  options: { fresh: FreshDatabase; latency: number; changed?: (store: Store) => Store },
  test: (latchkey: Server) => Promise<void>,
): Promise<void> {
  const { fresh, latency, changed = (store) => store } = options;
  const database = await fresh();
  const { service, url, close } = await startTestServer(database.url);
  // Must run before the first request: each request takes the store from the service.
  service.store = changed(withLatency(service.store, latency));
  try {
    await test(await latchkeyServer(url, ADMIN_SECRET));
  } finally {
    await close();
    await database.remove();
  }
}

describeOnEachStore('a code under races and abuse', (fresh) => {
  test.each([0, 2])(
    'is redeemed once and survives every abuse, with %i ms latency per call',
    slow,
    async (latency) => {
      await withLatchkey({ fresh, latency }, async (latchkey) => {
        const { verdict, outcomes } = await measureRow(race, latchkey, load);
        expect({ verdict, outcomes }).toEqual({ verdict: 'pass', outcomes: { once: load.codes } });
        expect(await harmful(latchkey, { codes: longer(2, 10) })).toEqual([]);
      });
    },
  );
});

// Everything that was issued before an end is over after it, whatever ran at the same time.
describeOnEachStore('a connection that ends', (fresh) => {
  const rounds = longer(5, 50);
  const server = useServer(fresh, LINKING);
  let linking: LinkingApplication;
  beforeAll(async () => {
    linking = await linkingApplication(server);
    // So that the steps of two calls alternate.
    server.service.store = withLatency(server.service.store, 2);
  });

  const newAccount = async () => {
    const account_id = randomUUID();
    await succeed(server, 'admin.accounts.put', { account_id, username: 'ada' }, operator);
    return account_id;
  };
  const issue = async (account_id: string): Promise<string> => {
    const { application_id } = linking;
    const input = { application_id, account_id, scope: 'profile.read' };
    return (await succeed(server, 'admin.codes.issue', input, operator)).code;
  };
  const convert = (code: string, proof: object = {}) =>
    invoke(server, 'REST', 'grants.convert', { code, ...proof }, linking.bearer);
  const disconnect = async (account_id: string) => {
    const { application_id } = linking;
    await succeed(server, 'admin.connections.revoke', { account_id, application_id }, operator);
  };
  const revokeInBulk = async (account_id: string) => {
    const words = ['grant', 'revoke', '--account', account_id, '--yes'];
    const { code, stderr } = await runInProcess(words, { DATABASE_URL: server.database.url });
    expect({ code, stderr }).toMatchObject({ code: 0 });
  };
  const expectDead = async ({ status, body }: Awaited<ReturnType<typeof convert>>) => {
    if (status !== 200) return expect(body.error_code).toBe('code_not_found');
    const secret = `Bearer ${body.grant_secret}`;
    return expect((await invoke(server, 'REST', 'account.get', {}, secret)).status).toBe(401);
  };

  test.each([
    ['disconnect', disconnect],
    ['bulk revocation', revokeInBulk],
  ])('by a %s, while codes are redeemed', async (_, end) => {
    for (let round = 0; round < rounds; round++) {
      const account_id = await newAccount();
      const codes = await Promise.all(Array.from({ length: 6 }, () => issue(account_id)));
      const kept = await issue(account_id);
      const [, ...redeemed] = await Promise.all([
        end(account_id),
        ...codes.map(async (code, turn) => {
          await sleep(turn * 2);
          return convert(code);
        }),
      ]);
      for (const outcome of redeemed) await expectDead(outcome);
      expect((await convert(kept)).body.error_code).toBe('code_not_found');
    }
  });

  test('by a disconnect, while the user allows another one', async () => {
    const proof = { redirect_uri: CALLBACK, code_verifier: VERIFIER };
    for (let round = 0; round < rounds; round++) {
      const account_id = await newAccount();
      const kept = await issue(account_id);
      const page = await openConsent(server, { ...linking, account_id });
      const form = { form_token: page.form_token, decision: 'allow' };
      const [allowed] = await Promise.all([
        visit(server, page.path, { cookie: page.cookie, form }),
        sleep(round * 2).then(() => disconnect(account_id)),
      ]);
      expect((await convert(kept)).body.error_code).toBe('code_not_found');
      const { code } = addedTo(CALLBACK, allowed.headers.get('location') ?? '');
      // It counts as before, and is over too, or as after: then it lives until the next end.
      const first = await convert(code, proof);
      expect([200, 400]).toContain(first.status);
      await disconnect(account_id);
      await expectDead(first);
      expect((await convert(code, proof)).status).toBe(400);
    }
  });
});

/** Replaces the redemption of a store. */
const redeemingBy = (redeemCode: (store: Store) => Store['redeemCode']) => (store: Store) =>
  new Proxy(store, {
    get: (target, name) => (name === 'redeemCode' ? redeemCode(store) : Reflect.get(target, name)),
  });

describe('the race and the abuse detect', () => {
  test('a store that reads first and then writes', async () => {
    const changed = redeemingBy((store) => async (redemption) => {
      const found = await store.findCode(redemption.grant_id);
      if (found === null || found.redeemed) return null;
      await store.redeemCode(redemption);
      return grantOf(store, redemption.grant_id);
    });
    await withLatchkey({ fresh: sqliteDatabase, latency: 2, changed }, async (latchkey) => {
      const { verdict, outcomes } = await measureRow(race, latchkey, { ...load, codes: 10 });
      expect(verdict).toBe('fail');
      expect(outcomes['more than once']).toBeGreaterThan(0);
    });
  });

  test('a store that cancels the code for another application and revokes the grant on a replay', async () => {
    const changed = redeemingBy((store) => async (redemption) => {
      const { grant_id, now } = redemption;
      const grant = await store.redeemCode(redemption);
      if (grant === null) {
        await store.cancelCode(grant_id);
        await store.revokeGrant({ grant_id, application_id: null, now, initiator: anInitiator() });
      }
      return grant;
    });
    await withLatchkey({ fresh: sqliteDatabase, latency: 0, changed }, async (latchkey) => {
      // Calls without a valid secret do not reach the redemption. A code without a challenge is refused.
      expect(await harmful(latchkey, { codes: 1 })).toEqual([
        ['other-client', { 'refused, and used up': 1 }],
        ['other-redirect-uri', { 'refused, and used up': 1 }],
        ['wrong-verifier', { 'refused, and used up': 1 }],
        ['no-verifier', { 'refused, and used up': 1 }],
        ['replay', { 'refused, token revoked': 1 }],
        ['replay-other-client', { 'refused, token revoked': 1 }],
      ]);
    });
  });

  test('a store that does not look at the verifier when it writes', async () => {
    const changed = redeemingBy((store) => async (redemption) => {
      const state = await store.findCode(redemption.grant_id);
      const code_challenge = state?.code_challenge ?? null;
      return store.redeemCode({ ...redemption, code_challenge });
    });
    await withLatchkey({ fresh: sqliteDatabase, latency: 0, changed }, async (latchkey) => {
      expect(await harmful(latchkey, { codes: 1 })).toEqual([
        ['wrong-verifier', { accepted: 1 }],
        ['no-verifier', { accepted: 1 }],
        ['downgrade', { accepted: 1 }],
      ]);
    });
  });
});
