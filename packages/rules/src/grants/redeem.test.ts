import { mintCredential, newId } from '@latchkey/domain/credentials/credentials';
import type { Initiator } from '@latchkey/domain/initiator';
import { CODE_LIFETIME } from '@latchkey/domain/lifetimes';
import { parseCredential } from '@latchkey/schema';
import { firstGenerations } from '@latchkey/store/generations';
import type { CodeBinding, CodeState, GrantRecord } from '@latchkey/store/records';
import type { Redemption, Store } from '@latchkey/store/store';
import { describe, expect, test } from 'vitest';
import { noCounts } from '../summary/counts.ts';
import { redeem } from './redeem.ts';

const ISSUED = Date.UTC(2026, 10, 21);
const APPLICATION = newId(ISSUED);
const ACCOUNT = newId(ISSUED);
const OWN = { id: APPLICATION, generations: firstGenerations };
const INITIATOR: Initiator = { request_id: 'of-a-test', by: 'application', secret_id: null };

const UNBOUND: CodeBinding = {
  redirect_uri: null,
  redirect_uri_given: false,
  code_challenge: null,
  resource: null,
  link_id: null,
};

/** A service whose store returns what the test says and records what it is asked. */
function serviceAt(now: number, grant: GrantRecord | null, state: CodeState | null = null) {
  const redemptions: Redemption[] = [];
  const store = {
    async redeemCode(redemption: Redemption) {
      redemptions.push(redemption);
      return grant;
    },
    findCode: async () => state,
    noteSecretUse: async () => {},
  } satisfies Partial<Store> as unknown as Store;
  const service = { store, clock: () => now, counts: noCounts };
  return { service, redemptions };
}

function issued() {
  const grant_id = newId(ISSUED);
  const { credential, hash } = mintCredential('code', grant_id);
  return { grant_id, code: credential, code_hash: hash };
}

const grantOf = (grant_id: string, now: number): GrantRecord => ({
  grant_id,
  application_id: APPLICATION,
  resource: null,
  scope: 'a',
  choice: null,
  account: {
    id: APPLICATION,
    username: 'ada',
    display_name: 'Ada',
    twitter: null,
    verified: false,
    supporter: false,
  },
  created_at: now,
  last_used_at: null,
  revoked_at: null,
});

test.each([0, 1, CODE_LIFETIME - 1])(
  'a code that is %d ms old is redeemed with the time of the call',
  async (age) => {
    const { grant_id, code, code_hash } = issued();
    const now = ISSUED + age;
    const { service, redemptions } = serviceAt(now, grantOf(grant_id, now));
    const { grant_secret } = await redeem(service, OWN, { code }, INITIATOR);
    expect(parseCredential('grantSecret', grant_secret)).toBe(grant_id);
    expect(redemptions).toMatchObject([
      {
        grant_id,
        application_id: APPLICATION,
        code_hash,
        now,
        initiator: INITIATOR,
        disabled_generation: 0,
      },
    ]);
  },
);

test.each([
  [CODE_LIFETIME - 1, 'code_not_found', 1],
  [CODE_LIFETIME, 'code_expired', 0],
  [CODE_LIFETIME + 1, 'code_expired', 0],
])('an unknown code that is %d ms old is %s', async (age, code, writes) => {
  const { service, redemptions } = serviceAt(ISSUED + age, null);
  await expect(redeem(service, OWN, { code: issued().code }, INITIATOR)).rejects.toMatchObject({
    code,
  });
  expect(redemptions).toHaveLength(writes);
});

test.each([0, CODE_LIFETIME, 1000 * CODE_LIFETIME])(
  'only its own application is told that a code was redeemed before, at %d ms',
  async (age) => {
    const { grant_id, code, code_hash } = issued();
    const state = {
      ...UNBOUND,
      application_id: APPLICATION,
      account_id: ACCOUNT,
      generation: 0,
      code_hash,
      redeemed: true,
    };
    const { service } = serviceAt(ISSUED + age, null, state);
    await expect(redeem(service, OWN, { code }, INITIATOR)).rejects.toMatchObject({
      code: 'code_already_used',
      members: { grant_id },
      subject: { grant_id, account_id: ACCOUNT },
    });
    const refusal = { code: age === 0 ? 'code_not_found' : 'code_expired', members: {} };
    await expect(
      redeem(service, { ...OWN, id: newId(ISSUED) }, { code }, INITIATOR),
    ).rejects.toMatchObject(refusal);
    // The right id with another random part is another code, which was never issued.
    const forged = { code: mintCredential('code', grant_id).credential };
    await expect(redeem(service, OWN, forged, INITIATOR)).rejects.toMatchObject(refusal);
  },
);

test.each([
  ['', 'empty'],
  ['lk_code_', 'only the prefix'],
  [mintCredential('grantSecret', newId(ISSUED)).credential, 'of another kind'],
  [mintCredential('code', 'ffffffff-ffff-4fff-8fff-ffffffffffff').credential, 'of no time'],
])('an ill-formed code never reaches the store: %# %s', async (code) => {
  const { service, redemptions } = serviceAt(ISSUED, null);
  service.store.findCode = () => Promise.reject(new Error('The store was asked.'));
  await expect(redeem(service, OWN, { code }, INITIATOR)).rejects.toMatchObject({
    code: 'code_not_found',
  });
  expect(redemptions).toEqual([]);
});

// RFC 7636, appendix B.
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

test('the write gets what the code may be bound to', async () => {
  const { grant_id, code } = issued();
  const { service, redemptions } = serviceAt(ISSUED, grantOf(grant_id, ISSUED));
  const redirect_uri = 'https://app.example/callback';
  await redeem(service, OWN, { code, redirect_uri, code_verifier: VERIFIER }, INITIATOR);
  const resources = ['https://a.example', null];
  await redeem(service, OWN, { code, resources }, INITIATOR);
  expect(redemptions).toMatchObject([
    { redirect_uri, code_challenge: CHALLENGE, resources: null },
    { redirect_uri: null, code_challenge: null, resources },
  ]);
});

describe('of several faults the first is told:', () => {
  const bound = {
    ...UNBOUND,
    redirect_uri: 'https://app.example/callback',
    redirect_uri_given: true,
    code_challenge: CHALLENGE,
  };
  const wrong = { redirect_uri: 'https://app.example/', code_verifier: `${VERIFIER}x` };
  const right = { redirect_uri: bound.redirect_uri, code_verifier: VERIFIER };

  test.each([
    ['an expired code', { age: CODE_LIFETIME }, wrong, 'code_expired'],
    ['an expired code of another', { age: CODE_LIFETIME, of: 'other' }, wrong, 'code_expired'],
    ['the code of another', { of: 'other' }, wrong, 'code_not_found'],
    ['the redirect URI', {}, wrong, 'redirect_uri_mismatch'],
    ['the verifier', {}, { ...wrong, redirect_uri: right.redirect_uri }, 'code_verifier_mismatch'],
    ['the redirect URI of a used one', { used: true }, wrong, 'redirect_uri_mismatch'],
    [
      'the verifier of a used one',
      { used: true, age: CODE_LIFETIME },
      { ...wrong, redirect_uri: right.redirect_uri },
      'code_verifier_mismatch',
    ],
    ['a used one', { used: true, age: CODE_LIFETIME }, right, 'code_already_used'],
  ] as [string, { age?: number; of?: string; used?: boolean }, object, string][])(
    '%s',
    async (_, { age = 0, of, used = false }, sent, error_code) => {
      const { code, code_hash } = issued();
      const application_id = of === undefined ? APPLICATION : newId(ISSUED);
      const of_code = { application_id, account_id: ACCOUNT, generation: 0, code_hash };
      const state = { ...bound, ...of_code, redeemed: used };
      const { service } = serviceAt(ISSUED + age, null, state);
      const refused = redeem(service, OWN, { code, ...sent }, INITIATOR);
      await expect(refused).rejects.toMatchObject({ code: error_code });
    },
  );
});
